package core

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// The reasons why an ask ends without a reply. All work with errors.Is.
var (
	ErrStopped     = fault.ErrStopped     // the callee, or its whole system, has stopped
	ErrOtherSystem = fault.ErrOtherSystem // a step asked an actor of another system than its own
	ErrRestarted   = fault.ErrRestarted   // the callee failed and was restarted
	ErrTimeout     = fault.ErrTimeout     // no answer came before the deadline
	// as ErrTimeout, which errors.Is finds in it: the callee's system was never started
	ErrNotStarted = fault.ErrNotStarted
	ErrCancelled  = fault.ErrCancelled  // the asker gave up before the callee ended
	ErrPanic      = fault.ErrPanic      // the callee panicked
	ErrOverloaded = fault.ErrOverloaded // a bounded resource of the runtime is used up
	// the callee's mailbox has no room
	ErrMailboxFull = fault.ErrMailboxFull
	ErrUnanswered  = fault.ErrUnanswered // a batch ended without answering this ask

	// ErrNoHandler: no handler of the callee's type is As the method.
	ErrNoHandler = fault.ErrNoHandler
	// ErrNotSent: the request was for another process, and no byte of it has left. Asking again does
	// nothing twice.
	ErrNotSent = fault.ErrNotSent
	// ErrLost: the request was for another process, has left, all or in part, and the connection
	// ended before its reply: the other process may have done what was asked.
	ErrLost = fault.ErrLost

	// ErrBreakerOpen: a circuit breaker refused the call, because too many calls before it have
	// failed. errors.Is(ErrBreakerOpen, ErrOverloaded) holds: both mean that the call wasn't tried,
	// and may be tried later.
	ErrBreakerOpen = fault.ErrBreakerOpen

	// ErrBlockingOnWorker: a step called a function for guests only, or an offloaded function
	// called the Shutdown of its own system. Either would wait for itself.
	ErrBlockingOnWorker = fault.ErrBlockingOnWorker
)

var (
	// ErrNotFound: no actor has the path.
	ErrNotFound = errors.New("stackhouse: no such actor")
	// ErrAlreadyExists: another actor has the name.
	ErrAlreadyExists = errors.New("stackhouse: the name is taken")
)

// PanicError is the error that the asker of a stack gets if the stack panicked.
type PanicError = fault.PanicError
