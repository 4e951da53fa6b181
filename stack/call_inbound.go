package stack

import (
	"math"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// Inbound is one inbound request of a connection: a core.ChannelStack, as the runtime reads it. It
// lives in the channel's queue of those in flight until its result is written: neither a step nor
// its end recycles it.
type Inbound struct {
	InboundState
	Stack
}

// InboundState is the channel's part of an Inbound: who owns its house writes it, the channel's
// fields by the channel alone. It stands right before the Head.
//
// A request may be answered in parts. Of each its stack is
//
//	offered  by Offer: the part waits for its turn, the stack for an answer
//	written  it was encoded, by the connection: what it took is let go
//	free     the connection has room for more: the answer comes, by GoOn
//
// The answer is a call that nobody handles, which the stack holds: it goes home when there is
// room; or when the stack ends, and then finds nobody.
type InboundState struct {
	After *Inbound   // the channel's: next in its queue
	Conn  any        // the connection: a pointer
	Input pool.Bytes // what the request aliases; counted
	Holds int        // the channel's: bytes

	room     *Stack // the call whose answer a part waits for; nil: it is at none
	written  bool   // that part was
	Complete bool   // ended: reply or error may be written when its turn comes
	Last     bool   // close the connection behind this result
	Aside    bool   // held back: it stands in no lane
}

// InboundOf returns s as the request that it is.
func InboundOf(s *Stack) *Inbound {
	return (*Inbound)(unsafe.Add(unsafe.Pointer(s), -int(unsafe.Offsetof(Inbound{}.Stack))))
}

// NewInbound makes the handler of inbound requests whose first step is first, of a
// core.ChannelStack[Req, Rep]. Finish is called at a stack's end on the worker that runs it: the
// promises it waited for are cancelled, its answers still stand until Free. Parted is called when
// a stack has offered a part of its result.
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
		finish(c) // c may be another's behind it
		if room != nil {
			w.reply(room)
		}
	}
	return h
}

// Receive takes a stack of h, which NewInbound made, for a request of conn to the house at. The
// caller writes the request, and then pushes it, refuses it or gives it back with Discard.
func (w *Engine) Receive(at *House, h *Handler, conn any) *Inbound {
	s := stackOf(w.Shard.Take(h.kind))
	s.to = at
	c := InboundOf(s)
	c.Conn = conn
	return c
}

// Discard frees a stack that was begun and not pushed.
func (w *Engine) Discard(s *Stack) { w.Shard.Put(&s.Object) }

// Free frees a request that is complete, and the answers that it got.
func (w *Engine) Free(c *Inbound) {
	w.letAnswersGo(&c.Stack)
	w.Shard.Put(&c.Object)
}

// Refuse ends c, which wasn't pushed, with err as its result.
func (c *Inbound) Refuse(err error) {
	c.err, c.Complete, c.used = err, true, true
	c.close()
}

// GiveUp has the result of c find nobody, which isn't complete. If it waits it ends at once, unless
// it keeps a job: then it goes on, which is reported.
func (c *Inbound) GiveUp(w *Engine) (goesOn bool) {
	c.cancelled.GiveUp()
	return c.state == suspended && !w.giveUp(c.to, &c.Stack)
}

// HoldBack keeps c from beginning, until LetBegin: it is put aside when its turn comes. It reports
// false if c has begun, or was held back before.
func (c *Inbound) HoldBack() bool {
	if c.Complete || c.state != idle || c.cancelled.Doubtful() {
		return false
	}
	c.cancelled.HoldBack()
	return true
}

// IsHeldBack reports whether c was held back, and not let begin since.
func (c *Inbound) IsHeldBack() bool { return c.cancelled.HeldBack() }

// LetBegin ends that.
func (c *Inbound) LetBegin() { c.cancelled.LetBegin() }

// Carries returns how many bytes c holds: what its steps took, and the answers that it got.
func (c *Inbound) Carries() int {
	n := c.carried.Size()
	for p := c.bound; p != nil && p.Bound; p = p.Next {
		if p.Call != nil {
			n += stackOf(p.Call).carried.Size()
		}
	}
	return n
}

// Room is what the answer to a part says: there is room for more.
type Room struct{}

var partHandler = func() *Handler {
	h := &Handler{class: classAsk, title: "part"}
	h.kind = h.newKind(shapeOf((*asked[struct{}, Room])(nil), clearing[asked[struct{}, Room]]()), nil)
	return h
}()

// Part begins to offer a part of the result of c. The caller writes that, as its reply, and calls
// Offer. f is answered when that was written, and the connection has room for more. Only a step of
// c may call it; it panics while f, or another part, waits.
func (c *Inbound) Part(f *Future[Room]) {
	if c.room != nil {
		panic("stack: a part is offered before there is room for it in " + c.by.Name())
	}
	room := c.Bind(&f.promise, partHandler, 0)
	f.promise.Postpone(math.MaxInt64)
	room.deadline = 0
	c.room, c.written = room, false
}

// Offer offers the part that was written.
func (c *Inbound) Offer() { c.by.request.parted(c) }

// AtPart reports whether c waits behind a part.
func (c *Inbound) AtPart() bool { return c.room != nil }

// Ready reports whether c has something to be written: its result, or a part of that.
func (c *Inbound) Ready() bool {
	return c.Complete || c.room != nil && !c.written && c.mode != waitKept
}

// Waits reports whether c, unless it is Ready, waits for room behind a part.
func (c *Inbound) Waits() bool { return c.room != nil && c.written && c.mode != waitKept }

// PartWritten notes that the part was encoded: what c took for it is let go.
func (c *Inbound) PartWritten() {
	c.written = true
	if c.Taken() { // no function that was offloaded reads what it carries
		c.carried.Release()
	}
}

// GoOn has c, which is at a part, go on behind it.
func (c *Inbound) GoOn(w *Engine) {
	room := c.room
	c.room, c.written = nil, false
	w.reply(room)
}
