package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/pool"
)

// ChannelStack is one inbound request of a connection. It lives in the
// channel's inflight queue, in order of arrival, until its result is written:
// neither a step nor its end recycles it.
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
	complete bool                    // ended: rep or err may be written when its turn comes
	last     bool                    // close the connection behind this result
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
	return s.Worker().Shard.Copy(p)
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
func NewChannel[A, S, Req, Rep any, PS ChannelOf[S, Req, Rep]](first func(*A, PS) Yield, finish func(*ChannelStack[Req, Rep])) *Handler {
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
	h.finish = func(s *Stack) {
		c := (*ChannelStack[Req, Rep])(unsafe.Pointer(s))
		c.complete = true
		finish(c)
	}
	return h
}

// Inbound takes a stack of h, which NewChannel made for Req and Rep, for a
// request of conn to the house at. The caller writes the request, then either
// calls Accept or gives the stack back with Worker.Discard.
func Inbound[Req, Rep any](w *Worker, at *House, h *Handler, conn any) *ChannelStack[Req, Rep] {
	s := stackOf(w.Shard.Take(h.kind))
	s.to = at
	c := (*ChannelStack[Req, Rep])(unsafe.Pointer(s))
	c.conn = conn
	return c
}

// Accept queues a request, whose bytes are in input, behind those in flight and
// starts its handler.
func (q *Inflight[Req, Rep]) Accept(w *Worker, c *ChannelStack[Req, Rep], input pool.Bytes) {
	c.input = input.Retain()
	q.push(c)
	w.Push(c.to, &c.Stack)
}

// Refuse queues a request, whose bytes are in input, behind those in flight with err as its result: no
// handler starts.
func (q *Inflight[Req, Rep]) Refuse(c *ChannelStack[Req, Rep], input pool.Bytes, err error) {
	c.input = input.Retain()
	c.err, c.complete, c.used = err, true, true
	c.state = ended
	q.push(c)
}

// Discard frees a stack that was begun and not pushed.
func (w *Worker) Discard(s *Stack) { w.Shard.Put(&s.Object) }

// Inflight is the requests of one connection that came in and whose results are
// not written yet, in order.
type Inflight[Req, Rep any] struct {
	head, tail *ChannelStack[Req, Rep]
	n          int
}

// Len returns the number of requests in flight.
func (q *Inflight[Req, Rep]) Len() int { return q.n }

func (q *Inflight[Req, Rep]) push(c *ChannelStack[Req, Rep]) {
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.after = c
	}
	q.tail = c
	q.n++
}

// Complete reports whether the oldest request's result is there.
func (q *Inflight[Req, Rep]) Complete() bool { return q.head != nil && q.head.complete }

// Result returns the oldest request's result, which must be there, and whether
// the connection is to be closed behind it. It is valid until Pop.
func (q *Inflight[Req, Rep]) Result() (rep *Rep, last bool, err error) {
	return &q.head.rep, q.head.last, q.head.err
}

// Pop frees the oldest request, whose result must be there.
func (q *Inflight[Req, Rep]) Pop(w *Worker) {
	c := q.head
	if !c.complete {
		panic("stack: a request leaves the inflight queue before its end")
	}
	q.head = c.after
	if q.head == nil {
		q.tail = nil
	}
	q.n--
	w.letAnswersGo(&c.Stack)
	w.Shard.Put(&c.Object)
}

// Cancel ends the requests that aren't complete: their results find nobody. Those
// that wait end at once, unless they keep a job, those still queued before their first step.
func (q *Inflight[Req, Rep]) Cancel(w *Worker) {
	for c := q.head; c != nil; c = c.after {
		if c.complete {
			continue
		}
		c.cancelled.Store(givenUp)
		if c.state == suspended {
			w.giveUp(c.to, &c.Stack)
		}
	}
}
