package stack

import (
	"context"
	"runtime/debug"
	"unsafe"
)

// job is a blocking function at work on a goroutine of its own. The goroutine
// owns this stack, and nothing of the asker's, from the hand-over to the send home.
type job[In, R any] struct {
	AskStack[In, R]
	fn func(context.Context, In) (R, error)
}

// NewJob makes the handler of jobs that take an In and give an R.
func NewJob[In, R any]() *Handler {
	h := &Handler{class: classAsk, title: "offload"}
	h.kind = newKind(h, releaseAsk[job[In, R], In, R, *job[In, R]]())
	h.work = func(ctx context.Context, s *Stack) {
		j := (*job[In, R])(unsafe.Pointer(s))
		j.rep, j.err = j.fn(ctx, j.Req)
	}
	return h
}

// Offload binds f to fn(in), done by a goroutine that may block. h is NewJob's
// for In and R.
func Offload[In, R any](s *Stack, f *Future[R], h *Handler, in In, fn func(context.Context, In) (R, error)) {
	c := s.Bind(&f.promise, h, 0)
	j := (*job[In, R])(unsafe.Pointer(c))
	j.Req, j.fn = in, fn
	w := s.Worker()
	c.to = s.to
	w.sendOut() // as before a guest's answer: the job may speak
	if !w.Driver.Offload(c) {
		w.Refuse(c, ErrOverloaded)
	}
}

// Work does a job and sends it home. Any goroutine may call it, once for each job.
func (s *Stack) Work(ctx context.Context, now int64) {
	defer func() { // also if the function calls runtime.Goexit
		s.lane = Replies
		s.send()
	}()
	if s.cancelled.Load() {
		s.err = ErrCancelled
	} else if s.deadline != 0 && now > s.deadline {
		s.err = ErrTimeout
	} else {
		s.work(ctx)
	}
}

func (s *Stack) work(ctx context.Context) {
	done := false
	defer func() {
		if done {
			return
		}
		value := recover()
		if value == nil {
			value = "runtime.Goexit was called"
		}
		s.err = &PanicError{Actor: "offload", Step: "offload", Value: value, Trace: debug.Stack()}
	}()
	s.by.work(ctx, s)
	done = true
}

// Abort sends a job home that won't be done.
func (s *Stack) Abort(err error) {
	s.err = err
	s.lane = Replies
	s.send()
}
