package stack

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
)

// HookStack is a hook of an actor's life in progress. It may ask and suspend like any
// stack; the futures that it asks into are fields of the actor, which nothing else uses
// meanwhile.
type HookStack struct {
	Stack
	cause error
	role  role
	at    lifecycle.Hook   // of roleLife
	pause Future[struct{}] // of who waits for the time
}

// role is what a hook's stack is there for.
type role uint8

const (
	roleLife   role = iota // a hook of the actor's life, or what takes the place of one
	roleDecide             // no hook: a strategy decides, see supervise.go
	roleFailed             // no hook: the actor has failed, because of cause
	roleDrain              // no hook: what was queued before it has begun
	roleQuiet              // no hook: it looks whether calls begin, see quiet.go
)

// Return ends the hook.
func (s *HookStack) Return() Yield { return s.finish() }

// Cause returns the failure for which the actor restarts; nil in a start that is
// no restart, and in a stop.
func (s *HookStack) Cause() error { return s.cause }

// Hooks are the ends of an actor's life, by NewHook; nil: it has none of that kind.
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

// NewHook makes the handler of a hook, whose name goes into reports.
func NewHook[A any](title string, first func(*A, *HookStack) Yield) *Handler {
	h := newHandler(classHook, first, nil)
	h.title = title
	return h
}

// pauseHandler lets the delay in a restart pass.
var pauseHandler = NewHook("a pause in a restart", func(_ *struct{}, s *HookStack) Yield {
	s.Alarm(s.pause.Promise(), s.to.life().Delay(), 0)
	return Suspend(s, passed)
})

func passed(_ *struct{}, s *HookStack) Yield { return s.Return() }

// drainHandler stands in the lane of calls behind what is to be handled before a stop.
var drainHandler = newDrain()

func newDrain() *Handler {
	h := NewHook("a stop behind what is queued", passed)
	h.counts = 0 // however full the mailbox is
	return h
}

// Drain has h stop when all calls that were queued before have been handled, and their stacks
// have ended; those behind get ErrStopped. Any goroutine may call it.
func (h *House) Drain(g *Guests) {
	s := g.Begin(h, drainHandler)
	hookOf(s).role, s.used = roleDrain, true
	s.send()
}

// runHook has a hook of h run: it is next of what h handles, whatever waits there.
func (w *Engine) runHook(h *House, by *Handler, r role, at lifecycle.Hook, cause error) {
	w.goesFirst(h, w.newHook(h, by, r, at, cause))
}

// newHook takes the stack of a hook.
func (w *Engine) newHook(h *House, by *Handler, r role, at lifecycle.Hook, cause error) *Stack {
	s := stackOf(w.Shard.Take(by.kind))
	s.to, s.lane, s.used = h, System, true
	hook := hookOf(s)
	hook.role, hook.at, hook.cause = r, at, cause
	return s
}

// goesFirst has h handle a hook next: that it begins, or what follows from its end. So neither happens within what calls for it.
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

// noteFailure has the life of h hear next that the actor failed with err.
func (w *Engine) noteFailure(h *House, err error) {
	s := w.newHook(h, failureHandler, roleFailed, 0, err)
	s.close()
	w.goesFirst(h, s)
}

// failureHandler is that of a failure, whose stack has ended before it begins.
var failureHandler = NewHook("a failure", passed)

// hook begins a hook of h, or goes on behind its end.
func (w *Engine) hook(h *House, s *Stack) {
	if s.state != ended {
		w.enter(h, s, s.by.first)
		return
	}
	role, at, cause, err := hookOf(s).role, hookOf(s).at, hookOf(s).cause, s.err
	if s.threw {
		if _, told := err.(*fault.PanicError); !told {
			w.failed(h, s, fmt.Errorf("%s failed in %s: %w", h.Describe(), s.by.title, err))
		}
	}
	w.Shard.Put(&s.Object)
	switch role {
	case roleLife:
		h.life().Ended(at, err)
	case roleDecide:
		w.decided(h, cause.(*verdict))
	case roleFailed:
		if h.Gone() {
			return
		}
		h.makeLife().Fail(cause)
	case roleDrain:
		w.drainAway(h)
		return
	}
	w.live(h, h.life())
}
