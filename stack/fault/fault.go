package fault

import (
	"context"
	"errors"
	"fmt"
)

// The reasons why an ask ends without a reply. All work with errors.Is.
var (
	// ErrStopped: the callee, or its whole system, has stopped.
	ErrStopped = errors.New("stackhouse: actor stopped")
	// ErrOtherSystem: a step sent to an actor of another system than its own. Guests reach every
	// system.
	ErrOtherSystem = errors.New("stackhouse: the actor belongs to another system")
	// ErrRestarted: the callee failed and was made anew; the calls that it had begun are lost.
	ErrRestarted = errors.New("stackhouse: actor restarted")
	// ErrTimeout: no answer came before the deadline. It is context.DeadlineExceeded too.
	ErrTimeout error = &ending{"stackhouse: deadline exceeded", context.DeadlineExceeded}
	// ErrNotStarted: no answer came before the deadline, as the system was never started. It is
	// ErrTimeout too.
	ErrNotStarted error = &ending{"stackhouse: the system is not started", ErrTimeout}
	// ErrCancelled: the asker gave up before the callee ended. It is context.Canceled too.
	ErrCancelled error = &ending{"stackhouse: ask cancelled", context.Canceled}
	// ErrPanic: the callee panicked; the error is a *PanicError.
	ErrPanic = errors.New("stackhouse: actor panicked")
	// ErrOverloaded: a bounded resource of the runtime is used up.
	ErrOverloaded = errors.New("stackhouse: overloaded")
	// ErrMailboxFull: the callee's mailbox is full.
	ErrMailboxFull = errors.New("stackhouse: mailbox full")
	// ErrBreakerOpen: a circuit breaker refused the call. It is ErrOverloaded too, for callers that
	// try again later and needn't know why.
	ErrBreakerOpen error = &ending{"stackhouse: circuit breaker open", ErrOverloaded}
	// ErrBlockingOnWorker: a step called a function that blocks until an answer comes, or an
	// offloaded function called one that waits for its own end.
	ErrBlockingOnWorker = errors.New("stackhouse: blocking call on a worker")
	// ErrNoHandler: actors of the callee's type don't handle the method.
	ErrNoHandler = errors.New("stackhouse: no handler for the method")
	// ErrNotSent: no byte of the request has left. Asking again does nothing twice.
	ErrNotSent = errors.New("stackhouse: request not sent")
	// ErrLost: the request has left, all or in part, and the connection ended before its reply: the
	// other end may have done what was asked.
	ErrLost = errors.New("stackhouse: connection lost before the reply")
	// ErrUnanswered: a batch ended without answering this member.
	ErrUnanswered = errors.New("stackhouse: batch ended without an answer")
)

// ending is a reason that is another error too: one of package context, or a more general one.
type ending struct {
	text string
	like error // the other error
}

func (e *ending) Error() string { return e.text }

// Unwrap has errors.Is find the other error.
func (e *ending) Unwrap() error { return e.like }

// OfContext returns the error of an ask whose context ended with err. An err that isn't of package
// context it returns unchanged.
func OfContext(err error) error {
	switch err {
	case context.DeadlineExceeded:
		return ErrTimeout
	case context.Canceled:
		return ErrCancelled
	}
	return err
}

// PanicError is the error that the asker gets if a step panicked. errors.Is(err, ErrPanic)
// holds; so does errors.Is(err, x) if the panic's value is an error that is x.
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

// StartError is the failure of a start: of a start hook or, in a restart, of the factory.
type StartError struct{ Err error }

// Error says that a start failed, and why.
func (e *StartError) Error() string { return fmt.Sprintf("stackhouse: start failed: %v", e.Err) }

// Unwrap returns the error with which the hook, or the factory of a restart, ended.
func (e *StartError) Unwrap() error { return e.Err }
