package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// Inbound is one inbound request of a connection: a core.ChannelStack, as the runtime reads it. It
// lives in the channel's inflight queue, in order of arrival, until its result is written: neither
// a step nor its end recycles it. A result may come in parts: see Inflight.Offered.
type Inbound struct {
	InboundState
	Stack
}

// InboundState is the channel's part of an Inbound. The channel, on the worker that owns its
// house, writes it. It stands right before the Head.
type InboundState struct {
	after    *Inbound   // next in the inflight queue
	conn     any        // the connection: a pointer
	input    pool.Bytes // what the request aliases; counted
	holds    int        // bytes; see Inflight.hold
	part     part       // of the result, if that comes in parts
	complete bool       // ended: reply or err may be written when its turn comes
	last     bool       // close the connection behind this result
	aside    bool       // held back: it stands in no lane
}

// InboundOf returns s as the request that it is.
func InboundOf(s *Stack) *Inbound {
	return (*Inbound)(unsafe.Add(unsafe.Pointer(s), -int(unsafe.Offsetof(Inbound{}.Stack))))
}

// Conn returns the connection that the request came from.
func (c *Inbound) Conn() any { return c.conn }

// EndsLast has the connection be closed once the result is written, and what the client sent after
// this request ignored.
func (c *Inbound) EndsLast() { c.last = true }

// Keep returns p, a part of the request, with a count of its own.
func (c *Inbound) Keep(p []byte) pool.Bytes {
	if part, ok := c.input.Part(p); ok {
		return part.Retain()
	}
	return c.Engine().Shard.Copy(p)
}

// NewChannel makes the handler of inbound requests whose first step is first, of a
// core.ChannelStack[Req, Rep].
// finish is called at a stack's end on the worker that runs it: the promises it
// waited for are cancelled, its answers still stand until Free.
//
// parted is called when a stack has offered a part of its result.
func NewChannel[Req, Rep any](first Entry, parted, finish func(*Inbound)) *Handler {
	clear := first.shape.clear
	first.shape.clear = func(o *pool.Object) {
		InboundOf(stackOf(o)).input.Release()
		clear(o)
	}
	h := first.handler(classOwned, nil, valuesOf[Req, Rep]().releases())
	h.counts = 0 // its connection's inflight is bounded
	h.request.aside = func(s *Stack) { InboundOf(s).aside = true }
	h.request.parted = func(s *Stack) { parted(InboundOf(s)) }
	h.owned.finish = func(s *Stack) {
		c := InboundOf(s)
		c.complete = true
		w, room := c.Engine(), c.part.room
		finish(c) // c may be another's behind it
		if room != nil {
			w.reply(room)
		}
	}
	return h
}

// Receive takes a stack of h, which NewChannel made, for a request of conn to the house at. The
// caller writes the request, then either calls Inflight.Accept or gives the stack back with
// Discard.
func (w *Engine) Receive(at *House, h *Handler, conn any) *Inbound {
	s := stackOf(w.Shard.Take(h.kind))
	s.to = at
	c := InboundOf(s)
	c.conn = conn
	return c
}

// Discard frees a stack that was begun and not pushed.
func (w *Engine) Discard(s *Stack) { w.Shard.Put(&s.Object) }
