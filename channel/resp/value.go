package resp

import (
	"bytes"
	"strings"
)

// Value is an answer as a client sees it. It aliases the bytes that it was decoded from. Arrays
// aren't unpacked but read element by element, so that a Value of any size and depth is this one
// struct.
type Value struct {
	Kind Kind
	// Int is the integer of KindInt, and 1 or 0 for KindBool. It is the number of elements for
	// KindArray, KindSet and KindPush, and of pairs for KindMap.
	Int int64
	// Str is the text of kinds that have one, as it was sent; a verbatim string begins with its
	// format and a colon. For kinds with elements it is their encoded bytes.
	Str []byte
}

// IsNil reports whether there is no value, in any of the protocol's three spellings.
func (v *Value) IsNil() bool {
	return v.Kind == KindNil || v.Kind == KindNilArray || v.Kind == KindNull
}

// IsError reports whether the answer is an error, in either of the protocol's two spellings.
func (v *Value) IsError() bool { return v.Kind == KindError || v.Kind == KindBulkError }

// Err returns the answer as an error, a ServerError, if it is one; otherwise nil. Its text is a
// copy.
func (v *Value) Err() error {
	if !v.IsError() {
		return nil
	}
	return ServerError(v.Str)
}

// Elems returns a reader of the elements of an array, a set, a push or a map. In a map each key
// comes before its value. Other kinds have no elements.
func (v *Value) Elems() Elems {
	switch v.Kind {
	case KindArray, KindMap, KindSet, KindPush:
		return Elems{rest: v.Str}
	}
	return Elems{}
}

// Elems reads elements one after the other.
type Elems struct{ rest []byte }

// Next returns the next element, or false at the end. It walks over the bytes of that element.
//
//alloc:none
func (e *Elems) Next() (v Value, ok bool) {
	if len(e.rest) == 0 {
		return Value{}, false
	}
	v, n, _ := value(e.rest, &unlimited, 0) // DecodeReply found it well formed
	e.rest = e.rest[n:]
	return v, true
}

var unlimited = Limits{MaxBulk: 1<<31 - 1, MaxArgs: 1<<31 - 1, MaxInline: 1<<31 - 1, MaxDepth: 1<<31 - 1}.resolved()

// DecodeReply reads the reply at the start of in into v. Its results are those of Decoder.Decode: n
// bytes consumed, or 0 if more input is needed, or an error, ErrReply or ErrReplyLimit. It
// understands both versions, and skips attributes. A push (KindPush) may come at any time and
// answers no request. Each call begins anew, so a long reply in small pieces costs its length each
// time: see ReplyDecoder.
//
//alloc:none
func DecodeReply(in []byte, v *Value, l Limits) (n int, err error) {
	l = l.resolved()
	if len(in) > l.MaxRequest {
		in = in[:l.MaxRequest]
	}
	*v, n, err = value(in, &l, 0)
	if n == 0 && err == nil && len(in) == l.MaxRequest {
		err = ErrReplyLimit
	}
	return n, err
}

// value is DecodeReply for a reply nested in depth others. It skips attributes, which belong to the
// reply that follows them.
//
//alloc:none
func value(in []byte, l *Limits, depth int) (v Value, n int, err error) {
	for {
		v, size, err := bare(in[n:], l, depth)
		if size == 0 {
			return Value{}, 0, err
		}
		if n += size; v.Kind != kindAttribute {
			return v, n, nil
		}
	}
}

// kindAttribute is the kind of an attribute, which value doesn't return.
const kindAttribute = Kind(255)

// bare is value for one reply, or one attribute.
//
//alloc:none
func bare(in []byte, l *Limits, depth int) (v Value, n int, err error) {
	line, n, err := replyLine(in, l)
	if n == 0 {
		return Value{}, 0, err
	}
	v, ok := scalar(line[0], line[1:])
	if ok {
		return v, n, nil
	}
	size, ok := ParseInt(line[1:])
	if !ok {
		return Value{}, 0, ErrReply
	}
	switch line[0] {
	case '$':
		return bulk(in, n, size, l, KindBulk)
	case '=':
		v, n, err = bulk(in, n, size, l, KindVerbatim)
		if n > 0 && (len(v.Str) <= formatLen || v.Str[formatLen] != ':') {
			return Value{}, 0, ErrReply
		}
		return v, n, err
	case '!':
		return bulk(in, n, size, l, KindBulkError)
	case '*':
		return many(in, n, size, 1, l, depth, KindArray)
	case '%':
		return many(in, n, size, 2, l, depth, KindMap)
	case '~':
		return many(in, n, size, 1, l, depth, KindSet)
	case '|':
		return many(in, n, size, 2, l, depth, kindAttribute)
	case '>':
		if depth == 0 {
			return many(in, n, size, 1, l, depth, KindPush)
		}
	}
	return Value{}, 0, ErrReply
}

// replyLine returns the first line without its CR LF, and its length with them. The first byte of
// the line is a kind's mark.
func replyLine(in []byte, l *Limits) (line []byte, n int, err error) {
	if len(in) == 0 {
		return nil, 0, nil
	}
	if strings.IndexByte("+-:$*_#,(=!%~|>", in[0]) < 0 {
		return nil, 0, ErrReply
	}
	text := in
	if len(text) > l.MaxInline {
		text = text[:l.MaxInline+1]
	}
	cr := bytes.IndexByte(text, '\r')
	switch {
	case cr < 0 && len(text) > l.MaxInline:
		return nil, 0, ErrReplyLimit
	case cr < 0 || cr+1 == len(in):
		return nil, 0, nil
	case in[cr+1] != '\n':
		return nil, 0, ErrReply
	}
	return in[:cr:cr], cr + crlf, nil
}

// bulk reads the size bytes at off, or the nil bulk string if size is -1.
//
//alloc:none
func bulk(in []byte, off int, size int64, l *Limits, kind Kind) (v Value, n int, err error) {
	switch {
	case size == -1 && kind == KindBulk:
		return Value{Kind: KindNil}, off, nil
	case size < 0:
		return Value{}, 0, ErrReply
	case size > int64(l.MaxBulk):
		return Value{}, 0, ErrReplyLimit
	case size > int64(len(in)-off-crlf):
		return Value{}, 0, nil
	}
	end := off + int(size)
	if in[end] != '\r' || in[end+1] != '\n' {
		return Value{}, 0, ErrReply
	}
	return Value{Kind: kind, Str: in[off:end:end]}, end + crlf, nil
}

// many walks over the elements at off, count times each of them, or returns the nil array if count
// is -1.
//
//alloc:none
func many(in []byte, off int, count, each int64, l *Limits, depth int, kind Kind) (v Value, n int, err error) {
	switch {
	case count == -1 && kind == KindArray:
		return Value{Kind: KindNilArray}, off, nil
	case count < 0:
		return Value{}, 0, ErrReply
	case count > int64(l.MaxArgs)/each || depth >= l.MaxDepth:
		return Value{}, 0, ErrReplyLimit
	}
	n = off
	for range count * each {
		_, size, err := value(in[n:], l, depth+1)
		if size == 0 {
			return Value{}, 0, err
		}
		n += size
	}
	return Value{Kind: kind, Int: count, Str: in[off:n:n]}, n, nil
}
