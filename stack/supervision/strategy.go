package supervision

import (
	"time"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// Directive says what becomes of an actor that failed.
type Directive uint8

const (
	// Restart ends its instance, all whose stacks get ErrRestarted, and makes a new one by its
	// factory. What is queued stays.
	Restart Directive = iota
	// Resume lets it go on with the state that it has: only the stack that failed ends.
	Resume
	// Stop stops it.
	Stop
	// Escalate makes it a failure of its parent; at the top of the tree it is Stop.
	Escalate
)

// String returns the directive's name.
func (d Directive) String() string {
	return [...]string{"restart", "resume", "stop", "escalate"}[d]
}

// Scope says whom a directive is about.
type Scope uint8

const (
	OneForOne  Scope = iota // the child that failed
	AllForOne               // all children
	RestForOne              // the child that failed, and those born after it
)

// Strategy says what becomes of actors that fail: by a panic in a step or a hook, or a Throw in a
// notice. The zero Strategy restarts, at once 5 times a minute, then behind a hold (see
// Restarts), and stops an actor whose start fails. It must not change once it is in use, and may
// serve many actors.
type Strategy struct {
	// Scope is for whom Decide's answer counts. It works for a strategy that a parent
	// has for its children; at the top it is OneForOne.
	Scope Scope
	// Decide chooses by the error: a *fault.PanicError, what was thrown, or a *fault.StartError.
	// It is called on any worker, several at once, and must not block. If it panics, or calls
	// runtime.Goexit, that is Stop. nil: Stop for a *fault.StartError, else Restart.
	Decide func(err error) Directive
	// Restarts is how many restarts there may be within Window; one more stops the actor.
	// Negative: any number. 0: 5, and one more holds the actor: its instance and its children
	// have ended, and the next instance is made a second later. Each further failure doubles
	// that, up to 30 s, until there was none for a Window. In a hold asks end at once with
	// ErrRestarted, and so do requests of the actor's connections; notices wait in the mailbox,
	// and a stop acts at once.
	Restarts int
	// Window is the time in which restarts are counted. 0: a minute.
	Window time.Duration
	// Backoff is the pause between the end of the first instance that fails and the next;
	// each further one in a row takes twice as long, up to BackoffMax (0: 64 times Backoff), half
	// of it by chance. Calls wait meanwhile. A pause longer than Window between two failures
	// begins at Backoff again. 0: none.
	Backoff, BackoffMax time.Duration
}

// Directive returns what becomes of an actor that failed with err: what Decide says, but an actor
// that hasn't started can't go on. It calls Decide, and panics if that does.
func (s *Strategy) Directive(err error) Directive {
	_, start := err.(*fault.StartError)
	if s.Decide == nil {
		if start {
			return Stop
		}
		return Restart
	}
	if d := s.Decide(err); d <= Escalate && !(start && d == Resume) {
		return d
	}
	return Stop
}
