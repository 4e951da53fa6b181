package stack

import (
	"math"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// Inbound is one inbound request of a connection: a core.ChannelStack, as the runtime reads it. It
// stays in the channel's inflight until its result is written. Neither a step nor its end recycles
// it.
type Inbound struct {
	InboundState
	Stack
}

// InboundState is the channel's part of an Inbound. The owner of the house writes it; the fields
// marked as the channel's only the channel writes. It stands right before the Head.
//
// A request may be answered in parts. Each part is
//
//	offered  by Offer: the part waits for its turn, the stack for an answer
//	written  the connection has encoded it, and released the bytes that the stack took for it
//	free     the connection has room for more: GoOn sends the answer
//
// The answer is a call that no actor handles, and which the stack holds. It goes home when there is
// room. If the stack ends before, it goes home then, and finds no promise.
type InboundState struct {
	After, Before *Inbound // the channel's: next to it in its queue

	Conn  any        // the connection: a pointer
	Input pool.Bytes // the counted bytes that the request refers to
	Holds int        // the channel's: bytes

	room     *Stack // the call that answers the part under way; nil: there is no part
	written  bool   // that part was encoded
	Complete bool   // the stack ended: reply or error may be written when its turn comes
	Last     bool   // the connection is closed behind this result
	Aside    bool   // it was held back when its turn came, and stands in no lane
}

// InboundOf returns s as the request that it is.
func InboundOf(s *Stack) *Inbound {
	return (*Inbound)(unsafe.Add(unsafe.Pointer(s), -int(unsafe.Offsetof(Inbound{}.Stack))))
}

// NewInbound makes the handler of inbound requests whose first step is first, of a
// core.ChannelStack[Req, Rep]. finish is called at a stack's end, on the worker that runs it: the
// promises it waited for are cancelled, its answers are valid until Free. parted is called when
// a stack offers a part of its result.
func NewInbound[Req, Rep any](first Entry, parted, finish func(*Inbound)) *Handler {
	return first.inbound(parted, finish, valuesOf[Req, Rep]())
}

func (e Entry) inbound(parted, finish func(*Inbound), v values) *Handler {
	clear := e.shape.clear
	e.shape.clear = func(o *pool.Object) {
		InboundOf(stackOf(o)).Input.Release()
		clear(o)
	}
	h := e.handler(classOwned, nil, v.releases())
	h.counts = 0 // its connection's queue is bounded
	h.request = requestPart{true, parted}
	h.owned.finish = func(s *Stack) {
		c := InboundOf(s)
		c.Complete = true
		w, room := c.Engine(), c.room
		finish(c) // after it c may be in use again
		if room != nil {
			w.reply(room)
		}
	}
	return h
}

// Receive takes a stack of h, which NewInbound made, for a request of conn to the house at. Its
// deadline is on the system's clock, ns; 0: there is none. The caller writes the request, then
// calls Push, Refuse or Discard. Only who runs w's turn calls it.
func (w *Engine) Receive(at *House, h *Handler, conn any, deadline int64) *Inbound {
	c := InboundOf(stackOf(w.Shard.Take(h.kind)))
	c.to, c.Conn, c.deadline = at, conn, deadline
	return c
}

// Discard frees a stack that was begun and not pushed.
func (w *Engine) Discard(s *Stack) { w.Shard.Put(&s.Object) }

// Free frees a request that is Complete, and the answers that it got.
func (w *Engine) Free(c *Inbound) {
	w.letAnswersGo(&c.Stack)
	w.Shard.Put(&c.Object)
}

// Refuse ends c, which wasn't pushed, with err as its result.
func (c *Inbound) Refuse(err error) {
	c.err, c.Complete, c.used = err, true, true
	c.close()
}

// GiveUp notes that nobody wants the result of c, which isn't Complete. A suspended c ends at once,
// unless it has begun a kept job: then it goes on, and GiveUp returns true.
func (c *Inbound) GiveUp(w *Engine) (goesOn bool) {
	c.cancelled.GiveUp()
	return c.state == suspended && !w.giveUp(c.to, &c.Stack)
}

// HoldBack keeps c from beginning until LetBegin. If its turn comes meanwhile it is put aside, see
// Aside. It reports false, and does nothing, if c has begun, was given up or is held back already.
func (c *Inbound) HoldBack() bool {
	if c.Complete || c.state != idle || c.cancelled.Doubtful() {
		return false
	}
	c.cancelled.HoldBack()
	return true
}

// IsHeldBack reports whether HoldBack keeps c from beginning.
func (c *Inbound) IsHeldBack() bool { return c.cancelled.HeldBack() }

// LetBegin ends HoldBack.
func (c *Inbound) LetBegin() { c.cancelled.LetBegin() }

// Carries returns how many bytes c holds: those that its steps took and those in its answers.
func (c *Inbound) Carries() int {
	n := c.carried.Size()
	for p := c.bound; p != nil && p.Bound; p = p.Next {
		if p.Call != nil {
			n += stackOf(p.Call).carried.Size()
		}
	}
	return n
}

// Room is the answer to a part: the connection has room for more.
type Room struct{}

var partHandler = func() *Handler {
	h := &Handler{class: classAsk, Title: "part"}
	h.kind = h.newKind(shapeOf((*asked[struct{}, Room])(nil), clearing[asked[struct{}, Room]]()), nil)
	return h
}()

// Part begins to offer a part of the result of c. The caller writes the part as the reply of c, and
// calls Offer. f is answered once the part was written and the connection has room for more. Only
// a step of c may call it. It panics while f, or another part, waits.
func (c *Inbound) Part(f *Future[Room]) {
	if c.room != nil {
		panic("stack: a part is offered before there is room for it in " + c.by.Name())
	}
	room := c.Bind(&f.promise, partHandler, 0)
	f.promise.Postpone(math.MaxInt64)
	c.room, c.written, room.deadline = room, false, 0
}

// Offer offers the part that the caller has written, see Part. Only a step of c may call it.
func (c *Inbound) Offer() { c.by.request.parted(c) }

// AtPart reports whether c waits behind a part.
func (c *Inbound) AtPart() bool { return c.room != nil }

// Ready reports whether the connection may write its result, or a part of it. A step that has
// offered a part may still use its bytes, so the part isn't written before that step has ended.
func (c *Inbound) Ready() bool {
	return c.Complete || c.room != nil && !c.written && c.mode != waitKept && c.state != running
}

// Waits reports whether c, unless it is Complete, waits for room behind a part that was written.
func (c *Inbound) Waits() bool { return c.room != nil && c.written && c.mode != waitKept }

// PartWritten notes that the part was encoded, and releases the bytes that c took for it.
func (c *Inbound) PartWritten() {
	c.written = true
	// otherwise a function, or a call that was given up, may read these bytes
	if c.Alone() && (!c.lends || stillRead(c.bound, 0) == nil) {
		c.carried.Release()
	}
}

// GoOn answers the part of c, so that c goes on. Only who runs w's turn calls it.
func (c *Inbound) GoOn(w *Engine) {
	room := c.room
	c.room, c.written = nil, false
	w.reply(room)
}
