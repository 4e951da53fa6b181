package stack

import "github.com/stackhouse-go/stackhouse/stack/lifecycle"

// hookStack is a hook of an actor's life in progress, laid out as core.HookStack is.
type hookStack struct {
	Stack
	HookState
}

// HookState is what the runtime knows of a hook. It stands right behind the Head.
type HookState struct {
	cause error
	role  role
	at    lifecycle.Hook   // which hook, with roleLife
	pause Future[struct{}] // with lifecycle.Pause: the timer
}

// Cause returns the failure for which the hook's actor restarts; nil in a start that is no
// restart, and in a stop.
func (s *HookState) Cause() error { return s.cause }

// role is what a hook's stack is there for.
type role uint8

const (
	roleLife   role = iota // a hook of the actor's life, or what takes the place of one
	roleDecide             // no hook: a strategy decides, see life_supervise.go
	roleFailed             // no hook: the actor has failed, because of cause
	roleDrain              // no hook: the calls queued before it have begun; the actor drains
	roleRetire             // as roleDrain, for an actor that stops by itself
)

// Hooks are the hooks of an actor's life, made by NewHook; nil: it has none of that kind.
type Hooks struct {
	PreStart, PostStop, PreRestart, PostRestart *Handler
}

// kinds returns which hooks there are.
func (hs *Hooks) kinds() (kinds lifecycle.Hooks) {
	if hs == nil {
		return kinds
	}
	return kinds.With(lifecycle.PreStart, hs.PreStart != nil).With(lifecycle.PostStop, hs.PostStop != nil).
		With(lifecycle.PreRestart, hs.PreRestart != nil).With(lifecycle.PostRestart, hs.PostRestart != nil)
}

// NewHook makes the handler of a hook, a core.HookStack, whose name goes into reports.
func NewHook(title string, first Entry) *Handler {
	h := first.handler(classHook, nil, nil)
	h.Title = title
	return h
}

// newOwnHook makes the handler of a hook that no user sees.
func newOwnHook(title string, first func(*struct{}, *hookStack) Yield) *Handler {
	return NewHook(title, EntryOf(first))
}

func passed(_ *struct{}, s *hookStack) Yield { return s.End() }

// newHook takes a stack for a hook of h, handled by by.
func (w *Engine) newHook(h *House, by *Handler, r role, at lifecycle.Hook, cause error) *Stack {
	s := stackOf(w.Shard.Take(by.kind))
	s.to, s.lane, s.used = h, System, true
	hook := hookOf(s)
	hook.role, hook.at, hook.cause = r, at, cause
	return s
}

// goesFirst puts the hook s first in the house: its beginning or, if it has ended, what follows
// from its end is handled next. So neither runs inside the code that calls for it.
func (w *Engine) goesFirst(h *House, s *Stack) {
	h.system.pushFirst(s)
	h.ahead = true
	w.makeReady(h)
}

// hookFirst reports whether what h handles next is a hook.
func (h *House) hookFirst() bool {
	last := h.system.last
	return last != nil && last.next.by.class == classHook
}

// noteFailure puts the failure err first in the house, so that the actor's life is told of it next.
func (w *Engine) noteFailure(h *House, err error) {
	s := w.newHook(h, failureHandler, roleFailed, 0, err)
	s.close()
	w.goesFirst(h, s)
}

// failureHandler is the handler of roleFailed. Its stack has ended before the house takes it, so no
// step runs.
var failureHandler = newOwnHook("a failure", passed)
