package stack

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Guests is what goroutines that are not workers share: their pools.
type Guests struct {
	Pools      pool.Guests
	AskTimeout int64        // default deadline of a guest's ask, ns
	Clock      func() int64 // the system's clock, ns
}

// Call is one blocking ask of a guest. Its word is
//
//	waiting  the guest waits; the worker may answer
//	done     the worker wrote the answer, then swapped the word, then signals: the
//	         guest takes the signal, reads, and frees both call and stack
//	gone     the guest's context ended; it touches nothing any more: the worker
//	         frees both
//
// Both leave waiting by one compare-and-swap, so exactly one of them frees.
type Call struct {
	pool.Object
	house  House // what stacks have as their way back: without an owner, which tells it from an actor's
	word   atomic.Uint32
	signal chan struct{} // one slot, empty except between done and the guest's receive
	timer  *time.Timer   // the default deadline's; stopped while free
	answer *Stack        // written before done
}

const (
	callWaiting uint32 = iota
	callDone
	callGone
)

var callKind = pool.NewKind("guest call",
	pool.Layout{Size: unsafe.Sizeof(Call{}), Fixed: pool.ObjectSize},
	func() *pool.Object {
		c := &Call{signal: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
		c.timer.Stop()
		return &c.Object
	},
	func(o *pool.Object) {
		c := (*Call)(unsafe.Pointer(o))
		c.answer = nil
		c.word.Store(callWaiting)
	}).Keeps()

// NewCall takes a call for one ask of the calling goroutine.
func (g *Guests) NewCall() *Call { return (*Call)(unsafe.Pointer(g.Pools.Take(callKind))) }

// Begin takes a stack for a message from a guest. The caller writes the message, then calls Post
// (a notice) or Wait (an ask).
func (g *Guests) Begin(to *House, h *Handler) *Stack {
	s := stackOf(g.Pools.Take(h.kind))
	s.to, s.sent = to, g.Clock()
	return s
}

// Post sends a notice.
func (s *Stack) Post() { s.send() }

// Wait sends an ask and blocks until its answer is there or ctx ends. If err is
// nil the caller reads the reply from s and calls Done; otherwise s is dead.
func (g *Guests) Wait(ctx context.Context, s *Stack) (c *Call, err error) {
	if err = ctx.Err(); err != nil {
		g.Pools.Put(&s.Object)
		return nil, err
	}
	c = g.NewCall()
	s.back = &c.house
	var expired <-chan time.Time
	if at, ok := ctx.Deadline(); ok {
		left := int64(time.Until(at))
		s.deadline = later(g.Clock(), left) // read behind what is left: rather late than early
	} else {
		s.deadline = later(s.sent, g.AskTimeout)
		c.timer.Reset(time.Duration(g.AskTimeout))
		expired = c.timer.C
	}
	s.send()
	select {
	case <-c.signal:
	case <-ctx.Done():
		err = ctx.Err()
	case <-expired:
		err = ErrTimeout
	}
	if expired != nil {
		c.timer.Stop()
	}
	if err != nil && g.giveUp(c, s) {
		return nil, err
	}
	if s.err != nil {
		if s.err != ErrCancelled || err == nil { // giveUp's doing: the guest knows better why
			err = s.err
		}
		g.Done(c)
		return nil, err
	}
	return c, nil
}

// Send sends an ask without waiting. Once Ready, the caller reads the reply from
// s, or its Err, and calls Done.
func (g *Guests) Send(s *Stack) *Call {
	c := g.NewCall()
	s.back = &c.house
	s.deadline = later(s.sent, g.AskTimeout)
	s.send()
	return c
}

// Ready reports whether the answer of a call that was sent is there. The caller
// is the only guest that knows it.
func (c *Call) Ready() bool { return c.word.Load() == callDone }

// Take waits for the answer's signal, which Ready promises to be on its way.
func (c *Call) Take() { <-c.signal }

// giveUp abandons a call: true if the worker will free it. Otherwise the answer
// came first, and its signal has been taken.
func (g *Guests) giveUp(c *Call, s *Stack) bool {
	s.cancelled.Store(true) // while the word says waiting or done the stack isn't recycled
	invariant.Point("guest.gone")
	if c.word.CompareAndSwap(callWaiting, callGone) {
		return true
	}
	<-c.signal
	return false
}

// Done frees a call and its answer.
func (g *Guests) Done(c *Call) {
	if c.answer != nil {
		g.Pools.Put(&c.answer.Object)
	}
	g.Pools.Put(&c.Object)
}

// callOf returns the call whose house h is.
func callOf(h *House) *Call {
	return (*Call)(unsafe.Add(unsafe.Pointer(h), -int(unsafe.Offsetof(Call{}.house))))
}

// answerGuest ends the stack of a guest's ask on a worker.
func (w *Worker) answerGuest(s *Stack) {
	if c := callOf(s.back); !c.finish(s) {
		w.Shard.Put(&s.Object)
		w.Shard.Put(&c.Object)
	}
}

// complete is answerGuest for any goroutine.
func (c *Call) complete(s *Stack) {
	if !c.finish(s) {
		pool.Send(&s.Object)
		pool.Send(&c.Object)
	}
}

// finish is the transition waiting -> done; false if the guest has gone.
func (c *Call) finish(s *Stack) bool {
	c.answer = s
	invariant.Point("guest.done")
	if !c.word.CompareAndSwap(callWaiting, callDone) {
		return false
	}
	c.signal <- struct{}{}
	return true
}

// WaitStop stops h and blocks until it has stopped or ctx ends.
func (g *Guests) WaitStop(ctx context.Context, h *House) error {
	for {
		s := g.Begin(h, stopHandler)
		s.lane = System
		c, err := g.Wait(ctx, s)
		switch {
		case err == nil:
			g.Done(c)
			return nil
		case err == ErrStopped:
			return nil
		case err != ErrTimeout || ctx.Err() != nil:
			return err
		}
		// The default deadline of asks has passed; ctx has none that has.
	}
}
