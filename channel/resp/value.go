package resp

import (
	"bytes"
	"strings"
)

// Value is an answer as a client sees it. It aliases the bytes that it was decoded
// from: arrays are not unpacked but read element by element, so that a Value of
// any size and depth is this one struct.
type Value struct {
	Kind Kind
	Int  int64  // KindInt: the integer. KindArray: the number of elements
	Str  []byte // KindSimple, KindError, KindBulk: the text. KindArray: the encoded elements
}

// Elems returns a reader of the elements of an array; other kinds have none.
func (v *Value) Elems() Elems {
	if v.Kind != KindArray {
		return Elems{}
	}
	return Elems{rest: v.Str}
}

// Elems reads the elements of an array one after the other.
type Elems struct{ rest []byte }

// Next returns the next element, or false at the end. The time that it takes is
// that of walking over the element's bytes.
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

// DecodeReply reads the reply that in begins with into v. It answers as
// Decoder.Decode does: n bytes consumed, or 0 for more input needed, or an error,
// ErrReply or ErrReplyLimit. It begins anew with each call, so that a long reply
// in small pieces costs its length each time: good enough for tests and for load
// generators, whose replies are short.
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

// value is DecodeReply for a reply inside of depth arrays.
//
//alloc:none
func value(in []byte, l *Limits, depth int) (v Value, n int, err error) {
	line, n, err := replyLine(in, l)
	if n == 0 {
		return Value{}, 0, err
	}
	text := line[1:]
	switch line[0] {
	case '+':
		return Value{Kind: KindSimple, Str: text}, n, nil
	case '-':
		return Value{Kind: KindError, Str: text}, n, nil
	}
	number, ok := ParseInt(text)
	if !ok {
		return Value{}, 0, ErrReply
	}
	switch line[0] {
	case ':':
		return Value{Kind: KindInt, Int: number}, n, nil
	case '$':
		return bulk(in, n, number, l)
	}
	return array(in, n, number, l, depth)
}

// replyLine returns the first line without its end, and its length with it. Its
// first byte is a kind's mark.
func replyLine(in []byte, l *Limits) (line []byte, n int, err error) {
	if len(in) == 0 {
		return nil, 0, nil
	}
	if strings.IndexByte("+-:$*", in[0]) < 0 {
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

// bulk reads the bytes at off, of which there are size, or the nil one.
//
//alloc:none
func bulk(in []byte, off int, size int64, l *Limits) (v Value, n int, err error) {
	switch {
	case size == -1:
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
	return Value{Kind: KindBulk, Str: in[off:end:end]}, end + crlf, nil
}

// array walks over the elements at off, of which there are count, or the nil one.
//
//alloc:none
func array(in []byte, off int, count int64, l *Limits, depth int) (v Value, n int, err error) {
	switch {
	case count == -1:
		return Value{Kind: KindNilArray}, off, nil
	case count < 0:
		return Value{}, 0, ErrReply
	case count > int64(l.MaxArgs) || depth >= l.MaxDepth:
		return Value{}, 0, ErrReplyLimit
	}
	n = off
	for range count {
		_, size, err := value(in[n:], l, depth+1)
		if size == 0 {
			return Value{}, 0, err
		}
		n += size
	}
	return Value{Kind: KindArray, Int: count, Str: in[off:n:n]}, n, nil
}
