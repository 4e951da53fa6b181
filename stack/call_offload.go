package stack

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// job is a blocking function at work on a goroutine of its own. It is
//
//	asked    the asker's worker writes it
//	queued   handed over to a pool, whose goroutine takes it: Work, and then GoHome; or gives
//	         it up: Abort
//	at work  the goroutine owns this stack, and reads what the input refers to; the asker may
//	         end meanwhile
//	home     pushed into the inbox of the asker's house, once, by GoHome or Abort; or, the pool
//	         refusing it, by the asker's worker: FailAsk
//
// It carries its asker, and all others whose bytes the input may have from there: they aren't
// put, whatever ends the asker, before the function has ended.
//
// That its asker has given up is told by the flag cancelled and, if the goroutine wishes, by a
// call: OnGivenUp. One that is kept isn't given up: the asker's end is put off until it is home,
// see keepOn.
type job[In, R any] struct {
	asked[In, R]
	fn       func(context.Context, In) (R, error)
	onGiveUp jobState
}

// jobState holds what is called when the asker of a job gives up; nil: nothing, or it was called.
// OnGivenUp stores it, and whoever swaps it out calls it.
type jobState struct {
	atomic.Pointer[func()]
	kept bool // the asker doesn't give up
}

// NewJob makes the handler of jobs that take an In and give an R.
func NewJob[In, R any]() *Handler {
	h := &Handler{class: classAsk, title: "offload"}
	h.kind = h.newKind(shapeOf((*job[In, R])(nil), clearing[job[In, R]]()), valuesOf[In, R]().releases())
	h.job.work = func(ctx context.Context, s *Stack) {
		j := (*job[In, R])(unsafe.Pointer(s))
		j.rep, s.err = j.fn(ctx, j.Req)
	}
	h.job.onGiveUp = func(s *Stack) *jobState { return &(*job[In, R])(unsafe.Pointer(s)).onGiveUp }
	return h
}

// OffloadPool is goroutines that do jobs. It outlives the actors that know it, or refuses their
// jobs. Any goroutine may call it.
type OffloadPool interface {
	// Submit takes a job, which goes home later, or says why not: then it is the caller's still.
	Submit(job *Stack) error
	// Limit returns how long askers wait at most, ns; 0: as long as for any other answer.
	Limit() int64
}

// isKept reports whether p waits, or waited, for a job that is kept.
func isKept(p *future.Promise) bool {
	c := stackOf(p.Call)
	return p.Call != nil && c.by.job.onGiveUp != nil && c.by.job.onGiveUp(c).kept
}

// Due returns nil if somebody still waits for the job, otherwise the error to Abort it with.
func (s *Stack) Due(now int64) error {
	invariant.Point("offload.due")
	if s.cancelled.Doubtful() {
		return fault.ErrCancelled
	}
	if s.deadline != 0 && now > s.deadline {
		return fault.ErrTimeout
	}
	return nil
}

// Work does a job, once, on the goroutine that calls it. Err says how it ended, also behind
// runtime.Goexit, which goes on.
func (s *Stack) Work(ctx context.Context) {
	done := false
	defer func() {
		if done {
			return
		}
		value := recover()
		if value == nil {
			value = "runtime.Goexit was called"
		}
		s.err = &fault.PanicError{Actor: "offload", Step: "offload", Value: value, Trace: debug.Stack()}
	}()
	s.by.job.work(ctx, s)
	if s.err != nil {
		s.err = fault.OfContext(s.err)
	}
	done = true
}

// OnGivenUp has f called once if the asker of the job, which is at work, gives up: on its
// worker, so f must not wait. It may still be called when the job has ended.
func (s *Stack) OnGivenUp(f *func()) {
	invariant.Point("offload.watch")
	s.by.job.onGiveUp(s).Store(f)
	invariant.Point("offload.look")
	if s.cancelled.Doubtful() { // perhaps before f was there
		s.tellGivenUp()
	}
}

// tellGivenUp makes the call that OnGivenUp promised, if it did and nobody has.
func (s *Stack) tellGivenUp() {
	invariant.Point("offload.tell")
	if f := s.by.job.onGiveUp(s).Swap(nil); f != nil {
		(*f)()
	}
}

// flagJob has a pool not begin the job that p waits for, if it is one, which is about to be
// abandoned with others: those at work that are told make room for it.
func flagJob(p *future.Promise) {
	if p.Call == nil {
		return
	}
	if c := stackOf(p.Call); c.by.job.onGiveUp != nil && !isKept(p) {
		c.cancelled.GiveUp()
	}
}
