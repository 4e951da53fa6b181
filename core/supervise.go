package core

import (
	"errors"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Strategy says what becomes of actors that fail: see stack.Strategy. The zero Strategy restarts them, behind a hold if they
// fail more than 5 times a minute, and stops those whose start fails.
type Strategy = stack.Strategy

// StartError is the failure of a start hook.
type StartError = stack.StartError

// Directive says what becomes of an actor that failed.
type Directive = stack.Directive

// The directives.
const (
	Restart  = stack.Restart  // end its instance and make a new one; what is queued stays
	Resume   = stack.Resume   // only the stack that failed ends
	Stop     = stack.Stop     // stop it
	Escalate = stack.Escalate // make it a failure of its parent
)

// The scopes of a strategy.
const (
	OneForOne  = stack.OneForOne  // the child that failed
	AllForOne  = stack.AllForOne  // all children
	RestForOne = stack.RestForOne // the child that failed, and those born after it
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
