package stack

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
	"github.com/stackhouse-go/stackhouse/stack/quota"
	"github.com/stackhouse-go/stackhouse/stack/siblings"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// The life of an actor is a lifecycle.Machine. The owner of the house tells it of events: system
// messages, ends of hooks, failures. The effects that it calls for are done here. No code of users
// runs meanwhile: a hook is put where the house takes its next message, see runHook.
//
// An actor without hooks, name, parent, children or failures has no record of its life: it is up
// until it is gone.

// life is the record of an actor's life. It belongs to the owner of the house, except where a
// field says otherwise.
type life struct {
	lifecycle.Machine

	// Written before anybody else knows the house.
	hooks  *Hooks                // nil: none
	own    *supervision.Strategy // for its failures; nil: its parent's below
	below  *supervision.Strategy // for failures of its children; nil: the default
	parent *House                // nil: it stands at the top
	name   string                // the last part of its path; empty: its number is
	quota  *quota.Quota          // of its kind, which it has joined; nil: none
	system bool                  // it stands below /system

	retried  *supervision.Record // its restarts and its children's; nil: none so far
	children siblings.List[House]
	waiters  queue // command.Stop and command.Gone messages, answered when the actor is gone
	watchers []watcher

	siblings siblings.Links[House] // the parent's owner's
}

// live does the effects that the life of h calls for.
func (w *Engine) live(h *House, l *life) {
	for {
		switch l.Next() {
		case lifecycle.None:
			return
		case lifecycle.Refuse:
			h.interrupt(flags.Stopped)
			invariant.Point("end.refused")
			h.withdraw()
		case lifecycle.Hold:
			h.hold(heldByLife)
		case lifecycle.EndTimer:
			w.endQuiet(h)
		case lifecycle.EndStacks:
			w.endQuiet(h)
			if l.Phase() == lifecycle.Ending {
				// stacks of servers' connections are the runtime's, and outlive the instance
				w.endSuspended(h, fault.ErrRestarted, false)
			} else {
				w.endAll(h, fault.ErrStopped)
			}
			w.unstash(h)
		case lifecycle.Recall:
			w.recall(h, h.annex.Load())
		case lifecycle.ReleaseAll:
			w.release(h, h.why)
		case lifecycle.StopChildren:
			w.commandChildren(l, control{verb: command.Stop})
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
			if h.settled() {
				l.Idle()
			}
		case lifecycle.ResumeChildren:
			w.commandChildren(l, control{verb: command.Resume})
		case lifecycle.Decide:
			w.decide(h, &verdict{error: l.Failure(), of: h})
		case lifecycle.Run:
			w.runHook(h, l.handler(), roleLife, l.ToRun(), l.Cause())
		}
	}
}

// handler returns the handler of the hook that is to run.
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

// stop stops the actor of h. Queued calls are ended when visits take them.
func (w *Engine) stop(h *House) {
	invariant.Point("end.stop")
	if l := h.life(); l != nil {
		l.Stop()
		w.live(h, l)
	} else if !h.Gone() { // what live would do after a Stop of the zero Machine
		h.interrupt(flags.Stopped)
		h.withdraw()
		w.endAll(h, fault.ErrStopped)
		w.unstash(h)
		w.release(h, h.why)
		w.bury(h, &life{})
	}
}

// drainAway has h stop once the calls in progress have ended. Queued calls don't begin.
func (w *Engine) drainAway(h *House) {
	if h.Gone() {
		return
	}
	l := h.makeLife()
	l.Drain()
	w.live(h, l)
	w.seen |= flags.Held
}

// drained stops h if it drains and no call is in progress any more.
func (w *Engine) drained(h *House) {
	if l := h.life(); l != nil && l.Drains() && h.settled() {
		l.Idle()
		w.live(h, l)
	}
}

// settled reports whether no call is in progress in h: only mortal stacks, see Handler.Mortal, wait
// for answers.
func (h *House) settled() bool {
	a := h.annex.Load()
	return a == nil || !a.table.Some(func(p *future.Promise) bool { return !stackOf(p.Owner).by.owned.mortal })
}

// lost tells the life of h that child has gone or, if child is nil, that a stack whose end was put
// off has ended.
func (w *Engine) lost(h, child *House) {
	l := h.life()
	if child != nil {
		l.children.Remove(child, siblingsOf)
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

// endSuspended ends, with err, the suspended stacks of h that are connections' own stacks and not
// mortal or, if connections is false, the others. Stacks whose end is put off aren't ended.
func (w *Engine) endSuspended(h *House, err error, connections bool) {
	var begun []*Stack
	h.eachPromise(func(p *future.Promise) {
		s := stackOf(p.Owner)
		if (s.by.kind == nil && !s.by.owned.mortal) != connections || s.mode == waitKept {
			return
		}
		flagJob(p)
		if s.firstWaiting() == p {
			begun = append(begun, s)
		}
	})
	for _, s := range begun {
		if s.pending != 0 { // otherwise the end of a connection has ended it too
			s.err = err
			w.end(h, s)
		}
	}
}

// firstWaiting returns the first promise of s that waits.
func (s *Stack) firstWaiting() (p *future.Promise) {
	for p = s.bound; p != nil && p.State != future.Waiting; p = p.Next {
	}
	return p
}

// makeHandler calls the factory in a restart. It is a hook so that a panic of the factory, or its
// runtime.Goexit, is contained.
var makeHandler = newOwnHook("the factory", func(_ *struct{}, s *hookStack) Yield {
	h := s.to
	p := s.Engine().Driver.Factory(h)()
	if p == nil {
		panic("stack: the factory of an actor returned nil")
	}
	h.setSelf(p)
	return s.End()
})

// bury ends the actor for good, with the stacks of its connections, and then answers or tells all
// that wait for its end or watch it.
func (w *Engine) bury(h *House, l *life) {
	w.endSuspended(h, fault.ErrStopped, true)
	if a := h.annex.Load(); a != nil {
		a.table.Close(&w.Shard)
		a.buried.Store(true)
	}
	h.setSelf(nil)
	l.quota.Leave() // before its name is free, so that the next actor of the name finds room
	if h.Remote() == nil {
		w.Driver.Gone(h)
		w.tellStopped(h.any())
	}
	for s := l.waiters.pop(); s != nil; s = l.waiters.pop() {
		s.err = h.Loss()
		w.home(h, s)
	}
	for _, who := range l.watchers {
		w.tellWatcher(h, who)
	}
	l.watchers = nil
	if l.parent != nil {
		w.command(l.parent, control{verb: command.Left, who: h})
	}
}
