package core

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// Strategy says what becomes of actors that fail: see supervision.Strategy. The zero Strategy
// restarts them, behind a hold if they fail more than 5 times a minute, and stops those whose
// start fails.
type Strategy = supervision.Strategy

// StartError is the failure of a start hook.
type StartError = fault.StartError

// Directive says what becomes of an actor that failed.
type Directive = supervision.Directive

// The directives.
const (
	Restart  = supervision.Restart  // end its instance and make a new one; what is queued stays
	Resume   = supervision.Resume   // only the stack that failed ends
	Stop     = supervision.Stop     // stop it
	Escalate = supervision.Escalate // make it a failure of its parent
)

// The scopes of a strategy.
const (
	OneForOne  = supervision.OneForOne  // the child that failed
	AllForOne  = supervision.AllForOne  // all children
	RestForOne = supervision.RestForOne // the child that failed, and those born after it
)

// Case is one line of a decider: see Decide.
type Case func(err error) (Directive, bool)

// Decide returns a decider that goes by the first case that holds, and else says otherwise.
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

// OnIs is the case of an error that is target, by errors.Is.
func OnIs(target error, d Directive) Case {
	return func(err error) (Directive, bool) { return d, errors.Is(err, target) }
}

// OnAs is the case of an error that is an E, by errors.As.
func OnAs[E error](d Directive) Case {
	return func(err error) (Directive, bool) {
		var e E
		return d, errors.As(err, &e)
	}
}
