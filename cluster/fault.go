package cluster

import (
	"errors"
	"fmt"
	"sync"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// This file is how errors cross. Those of the runtime have numbers, those of users names; of all
// others the text crosses.

// byCode are the errors of the runtime that cross, by their number in frames: it never changes.
var byCode = [...]error{
	1: core.ErrStopped, 2: core.ErrRestarted, 3: core.ErrTimeout, 4: core.ErrCancelled, 5: core.ErrPanic,
	6: core.ErrOverloaded, 7: core.ErrMailboxFull, 8: core.ErrNoHandler, 9: core.ErrNotFound, 10: core.ErrNotSent,
	11: core.ErrLost, 12: core.ErrUnanswered, 13: core.ErrNoMember, 14: core.ErrBreakerOpen, 15: core.ErrAlreadyExists,
}

// codeOfPanic is the code of core.ErrPanic.
const codeOfPanic = 5

var registered sync.Map // the user's errors by name

// RegisterError has err, a sentinel of a package, cross as itself under a name that all nodes know:
// errors.Is finds it there. Call it once for each, in a variable or an init function.
func RegisterError(name string, err error) error {
	if name == "" || len(name) > frame.NameMax || err == nil {
		panic("cluster: an error without a name")
	}
	if _, taken := registered.LoadOrStore(name, err); taken {
		panic("cluster: two errors have the name " + name)
	}
	return err
}

// failOf returns the frame that says err, of no slot yet, by a code and a name if it has both: who
// writes it chooses.
func failOf(err error) *frame.Fail {
	var f *frame.Fail
	var panicked error
	fault.Catch("a link", "Error", &panicked, func() error {
		f = describe(err)
		return nil
	})
	if panicked != nil {
		f = &frame.Fail{Code: codeOfPanic, Text: []byte("an error that panics")}
	}
	return f
}

// describe calls methods of users' errors.
func describe(err error) *frame.Fail {
	var p *core.PanicError
	if errors.As(err, &p) { // its value stays here, and its trace
		err = fmt.Errorf("%w: %s in %s", core.ErrPanic, p.Actor, p.Step)
	}
	text := err.Error()
	f := &frame.Fail{Text: []byte(text[:min(len(text), frame.TextMax)])}
	if errors.Is(err, core.ErrPanic) { // whatever its value is, too
		f.Code = codeOfPanic
		return f
	}
	registered.Range(func(name, of any) bool { // in any order: the first name counts
		if n := name.(string); (f.Name == nil || n < string(f.Name)) && errors.Is(err, of.(error)) {
			f.Name = []byte(n)
		}
		return true
	})
	for code, of := range byCode { // the first one, or one that is more, as ErrBreakerOpen is
		if of != nil && errors.Is(err, of) && (f.Code == 0 || errors.Is(of, byCode[f.Code])) {
			f.Code = uint64(code)
		}
	}
	return f
}

// RemoteError is an error that came from another node. errors.Is finds what it was there, if that
// is of the runtime, or registered.
type RemoteError struct {
	Text string
	like error // nil: it is none that this node knows
}

// Error implements error.
func (e *RemoteError) Error() string { return e.Text }

// Unwrap returns what the error was at the other node, or nil.
func (e *RemoteError) Unwrap() error { return e.like }

// errorOf returns the error that a frame says.
func errorOf(f *frame.Fail) error {
	e := &RemoteError{Text: string(f.Text)}
	switch {
	case f.Code > 0 && f.Code < uint64(len(byCode)):
		e.like = byCode[f.Code]
	case len(f.Name) > 0:
		if err, ok := registered.Load(string(f.Name)); ok {
			e.like = err.(error)
		}
	}
	if e.like != nil && e.like.Error() == e.Text {
		return e.like
	}
	return e
}
