package stack

import (
	"context"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/giveup"
)

// job is a blocking function at work on a goroutine of its own. It is
//
//	asked    the asker's worker writes it
//	queued   handed over to a pool: one of its goroutines calls Work and then GoHome or, to give
//	         the job up, Abort
//	at work  the goroutine owns this stack, and reads the bytes that the input refers to; the
//	         asker may end meanwhile
//	home     pushed into the inbox of the asker's house, once, by GoHome or Abort. If the pool
//	         refuses it the asker's worker calls FailAsk instead
//
// It carries its asker, and every other stack that may hold bytes of the input: they aren't
// cleared, whatever ends the asker, before it goes home. See send_lend.go.
//
// When its asker gives up, the word cancelled says so. A goroutine that wants to be called then
// uses OnGivenUp. A kept job isn't given up: the asker's end is put off until it is home, see
// keepOn.
type job[In, R any] struct {
	asked[In, R]
	fn       func(context.Context, In) (R, error)
	onGiveUp jobState
}

// jobState is what becomes of a job when its asker gives up, or ends.
type jobState struct {
	giveup.Hook
	kept bool // the job is kept: its asker doesn't end before it
}

// NewJob makes the handler of jobs whose function takes an In and returns an R.
func NewJob[In, R any]() *Handler {
	h := &Handler{class: classAsk, Title: "offload"}
	h.kind = h.newKind(shapeOf((*job[In, R])(nil), clearing[job[In, R]]()), valuesOf[In, R]().releases())
	h.job.work = func(ctx context.Context, s *Stack) (err error) {
		j := (*job[In, R])(unsafe.Pointer(s))
		j.rep, err = j.fn(ctx, j.Req)
		return fault.OfContext(err)
	}
	h.job.onGiveUp = func(s *Stack) *jobState { return &(*job[In, R])(unsafe.Pointer(s)).onGiveUp }
	return h
}

// OffloadPool is goroutines that do jobs. It outlives the actors that know it, or refuses their
// jobs. Any goroutine may call it.
type OffloadPool interface {
	// Submit takes a job, which goes home later. If it returns an error the job stays the
	// caller's.
	Submit(job *Stack) error
	// Limit returns how long askers wait at most, ns; 0: as long as for any other answer.
	Limit() int64
}

// isKept reports whether the call of p is a kept job.
func isKept(p *future.Promise) bool {
	c := stackOf(p.Call)
	return p.Call != nil && c.by.job.onGiveUp != nil && c.by.job.onGiveUp(c).kept
}

// Due returns nil if the asker still waits for the job, otherwise the error to Abort it with. now
// is on the system's clock, ns. Only the job's goroutine calls it, or the worker that has a call
// which its only step has left by Again.
func (s *Stack) Due(now int64) error {
	invariant.Point("offload.due")
	if s.givenUp() {
		return fault.ErrCancelled
	}
	if s.deadline != 0 && now > s.deadline {
		return fault.ErrTimeout
	}
	return nil
}

// Work does a job, once, on the goroutine that calls it. Afterwards Err says how it ended: by a
// *fault.PanicError also behind runtime.Goexit, which ends the goroutine all the same.
func (s *Stack) Work(ctx context.Context) {
	fault.Catch("offload", "offload", &s.err, func() error { return s.by.job.work(ctx, s) })
}

// OnGivenUp has f called once if the asker of the job gives up. The asker's worker calls f, so f
// must not block; or OnGivenUp does, if it is too late. Only the goroutine at work calls it, and f
// may still be called when the job has ended.
func (s *Stack) OnGivenUp(f *func()) {
	invariant.Point("offload.watch")
	s.by.job.onGiveUp(s).Set(f)
	invariant.Point("offload.look")
	if s.cancelled.Doubtful() { // perhaps before f was there
		s.tellGivenUp()
	}
}

// tellGivenUp calls the function that OnGivenUp stored, unless there is none or it was called.
func (s *Stack) tellGivenUp() {
	invariant.Point("offload.tell")
	s.by.job.onGiveUp(s).Run()
}

// flagJob keeps the pool from beginning the job that p waits for, if it waits for one. All jobs of
// an actor that ends are flagged before the first is abandoned: those at work end then, and free a
// goroutine, which must not begin another of them.
func flagJob(p *future.Promise) {
	if p.Call == nil {
		return
	}
	if c := stackOf(p.Call); c.by.job.onGiveUp != nil && !isKept(p) {
		c.cancelled.GiveUp()
	}
}
