package stack

import (
	"context"
	"math"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Offload binds f to a job: fn(in), which may block, on a goroutine of the pool to; nil: of the
// system's own pool. h is NewJob's for In and R. A kept job isn't ended by a deadline, nor by the
// end of s. Only a step of s may call it.
func Offload[In, R any](s *Stack, f *Future[R], h *Handler, to OffloadPool, kept bool, in In, fn func(context.Context, In) (R, error)) {
	w := s.Engine()
	if to == nil {
		to = w.Driver.Offloads()
	}
	p := &f.promise
	if s.state != running || p.State == future.Waiting || p.Bound && p.Owner != &s.Object {
		s.Promise(p, 0) // it panics
	}
	var carried pool.Carrier
	s.carry(&carried, math.MaxUint64) // before Bind, which puts the answer that p has
	c := s.Bind(p, h, to.Limit())
	j := (*job[In, R])(unsafe.Pointer(c))
	j.Req, j.fn, j.onGiveUp.kept = in, fn, kept
	c.carried, c.to = carried, s.to
	if kept {
		p.Postpone(math.MaxInt64)
		c.deadline = math.MaxInt64
		s.to.makeLife() // a stop waits for the job by the record
	}
	w.sendOut() // messages that the job sends come behind those in there
	if err := to.Submit(c); err != nil {
		c.carried.Release()
		w.FailAsk(c, err)
	} else if kept {
		s.kept = true
	}
}

// GoHome sends a job home that was done. Nobody reads its input any more. Only the goroutine that
// has it calls it.
func (s *Stack) GoHome() {
	s.carried.Release()
	s.lane = Replies
	s.send()
}

// Abort sends a job home that won't be done, with err as its answer. Only the goroutine that has it
// calls it.
func (s *Stack) Abort(err error) {
	s.err = err
	s.GoHome()
}
