package stack

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// HookStack is a hook of an actor's life in progress. It may ask and suspend like any
// stack; the futures that it asks into are fields of the actor, which nothing else uses
// meanwhile.
type HookStack struct {
	Stack
	cause error
	role  role
	pause Future[struct{}] // of roleRest
}

// role is what a hook's stack is there for.
type role uint8

const (
	roleStart  role = iota // PreStart or PostRestart
	roleMake               // no hook of the actor's: the factory makes it anew
	roleDelay              // no hook: the pause before that. Up to here it is starting
	roleEnd                // PostStop or PreRestart
	roleDecide             // no hook: a strategy decides, see supervise.go
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

// NewHook makes the handler of a hook, whose name goes into reports.
func NewHook[A any](title string, first func(*A, *HookStack) Yield) *Handler {
	h := newHandler(classHook, first, nil)
	h.title = title
	return h
}

// restHandler lets life.delay pass.
var delayHandler = NewHook("a pause in a restart", func(_ *struct{}, s *HookStack) Yield {
	delay := s.to.life().delay
	s.Alarm(s.pause.Promise(), max(delay, -delay), 0)
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

// runHook begins a hook of h. It runs user code: nothing may be left to do behind it.
func (w *Engine) runHook(h *House, by *Handler, r role, cause error) {
	s := stackOf(w.Shard.Take(by.kind))
	s.to = h
	hook := hookOf(s)
	hook.role, hook.cause = r, cause
	s.used = true
	s.state = running
	w.current, w.by, w.inStep = s, s.by, true
	w.after(h, s, by.first(h.self(), s.self()))
}

// hooked goes on with the life of h behind a hook, whose stack s has ended.
func (w *Engine) hooked(h *House, s *Stack) {
	r, err, cause := hookOf(s).role, s.err, hookOf(s).cause
	if r == roleQuiet {
		q := h.annex.Load().quiet
		q.timer, q.due = nil, 0
		w.Shard.Put(&s.Object)
		return
	}
	if s.threw {
		if _, told := err.(*fault.PanicError); !told {
			w.failed(h, s, fmt.Errorf("%s failed in %s: %w", h.Describe(), s.by.title, err))
		}
	}
	w.Shard.Put(&s.Object)
	l := h.life()
	if r <= roleDelay && l.phase != phaseStarting {
		return // a stop has ended it
	}
	switch r {
	case roleStart:
		w.started(h, l, cause, err)
	case roleMake:
		w.made(h, l, cause, err)
	case roleEnd:
		l.hookDone = true
		w.ended(h, l)
	case roleDrain:
		w.drainAway(h)
	case roleDelay:
		l.delay = 0
		w.runHook(h, makeHandler, roleMake, cause)
	case roleDecide:
		w.decided(h, cause.(*verdict))
	}
}
