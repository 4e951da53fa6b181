package stack

import "math"

// A request of a connection may be answered in parts. Of each its stack is
//
//	offered  by Part: the part waits for its turn, the stack for an answer
//	written  it was encoded, by the connection: what it took is let go
//	free     the connection has room for more: the answer comes, by GoOn
//
// The answer is a call that nobody handles, which the stack holds: it goes home when there is
// room; or when the stack ends, and then finds nobody.

// Room is what the answer to a part says: there is room for more.
type Room struct{}

var partHandler = func() *Handler {
	h := &Handler{class: classAsk, title: "part"}
	h.kind = h.newKind(shapeOf((*asked[struct{}, Room])(nil), clearing[asked[struct{}, Room]]()), nil)
	return h
}()

// part is what an Inbound knows of the part that it is at.
type part struct {
	room    *Stack // the call whose answer it waits for; nil: it is at none
	written bool
}

// Part begins to offer a part of the result of c. The caller writes that, as its reply, and calls
// Offer. f is answered when that was written, and the connection has room for more. Only a step of
// c may call it; it panics while f, or another part, waits.
func (c *Inbound) Part(f *Future[Room]) {
	if c.part.room != nil {
		panic("stack: a part is offered before there is room for it in " + c.by.Name())
	}
	room := c.Bind(&f.promise, partHandler, 0)
	f.promise.Postpone(math.MaxInt64)
	room.deadline = 0
	c.part = part{room: room}
}

// Offer offers the part that was written.
func (c *Inbound) Offer() { c.by.request.parted(&c.Stack) }

// AtPart reports whether c waits behind a part.
func (c *Inbound) AtPart() bool { return c.part.room != nil }

// Ready reports whether the oldest request has something to be written: its result, or a part of
// that.
func (q *Inflight) Ready() bool {
	s := q.head
	return s != nil && (s.complete || s.part.room != nil && !s.part.written && s.mode != waitKept)
}

// Waits reports whether the oldest request, unless it is Ready, waits for room behind a part.
func (q *Inflight) Waits() bool {
	return q.head != nil && q.head.part.written && q.head.mode != waitKept
}

// Offered notes what c, which has just offered a part, holds.
func (q *Inflight) Offered(c *Inbound) { q.hold(c) }

// Written notes that the result of the oldest request, or the part of it, was encoded. It is freed
// then, or goes on behind its part, by GoOn: that is reported, and the reply is to be cleared.
func (q *Inflight) Written(w *Engine) (goesOn bool) {
	c := q.head
	if c.complete {
		q.Pop(w)
		return false
	}
	c.part.written = true
	if c.Taken() { // no function that was offloaded reads what it carries
		c.carried.Release()
	}
	q.hold(c)
	return true
}

// GoOn has the oldest request, which waits for room, go on.
func (q *Inflight) GoOn(w *Engine) { q.head.goOn(w) }

// DropPart has c go on as if its part were written.
func (q *Inflight) DropPart(w *Engine, c *Inbound) { c.goOn(w) }

func (c *Inbound) goOn(w *Engine) {
	room := c.part.room
	c.part = part{}
	w.reply(room)
}
