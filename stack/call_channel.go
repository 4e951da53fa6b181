package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// ChannelStack is one inbound request of a connection. It lives in the
// channel's inflight queue, in order of arrival, until its result is written:
// neither a step nor its end recycles it. A result may come in parts: see Part.
type ChannelStack[Req, Rep any] struct {
	inbound[Req, Rep]
	Req Req // what was received; its bytes live as long as the stack
}

// inbound is the channel's part of a ChannelStack. The channel, on the worker
// that owns its house, writes it.
type inbound[Req, Rep any] struct {
	Stack
	rep      Rep
	after    *ChannelStack[Req, Rep] // next in the inflight queue
	conn     any                     // the connection: a pointer
	input    pool.Bytes              // what Req aliases; counted
	holds    int                     // bytes; see Inflight.hold
	part     part                    // of the result, if that comes in parts
	complete bool                    // ended: rep or err may be written when its turn comes
	last     bool                    // close the connection behind this result
	aside    bool                    // held back: it stands in no lane
}

func (s *ChannelStack[Req, Rep]) channel() *ChannelStack[Req, Rep] { return s }

// Return ends the stack with the result to be written. Its bytes must live as
// long as the stack: Bytes and Copy give such, and so do answers of its futures.
//
//alloc:none
func (s *ChannelStack[Req, Rep]) Return(rep Rep) Yield {
	y := s.finish()
	s.rep = rep
	return y
}

// ReturnLast is Return; the connection is closed once the result is written, and
// what the client sent after this request is ignored.
func (s *ChannelStack[Req, Rep]) ReturnLast(rep Rep) Yield {
	s.last = true
	return s.Return(rep)
}

// Keep returns p, a part of the request, with a count of its own: for messages,
// which may outlive the request. The receiver's message releases it; see Releaser.
func (s *ChannelStack[Req, Rep]) Keep(p []byte) pool.Bytes {
	if part, ok := s.input.Part(p); ok {
		return part.Retain()
	}
	return s.Engine().Shard.Copy(p)
}

// Peer is who sent a request: the connection that it came by. Those of two requests are equal if
// and only if they came by the same one. It may be kept, and sent to other actors.
type Peer struct{ of Endpoint }

// Endpoint is a connection as a Peer knows it; the channel implements it.
type Endpoint interface {
	// Introduce has Addr known. Only the connection's worker calls it, in its turn.
	Introduce()
	// Addr returns the address of the client's end. Any goroutine may call it behind Introduce.
	Addr() string
}

// Peer returns who sent the request.
func (s *ChannelStack[Req, Rep]) Peer() Peer {
	of, _ := s.conn.(Endpoint)
	if of != nil {
		of.Introduce()
	}
	return Peer{of}
}

// Addr returns the address that the connection came from, host:port or the path of a Unix socket;
// "" if it has none, or was gone when a request first asked for its Peer. Any goroutine may call
// it.
func (p Peer) Addr() string {
	if p.of == nil {
		return ""
	}
	return p.of.Addr()
}

// Conn returns the connection that the request came from.
func (s *ChannelStack[Req, Rep]) Conn() any { return s.conn }

// ChannelOf is satisfied by the pointer to every S that embeds ChannelStack[Req, Rep].
type ChannelOf[S, Req, Rep any] interface {
	RunningOf[S]
	channel() *ChannelStack[Req, Rep]
}

// NewChannel makes the handler of inbound requests whose first step is first.
// finish is called at a stack's end on the worker that runs it: the promises it
// waited for are cancelled, its answers still stand until Free.
//
// parted is called when a stack has offered a part of its result.
func NewChannel[A, S, Req, Rep any, PS ChannelOf[S, Req, Rep]](first func(*A, PS) Yield, parted, finish func(*ChannelStack[Req, Rep])) *Handler {
	holds := holds[Req]() || holds[Rep]()
	release := func(s PS) {
		c := s.channel()
		c.input.Release()
		if holds {
			letGo(&c.Req)
			letGo(&c.rep)
		}
	}
	h := newHandler(classOwned, first, release)
	h.counts = 0 // its connection's inflight is bounded
	h.request.aside = func(s *Stack) { (*ChannelStack[Req, Rep])(unsafe.Pointer(s)).aside = true }
	h.request.parted = func(s *Stack) { parted((*ChannelStack[Req, Rep])(unsafe.Pointer(s))) }
	h.owned.finish = func(s *Stack) {
		c := (*ChannelStack[Req, Rep])(unsafe.Pointer(s))
		c.complete = true
		w, room := c.Engine(), c.part.room
		finish(c) // c may be another's behind it
		if room != nil {
			w.reply(room)
		}
	}
	return h
}

// Inbound takes a stack of h, which NewChannel made for Req and Rep, for a
// request of conn to the house at. The caller writes the request, then either
// calls Accept or gives the stack back with Engine.Discard.
func Inbound[Req, Rep any](w *Engine, at *House, h *Handler, conn any) *ChannelStack[Req, Rep] {
	s := stackOf(w.Shard.Take(h.kind))
	s.to = at
	c := (*ChannelStack[Req, Rep])(unsafe.Pointer(s))
	c.conn = conn
	return c
}

// Discard frees a stack that was begun and not pushed.
func (w *Engine) Discard(s *Stack) { w.Shard.Put(&s.Object) }
