package stack

import (
	"context"
	"math"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Offload binds f to fn(in), done by a goroutine of the pool to, which may block; nil: of the
// system's own. h is NewJob's for In and R. If it is kept, no deadline ends it, nor does what
// ends s.
func Offload[In, R any](s *Stack, f *Future[R], h *Handler, to OffloadPool, kept bool, in In, fn func(context.Context, In) (R, error)) {
	w := s.Engine()
	if to == nil {
		to = w.Driver.Offloads()
	}
	p := &f.promise
	if s.state != running || p.State == future.Waiting || p.Bound && p.Owner != &s.Object {
		s.Promise(p, 0) // it panics
	}
	carried := s.carry() // before the answer that p has is let go
	c := s.Bind(p, h, to.Limit())
	j := (*job[In, R])(unsafe.Pointer(c))
	j.Req, j.fn, j.onGiveUp.kept = in, fn, kept
	c.carried = carried
	c.to = s.to
	if kept {
		p.Postpone(math.MaxInt64)
		c.deadline = math.MaxInt64
		s.to.makeLife() // which a stop waits by
	}
	w.sendOut() // as before a guest's answer: the job may speak
	if err := to.Submit(c); err != nil {
		w.FailAsk(c, err)
	} else if kept {
		s.kept = true
	}
}

// carry returns what holds s, its answers and, if it is a batch, its members. What jobs carry
// that are among the answers is let go, as their functions have ended: each would hold the last
// one, and s, else.
func (s *Stack) carry() (all pool.Carrier) {
	shard := &s.Engine().Shard
	s.holdIn(&all, shard)
	for p := s.bound; p != nil; p = p.Next {
		if p.State != future.Done || p.Call == nil {
			continue
		}
		if c := stackOf(p.Call); c.by.job.onGiveUp != nil {
			c.carried.Release()
		}
		all.Keep(shard, p.Call)
	}
	if s.by.class == classBatch {
		for m := BatchOf(s).members.first; m != nil; m = m.next {
			m.holdIn(&all, shard)
		}
	}
	return all
}

// holdIn has to hold s and, if it is an onward call, those that it answers: what it carries moves
// there.
func (s *Stack) holdIn(to *pool.Carrier, shard *pool.Shard) {
	to.Keep(shard, &s.Object)
	if r := s.relay(); r != nil {
		r.call.holdIn(to, shard)
	}
}

// GoHome sends a job home that has been done.
func (s *Stack) GoHome() {
	s.lane = Replies
	s.send()
}

// Abort sends a job home that won't be done.
func (s *Stack) Abort(err error) {
	s.err = err
	s.GoHome()
}
