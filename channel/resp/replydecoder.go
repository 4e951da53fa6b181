package resp

import (
	"bytes"
	"strings"
)

// ReplyDecoder reads the replies of one connection. It reads what DecodeReply reads, but remembers
// how far it has read a reply whose end is still missing, so that each byte of a reply is looked at
// about once, however small the pieces that come in. It holds no input.
//
// The zero ReplyDecoder has the default limits.
type ReplyDecoder struct {
	limits Limits // resolved, unless MaxRequest is 0

	// The reply under way; all zero between replies, but for the capacity of open.
	off   int     // where the next element, or the next line, of the reply begins
	seen  int     // bytes of the line at off that are known not to end it
	need  int     // with fewer bytes Decode decides nothing
	whole Value   // the reply, if it has elements, but for its Str
	body  int     // where the elements of whole begin
	open  []group // what the element at off is in, the innermost last. At most Limits.MaxDepth
}

// group is an array, a map, a set, a push or an attribute whose end is still missing.
type group struct {
	left      int32 // elements that aren't read. Invariant: left > 0
	attribute bool
}

// NewReplyDecoder returns a ReplyDecoder with the limits l. It panics if one is out of range.
func NewReplyDecoder(l Limits) ReplyDecoder { return ReplyDecoder{limits: l.resolved()} }

// Need returns how many bytes the input must have in total before another call of Decode can return
// a reply or an error. It is at least 1 and never above Limits.MaxRequest.
//
//alloc:none
func (d *ReplyDecoder) Need() int { return max(d.need, 1) }

// Reset forgets the reply under way: the next input begins a new one.
func (d *ReplyDecoder) Reset() { *d = ReplyDecoder{limits: d.limits, open: d.open[:0]} }

// Decode reads the reply at the start of in. Its results are those of DecodeReply; only that a
// string which would end beyond Limits.MaxRequest is refused when its length is announced. After n
// = 0 without an error the next call must get the same bytes, anywhere in memory, and more behind
// them; after an error the ReplyDecoder is reset. v is filled only if n > 0.
//
//alloc:none
func (d *ReplyDecoder) Decode(in []byte, v *Value) (n int, err error) {
	if len(in) < d.Need() {
		return 0, nil
	}
	if d.limits.MaxRequest == 0 {
		d.limits = d.limits.resolved()
	}
	if len(in) > d.limits.MaxRequest {
		in = in[:d.limits.MaxRequest] // a reply that is longer is refused by wait
	}
	for {
		elem, each, next, err := d.element(in)
		switch {
		case next == 0:
			return 0, err
		case each > 0 && elem.Int > 0:
			if len(d.open) == 0 && elem.Kind != kindAttribute {
				d.whole, d.body = elem, next
			}
			d.enter(group{int32(elem.Int * each), elem.Kind == kindAttribute})
		case elem.Kind == kindAttribute: // an empty one
		case len(d.open) == 0:
			*v = elem
			d.Reset()
			return next, nil
		case d.leave():
			*v = d.whole
			v.Str = in[d.body:next:next]
			d.Reset()
			return next, nil
		}
		d.off = next
	}
}

// element reads the element at d.off; of one that has elements itself, its header only: each is how
// many there are for each one of elem.Int. next is where it ends; 0 if that is missing, or with an
// error.
//
//alloc:none
func (d *ReplyDecoder) element(in []byte) (elem Value, each int64, next int, err error) {
	line, next, err := d.line(in)
	if next == 0 {
		return Value{}, 0, 0, err
	}
	elem, ok := scalar(line[0], line[1:])
	if ok {
		return elem, 0, next, nil
	}
	size, ok := ParseInt(line[1:])
	kind, each := kindOf(line[0])
	switch {
	case !ok || kind == KindNil || kind == KindPush && len(d.open) > 0:
		return Value{}, 0, 0, d.fail(ErrReply)
	case each == 0:
		elem, next, err = d.bulk(in, next, size, kind)
		return elem, 0, next, err
	case size == -1 && kind == KindArray:
		return Value{Kind: KindNilArray}, 0, next, nil
	case size < 0:
		return Value{}, 0, 0, d.fail(ErrReply)
	case size > int64(d.limits.MaxArgs)/each || len(d.open) >= d.limits.MaxDepth:
		return Value{}, 0, 0, d.fail(ErrReplyLimit)
	}
	return Value{Kind: kind, Int: size, Str: in[next:next:next]}, each, next, nil
}

// kindOf returns what begins with a mark and a size, and how many elements it has for each one of
// the size: 0 is for strings. It returns KindNil for other marks.
func kindOf(mark byte) (kind Kind, each int64) {
	switch mark {
	case '$':
		return KindBulk, 0
	case '=':
		return KindVerbatim, 0
	case '!':
		return KindBulkError, 0
	case '*':
		return KindArray, 1
	case '~':
		return KindSet, 1
	case '>':
		return KindPush, 1
	case '%':
		return KindMap, 2
	case '|':
		return kindAttribute, 2
	}
	return KindNil, 0
}

// line returns the line at d.off without its CR LF, and where it ends with them.
//
//alloc:none
func (d *ReplyDecoder) line(in []byte) (line []byte, next int, err error) {
	rest := in[d.off:]
	switch {
	case len(rest) == 0:
		return nil, 0, d.wait(int64(len(in)) + 1)
	case d.seen == 0 && strings.IndexByte("+-:$*_#,(=!%~|>", rest[0]) < 0:
		return nil, 0, d.fail(ErrReply)
	}
	text := rest
	if len(text) > d.limits.MaxInline {
		text = text[:d.limits.MaxInline+1]
	}
	cr := bytes.IndexByte(text[d.seen:], '\r')
	if cr < 0 {
		if len(text) > d.limits.MaxInline {
			return nil, 0, d.fail(ErrReplyLimit)
		}
		d.seen = len(text)
		return nil, 0, d.wait(int64(len(in)) + 1)
	}
	cr += d.seen
	d.seen = 0
	switch {
	case cr+1 == len(rest):
		d.seen = cr
		return nil, 0, d.wait(int64(len(in)) + 1)
	case rest[cr+1] != '\n':
		return nil, 0, d.fail(ErrReply)
	}
	return rest[:cr:cr], d.off + cr + crlf, nil
}

// bulk reads the string of size bytes at off.
//
//alloc:none
func (d *ReplyDecoder) bulk(in []byte, off int, size int64, kind Kind) (v Value, next int, err error) {
	v, next, err = bulk(in, off, size, &d.limits, kind)
	switch {
	case err != nil:
		return Value{}, 0, d.fail(err)
	case next == 0:
		return Value{}, 0, d.wait(int64(off) + size + int64(crlf))
	case kind == KindVerbatim && (len(v.Str) <= formatLen || v.Str[formatLen] != ':'):
		return Value{}, 0, d.fail(ErrReply)
	}
	return v, next, nil
}

// enter notes that the next elements are those of g.
//
//alloc:none
func (d *ReplyDecoder) enter(g group) {
	if len(d.open) == cap(d.open) {
		d.grow()
	}
	d.open = d.open[:len(d.open)+1]
	d.open[len(d.open)-1] = g
}

// grow makes room for groups: those of a connection's deepest reply so far.
//
//go:noinline
func (d *ReplyDecoder) grow() { d.open = append(d.open, make([]group, len(d.open)+4)...)[:len(d.open)] }

// leave notes the end of an element, with which what it is in may end too. It reports whether the
// reply ends with it. Behind an attribute comes the element that it belongs to.
//
//alloc:none
func (d *ReplyDecoder) leave() (ended bool) {
	for len(d.open) > 0 {
		last := &d.open[len(d.open)-1]
		if last.left--; last.left > 0 {
			return false
		}
		d.open = d.open[:len(d.open)-1]
		if last.attribute {
			return false
		}
	}
	return true
}

// wait ends a call that needs more input: need bytes in total.
func (d *ReplyDecoder) wait(need int64) error {
	if need > int64(d.limits.MaxRequest) {
		return d.fail(ErrReplyLimit)
	}
	d.need = int(need)
	return nil
}

// fail ends a call with an error.
func (d *ReplyDecoder) fail(err error) error {
	d.Reset()
	return err
}
