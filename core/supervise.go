package core

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// Strategy says what becomes of actors that fail: [supervision.Strategy] has its fields. The zero
// Strategy restarts them, after a hold (see Strategy.Restarts) if they fail more than 5 times a
// minute, and stops those whose start fails.
type Strategy = supervision.Strategy

// StartError is the failure of a start hook.
type StartError = fault.StartError

// Directive says what becomes of an actor that failed.
type Directive = supervision.Directive

// The directives.
const (
	Restart  = supervision.Restart  // end the instance and make a new one; queued messages stay
	Resume   = supervision.Resume   // only the stack that failed ends
	Stop     = supervision.Stop     // stop the actor
	Escalate = supervision.Escalate // make it a failure of the parent; at the top, stop the actor
)

// The scopes of a strategy.
const (
	OneForOne  = supervision.OneForOne  // the child that failed
	AllForOne  = supervision.AllForOne  // all children
	RestForOne = supervision.RestForOne // the child that failed, and those born after it
)

// Case is one rule of a decider: it returns a directive for err, and whether it applies. See
// Decide.
type Case func(err error) (Directive, bool)

// Decide returns a function for Strategy.Decide: the first case that applies decides, and if none
// does, otherwise is the directive.
func Decide(otherwise Directive, cases ...Case) func(error) Directive {
	return func(err error) Directive {
		for _, c := range cases {
			if d, holds := c(err); holds {
				return d
			}
		}
		return otherwise
	}
}

// OnIs returns the case that applies if errors.Is(err, target).
func OnIs(target error, d Directive) Case {
	return func(err error) (Directive, bool) { return d, errors.Is(err, target) }
}

// OnAs returns the case that applies if errors.As finds an E in err.
func OnAs[E error](d Directive) Case {
	return func(err error) (Directive, bool) {
		var e E
		return d, errors.As(err, &e)
	}
}
