package stack

import (
	"reflect"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// The life of an actor is a lifecycle.Machine, to which the owner of its house tells what
// happens: by system messages, by the ends of hooks, by failures. What the machine calls for is
// done here. No code of users runs in it: a hook is put where the house takes its next message,
// see runHook.
//
// An actor without hooks, name, parent, children or failures has no record of its life: it is up
// until it is gone.

// life is the record. But for what says otherwise it belongs to the owner of the house.
type life struct {
	lifecycle.Machine

	// Written before anybody else knows the house.
	hooks  *Hooks                // nil: none
	own    *supervision.Strategy // what becomes of its failures; nil: what its parent says
	below  *supervision.Strategy // what becomes of its children's; nil: the default
	parent *House                // nil: it stands at the top
	name   string                // the last part of its path; empty: by its number
	living *atomic.Int64         // one less when it has gone; nil: nobody counts
	system bool                  // it stands below /system
	of     reflect.Type

	retried *retried // nil: it hasn't been
	// of its children, in the order of their birth; linked by next and prev of their lives
	first    *House
	last     *House
	waiters  queue // stops, and questions when it has gone: answered when it has
	watchers []watcher

	// Written by the parent's owner.
	next, prev *House
}

// live does what the life of h calls for.
func (w *Engine) live(h *House, l *life) {
	for {
		switch l.Next() {
		case lifecycle.None:
			return
		case lifecycle.Refuse:
			h.interrupt(flags.Stopped)
			h.withdraw()
		case lifecycle.Hold:
			h.hold(heldByLife)
		case lifecycle.EndTimer:
			w.endQuiet(h)
		case lifecycle.EndStacks:
			w.endQuiet(h)
			if l.Phase() == lifecycle.Ending {
				// connections are the runtime's, and outlive the instance
				w.endSuspended(h, fault.ErrRestarted, false)
			} else {
				w.endAll(h, fault.ErrStopped)
			}
		case lifecycle.Unstash:
			w.unstash(h)
		case lifecycle.Recall:
			w.recall(h, h.annex.Load())
		case lifecycle.ReleaseAll:
			w.release(h, h.why)
		case lifecycle.StopChildren:
			w.commandChildren(l, control{verb: verbStop})
		case lifecycle.EndConnections:
			w.endAll(h, fault.ErrStopped)
		case lifecycle.Bury:
			w.bury(h, l)
		case lifecycle.Forget:
			w.forgetQuiet(h)
		case lifecycle.CountRestart:
			w.Count.Add(count.Restarts, 1)
		case lifecycle.TellRestarted:
			w.tellRestarted(h, l.Cause())
		case lifecycle.TellStarted:
			w.tellStarted(h)
		case lifecycle.Release:
			w.release(h, heldByLife)
		case lifecycle.CountIdle:
			w.countIdle(h)
		case lifecycle.LookIdle:
			if h.Waiting() == 0 {
				l.Idle()
			}
		case lifecycle.ResumeChildren:
			w.commandChildren(l, control{verb: verbResume})
		case lifecycle.Decide:
			w.decide(h, &verdict{error: l.Failure(), of: h})
		case lifecycle.Run:
			w.runHook(h, l.handler(), roleLife, l.ToRun(), l.Cause())
		}
	}
}

// handler returns that of the hook which is to run.
func (l *life) handler() *Handler {
	switch l.ToRun() {
	case lifecycle.PreStart:
		return l.hooks.PreStart
	case lifecycle.PostRestart:
		return l.hooks.PostRestart
	case lifecycle.Pause:
		return pauseHandler
	case lifecycle.Make:
		return makeHandler
	case lifecycle.PreRestart:
		return l.hooks.PreRestart
	}
	return l.hooks.PostStop
}

// stop stops h. What is queued is answered as it is taken.
func (w *Engine) stop(h *House) {
	l := h.life()
	if l == nil {
		if h.Gone() {
			return
		}
		l = &life{} // without a record there is nothing to end but stacks
	}
	invariant.Point("end.stop")
	l.Stop()
	w.live(h, l)
}

// drainAway has h stop once what has begun has ended: what is queued behind doesn't begin.
func (w *Engine) drainAway(h *House) {
	if h.Gone() {
		return
	}
	l := h.makeLife()
	l.Drain()
	w.live(h, l)
	w.seen |= flags.Held
}

// drained stops h, which holds its calls, if that is what it waits for.
func (w *Engine) drained(h *House) {
	if l := h.life(); l != nil && l.Drains() && h.Waiting() == 0 {
		l.Idle()
		w.live(h, l)
	}
}

// lost goes on when a child has gone, or, nil, a stack that was kept.
func (w *Engine) lost(h, child *House) {
	l := h.life()
	if child != nil {
		l.unlink(child)
		l.Lose()
	} else {
		l.Let()
	}
	w.live(h, l)
}

// endAll ends the suspended stacks of h.
func (w *Engine) endAll(h *House, err error) {
	w.endSuspended(h, err, false)
	w.endSuspended(h, err, true)
}

// endSuspended ends the suspended stacks of h that are its connections', or those that aren't.
func (w *Engine) endSuspended(h *House, err error, connections bool) {
	var begun []*Stack
	h.eachPromise(func(p *future.Promise) {
		s := stackOf(p.Owner)
		if (s.by.kind == nil) != connections || s.mode == waitKept {
			return
		}
		flagJob(p)
		if s.firstWaiting() == p {
			begun = append(begun, s)
		}
	})
	for _, s := range begun {
		if s.pending != 0 { // a connection's end may be another's too
			s.err = err
			w.end(h, s)
		}
	}
}

// firstWaiting returns one of the promises for which s waits.
func (s *Stack) firstWaiting() *future.Promise {
	p := s.bound
	for p != nil && p.State != future.Waiting {
		p = p.Next
	}
	return p
}

// makeHandler is the factory of a restart as a hook, which contains a panic, and runtime.Goexit.
var makeHandler = newOwnHook("the factory", func(_ *struct{}, s *hookStack) Yield {
	h := s.to
	p := s.Engine().Driver.Factory(h)()
	if p == nil {
		panic("stack: the factory of an actor returned nil")
	}
	h.setSelf(p)
	return s.End()
})

// leave has one less be counted.
func (l *life) leave() {
	if l.living != nil {
		l.living.Add(-1)
	}
}

// bury is the end. Who waits for it or watches hears of it when all is released.
func (w *Engine) bury(h *House, l *life) {
	if a := h.annex.Load(); a != nil {
		a.table.Close(&w.Shard)
		a.buried.Store(true)
	}
	h.setSelf(nil)
	l.leave() // before its name is free: who spawns the next one finds room
	w.Driver.Gone(h)
	w.tellStopped(h.any())
	for s := l.waiters.pop(); s != nil; s = l.waiters.pop() {
		w.home(h, s)
	}
	w.tellWatchers(h, l)
	if l.parent != nil {
		w.command(l.parent, control{verb: verbLeft, who: h})
	}
}
