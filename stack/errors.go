package stack

import (
	"errors"
	"fmt"
)

// The reasons why an ask ends without a reply. All work with errors.Is.
var (
	// ErrStopped: the callee, or its whole system, has stopped.
	ErrStopped = errors.New("stackhouse: actor stopped")
	// ErrTimeout: no answer came before the deadline.
	ErrTimeout = errors.New("stackhouse: deadline exceeded")
	// ErrCancelled: the asker gave up before the callee ended.
	ErrCancelled = errors.New("stackhouse: ask cancelled")
	// ErrPanic: the callee panicked; the error is a *PanicError.
	ErrPanic = errors.New("stackhouse: actor panicked")
	// ErrOverloaded: a bounded resource of the runtime is used up.
	ErrOverloaded = errors.New("stackhouse: overloaded")
	// ErrUnanswered: a batch ended without answering this member.
	ErrUnanswered = errors.New("stackhouse: batch ended without an answer")
)

// PanicError is what the asker of a stack that panicked gets. errors.Is(err,
// ErrPanic) holds; so does errors.Is(err, x) if the panic's value is an error that is x.
type PanicError struct {
	Actor string // the actor's address
	Step  string // the step that panicked
	Value any    // what panic was called with
	Trace []byte // the goroutine's stack at the panic
}

// Error returns the panic's value, the actor and the step in one line.
func (e *PanicError) Error() string {
	return fmt.Sprintf("%v: %s in %s: %v", ErrPanic, e.Actor, e.Step, e.Value)
}

// Unwrap returns ErrPanic and the panic's value if that is an error.
func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}
