package stack

import (
	"runtime/debug"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// This file is how a visit ends in which the code of a user panics, or calls runtime.Goexit.

// contain is deferred around visits: it ends the stack whose step panicked, and
// the visit. A panic of the runtime itself goes on.
func (w *Engine) contain() {
	if !w.inStep {
		return // no panic, or none of user code: it passes
	}
	w.inStep = false
	value := recover()
	if value == nil {
		value = "runtime.Goexit was called" // it goes on: the driver needs another goroutine
	}
	w.contained(value)
}

// contained ends the stack and the visit. A hook runs before that has ended, and may panic in its
// turn.
func (w *Engine) contained(value any) {
	defer w.contain()
	h := w.house
	w.fail(h, w.current, value)
	w.leave(h)
}

// fail ends s because user code panicked with value.
//
//go:noinline
func (w *Engine) fail(h *House, s *Stack, value any) {
	s.close()
	if w.onward != nil {
		w.dropOnward()
	}
	s.err = &fault.PanicError{Actor: h.Describe(), Step: s.StepName(), Value: value, Trace: debug.Stack()}
	w.failed(h, s, s.err)
	err, blamed := s.err, h.blamedFor(s)
	w.end(h, s)
	if blamed {
		w.noteFailure(h, err)
	}
}

// blamedFor reports whether a panic in s is a failure of the actor: not in a hook, which says
// what its own means, nor in the stack of a connection, which is no step of the actor. In a
// request of a connection it is the result of that alone, as strangers send those, unless the
// actor has a strategy of its own.
func (h *House) blamedFor(s *Stack) bool {
	switch {
	case s.by.class == classHook || s.by.kind == nil:
		return false
	case s.by.class == classOwned:
		l := h.life()
		return l != nil && l.own != nil
	}
	return true
}
