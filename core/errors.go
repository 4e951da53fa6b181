package core

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// The reasons why an ask ends without a reply. All work with errors.Is.
var (
	ErrStopped     = fault.ErrStopped     // the callee, or its whole system, has stopped
	ErrOtherSystem = fault.ErrOtherSystem // a step asked an actor of another system than its own
	ErrRestarted   = fault.ErrRestarted   // the callee failed, and was made anew
	ErrTimeout     = fault.ErrTimeout     // no answer came before the deadline
	// the same, as the callee's system was never started; it is ErrTimeout too
	ErrNotStarted = fault.ErrNotStarted
	ErrCancelled  = fault.ErrCancelled  // the asker gave up before the callee ended
	ErrPanic      = fault.ErrPanic      // the callee panicked
	ErrOverloaded = fault.ErrOverloaded // a bounded resource of the runtime is used up
	// as many messages as the callee's mailbox takes wait in it
	ErrMailboxFull = fault.ErrMailboxFull
	ErrUnanswered  = fault.ErrUnanswered // a batch ended without answering this ask

	// ErrBreakerOpen: a circuit breaker refused the call, because too many before it have failed.
	// errors.Is(ErrBreakerOpen, ErrOverloaded) holds: both mean that it wasn't tried and may be
	// later.
	ErrBreakerOpen = fault.ErrBreakerOpen

	// ErrBlockingOnWorker: a step called a function for goroutines that are no workers, or an
	// offloaded function the Shutdown of its own system. It would wait for what waits for it.
	ErrBlockingOnWorker = fault.ErrBlockingOnWorker
)

var (
	// ErrNotFound: no actor has the path.
	ErrNotFound = errors.New("stackhouse: no such actor")
	// ErrAlreadyExists: another actor has the name.
	ErrAlreadyExists = errors.New("stackhouse: the name is taken")
)

// PanicError is what the asker of a stack that panicked gets.
type PanicError = fault.PanicError
