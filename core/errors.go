package core

import "github.com/stackhouse-go/stackhouse/stack"

// The reasons why an ask ends without a reply. All work with errors.Is.
var (
	ErrStopped    = stack.ErrStopped    // the callee, or its whole system, has stopped
	ErrTimeout    = stack.ErrTimeout    // no answer came before the deadline
	ErrCancelled  = stack.ErrCancelled  // the asker gave up before the callee ended
	ErrPanic      = stack.ErrPanic      // the callee panicked
	ErrOverloaded = stack.ErrOverloaded // a bounded resource of the runtime is used up
	ErrUnanswered = stack.ErrUnanswered // a batch ended without answering this ask

	// ErrBlockingOnWorker: a step called a function for goroutines that are no workers.
	// It would wait for the worker that waits for it.
	ErrBlockingOnWorker = stack.ErrBlockingOnWorker
)

// PanicError is what the asker of a stack that panicked gets.
type PanicError = stack.PanicError
