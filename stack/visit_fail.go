package stack

import (
	"runtime/debug"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// This file is how a visit ends if code of a user panics or calls runtime.Goexit in it.

// contain is deferred around visits: it ends the stack whose step panicked, and
// the visit. A panic of the runtime itself goes on.
func (w *Engine) contain() {
	if !w.inStep {
		return // there is no panic, or it isn't user code's and goes on
	}
	w.inStep = false
	value := recover()
	if value == nil {
		value = "runtime.Goexit was called" // it ends the goroutine: the driver needs another one
	}
	w.contained(value)
}

// contained ends the stack whose step panicked, and the visit. Before the visit has ended a hook
// may run, which may panic too.
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

// blamedFor reports whether a panic in s is a failure of the actor. It isn't in a hook, as the life
// is told of the hook's end anyway, nor in a connection's own stack, whose steps aren't the
// actor's. A panic in a request of a connection only ends that request, because strangers send
// those, unless the actor has a strategy of its own.
func (h *House) blamedFor(s *Stack) bool {
	if s.by.class == classOwned && s.by.kind != nil { // a request of a connection
		l := h.life()
		return l != nil && l.own != nil
	}
	return s.by.class != classHook && s.by.kind != nil
}
