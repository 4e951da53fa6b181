package tracing

import "github.com/stackhouse-go/stackhouse/pool"

// Context is a Text in counted bytes, which asks share: one word. The zero Context is empty.
type Context struct{ bytes pool.Handle }

// head is how many bytes stand before the text of a Context: its length, the higher byte first.
const head = 2

// Source is whose pools the bytes come from: a worker's shard, or those of guests.
type Source interface{ Bytes(n int) pool.Bytes }

// Of returns a copy of a text with one holder.
//
//alloc:none
func Of(from Source, text Text) Context {
	if len(text) == 0 {
		return Context{}
	}
	c, dst := take(from, len(text))
	copy(dst[:len(text)], text)
	return c
}

// take returns a Context, and where its text is to be written: empty, with room for n bytes.
func take(from Source, n int) (c Context, dst []byte) {
	b := from.Bytes(head + n)
	b.B()[0], b.B()[1] = byte(n>>8), byte(n)
	return Context{b.Handle()}, b.B()[head:head]
}

// Text returns the text, valid as long as c is held.
func (c Context) Text() Text {
	b := c.bytes.B()
	if b == nil {
		return nil
	}
	n := int(b[0])<<8 | int(b[1])
	return b[head : head+n : head+n]
}

// Share returns c with one holder more. The caller must hold c.
//
//alloc:none
func (c Context) Share() Context {
	c.bytes.Retain()
	return c
}

// Drop is the end of a holder. Any goroutine may call it.
//
//alloc:none
func (c Context) Drop() { c.bytes.Release() }

// WithTrace returns a Context that has another trace, with one holder. c stays as it is.
//
//alloc:none
func (c Context) WithTrace(from Source, t Trace) Context {
	next, dst := take(from, max(len(c.Text()), traceSize))
	c.Text().AppendTrace(dst, t)
	return next
}

// WithPair is WithTrace for a pair: see Text.SizeWith. The error is ErrTooLong.
//
//alloc:none
func (c Context) WithPair(from Source, name, value string) (Context, error) {
	n, err := c.Text().SizeWith(name, value)
	if err != nil {
		return Context{}, err
	}
	next, dst := take(from, n)
	c.Text().AppendPair(dst, name, value)
	return next, nil
}
