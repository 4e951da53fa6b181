package supervision

import (
	"time"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// Directive says what becomes of an actor that failed.
type Directive uint8

const (
	// Restart ends the actor's instance, whose stacks all end with ErrRestarted, and makes a new
	// one by its factory. Queued calls stay.
	Restart Directive = iota
	// Resume lets the actor go on with the state that it has: only the stack that failed ends.
	Resume
	// Stop stops the actor.
	Stop
	// Escalate makes the failure one of the actor's parent; at the top of the tree it is Stop.
	Escalate
)

// String returns the directive's name.
func (d Directive) String() string {
	return [...]string{"restart", "resume", "stop", "escalate"}[d]
}

// Scope says which children a directive is about.
type Scope uint8

const (
	OneForOne  Scope = iota // the child that failed
	AllForOne               // all children
	RestForOne              // the child that failed, and the children born after it
)

// Strategy says what becomes of actors that fail: by a panic in a step or a hook, or a Throw in a
// notice. The zero Strategy restarts an actor: at once up to 5 times a minute, then after a hold
// (see Restarts). It stops an actor whose start fails. A Strategy must not change once it is in
// use. It may serve many actors.
type Strategy struct {
	// Scope is for which children Decide's answer counts, in a strategy that a parent has for its
	// children. Actors at the top always have OneForOne.
	Scope Scope
	// Decide chooses by the error: a *fault.PanicError, the error that was thrown, or a
	// *fault.StartError. It is called on any worker, several at once, and must not block. If it
	// says Escalate, or Scope is of several, it is called once more, on the parent's worker, and
	// what it says then counts. A panic in it, or runtime.Goexit, is Stop. nil: Stop for a
	// *fault.StartError, otherwise Restart.
	Decide func(err error) Directive
	// Restarts is how many restarts there may be within Window; one more stops the actor.
	// Negative: any number. 0: 5, and one more holds the actor: its instance and its children
	// end, and the next instance is made a second later. Each further failure doubles
	// the hold, up to 30 s, until there was no failure for a Window. In a hold asks and requests
	// of the actor's connections end at once with ErrRestarted, notices wait in the mailbox,
	// and a stop acts at once.
	Restarts int
	// Window is the time in which restarts are counted. 0: a minute.
	Window time.Duration
	// Backoff is the pause between the end of an instance that has failed and the next instance.
	// Each further pause in a row takes twice as long, up to BackoffMax (0: 64 times Backoff).
	// Chance shortens each pause, to half at most. Calls wait meanwhile. After a Window without a
	// failure pauses begin at Backoff again. 0: there is no pause.
	Backoff, BackoffMax time.Duration
}

// Directive returns what becomes of an actor that failed with err: what Decide says, or else the
// default. Resume for an actor that hasn't started is Stop. It panics if Decide does.
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
