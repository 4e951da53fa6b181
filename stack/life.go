package stack

import (
	"reflect"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// This file is the life of an actor. It is a machine that the owner of the house drives, in
// visits, by system messages and by the ends of hooks. A house is
//
//	up        it handles calls. Leaves by a failure (the supervisor's directive: resume stays here, restart
//	          -> ending or failed, stop -> stopping, escalate -> failed) and by a stop -> stopping
//	starting  PreStart or PostRestart runs, or waits for an answer, in a restart behind the pause and the factory;
//	          calls are held. Its end leads to up, its failure to the supervisor. A stop -> stopping: what waits
//	          isn't resumed, and PostStop runs as behind a failure, if there is an instance
//	failed    the actor waits for its supervisor's word: calls are held. Leaves by restart -> ending, resume -> up,
//	          stop -> stopping
//	ending    an instance ends, to be made anew: its stacks have ended with ErrRestarted, or do so when the jobs
//	          are home that they keep; its children stop, then PreRestart (or PostStop) runs. Then starting. A stop -> stopping
//	stopping  the same for good: its stacks have ended with ErrStopped, flagStopped is set, calls are answered
//	          with that as they are taken; its children stop, then PostStop runs. Then gone
//	gone      nothing leads out of it
//
// An actor without hooks, name, parent, children or failures has no record of its life: it is up
// until it is gone.
type phase uint8

const (
	phaseUp phase = iota
	phaseStarting
	phaseFailed
	phaseEnding
	phaseStopping
	phaseGone
)

// life is the record. But for what says otherwise it belongs to the owner of the house.
type life struct {
	// Written before anybody else knows the house.
	hooks  *Hooks                // nil: none
	own    *supervision.Strategy // what becomes of its failures; nil: what its parent says
	below  *supervision.Strategy // what becomes of its children's; nil: the default
	parent *House                // nil: it stands at the top
	name   string                // the last part of its path; empty: by its number
	system bool                  // it stands below /system
	of     reflect.Type

	phase     phase
	unborn    bool     // there is no instance yet, or its start hook is to come: it has no end
	announced bool     // that it has started; without a start hook its spawner says so
	atEnd     bool     // the end hook of this instance has begun
	hookDone  bool     // and ended
	cause     error    // of the restart under way
	delay     int64    // the pause in it that is to come, or passes, ns. Negative: so long, and asks end with ErrRestarted until it has passed
	drains    bool     // it stops once no stack is in progress any more
	kept      int32    // stacks whose end is put off, see keepOn
	retried   *retried // nil: it hasn't been
	first     *House   // of its children, in the order of their birth; linked by next and prev of their lives
	last      *House
	waiters   queue // stops, answered when it has stopped
	watchers  []watcher

	// Written by the parent's owner.
	next, prev *House
}

// life returns the record; nil: there is none, and the actor is up or gone. Any goroutine may ask.
func (h *House) life() *life {
	if a := h.annex.Load(); a != nil {
		return a.life.Load()
	}
	return nil
}

// makeLife returns the record, and makes it if there is none. Only the owner calls it, or who knows
// the house alone.
func (h *House) makeLife() *life {
	a := h.rooms()
	if a.life.Load() == nil {
		a.life.Store(&life{})
	}
	return a.life.Load()
}

// start is the transition up -> starting of a new actor that has a hook. One that passivates by time
// begins to count.
func (w *Engine) start(h *House) {
	l := h.life()
	if l.phase != phaseUp || h.Gone() || h.Starts() && !l.unborn {
		return // perhaps it was restarted before it had started
	}
	if !h.Starts() {
		w.begun(h)
		return
	}
	l.phase, l.unborn = phaseStarting, false
	w.runHook(h, l.hooks.PreStart, roleStart, nil)
}

// started is the transition out of starting, behind the hook: that of a restart because of cause, if
// that isn't nil.
func (w *Engine) started(h *House, l *life, cause, err error) {
	l.phase = phaseUp
	switch {
	case err != nil:
		w.supervise(h, &fault.StartError{Err: err})
	case l.drains: // it had begun to when it failed
		w.stop(h)
	default:
		if cause != nil && (l.announced || !h.Starts()) {
			w.tellRestarted(h, cause)
		} else {
			w.tellStarted(h)
		}
		l.announced = true
		w.release(h, heldByLife)
		w.begun(h)
	}
}

// restart is the transition -> ending: the instance failed with cause, and there is a pause before the next; see life.delay.
func (w *Engine) restart(h *House, l *life, cause error, delay int64) {
	l.phase, l.cause, l.delay = phaseEnding, cause, delay
	h.hold(heldByLife)
	w.endBegun(h)
	w.unstash(h)
	if delay < 0 {
		w.recall(h, h.annex.Load()) // asks among what is held don't wait any more
	}
	w.closing(h, l)
}

// stop is the transition -> stopping. An actor without a record is gone at once. What is queued is
// answered as it is taken.
func (w *Engine) stop(h *House) {
	l := h.life()
	if l != nil && l.phase >= phaseStopping {
		return
	}
	invariant.Point("end.stop")
	h.interrupt(flagStopped)
	h.withdraw()
	closes := l != nil && l.phase == phaseEnding // its instance is on its way out
	if l != nil {
		l.phase, l.cause, l.delay = phaseStopping, nil, 0
	}
	if !closes {
		w.endAll(h, fault.ErrStopped)
	}
	if a := h.annex.Load(); a != nil {
		w.unstash(h)
		w.release(h, h.why)
	}
	if l == nil {
		w.bury(h)
	} else if !closes {
		w.closing(h, l)
	}
}

// drainAway has h stop once what has begun has ended: what is queued behind doesn't begin.
func (w *Engine) drainAway(h *House) {
	if h.Gone() {
		return
	}
	h.makeLife().drains = true
	w.endQuiet(h)
	h.hold(heldByLife)
	w.seen |= flagHeld
}

// drained stops h, which holds its calls, if that is what it waits for.
func (w *Engine) drained(h *House) {
	if l := h.life(); l != nil && l.drains && l.phase == phaseUp && h.Waiting() == 0 {
		w.stop(h)
	}
}

// endAll ends the suspended stacks of h.
func (w *Engine) endAll(h *House, err error) {
	w.endSuspended(h, err, false)
	w.endSuspended(h, err, true)
}

// endBegun ends the suspended stacks of h with ErrRestarted, but for those of its connections, which
// are the runtime's: they outlive the instance.
func (w *Engine) endBegun(h *House) { w.endSuspended(h, fault.ErrRestarted, false) }

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

// waits reports whether something of the actor is to end before its end hook runs.
func (l *life) waits() bool { return l.first != nil || l.kept > 0 }

// closing has the children stop, then the end hook run.
func (w *Engine) closing(h *House, l *life) {
	l.atEnd, l.hookDone = false, false
	if !l.waits() {
		w.endInstance(h, l)
		return
	}
	w.stopChildren(l)
}

func (w *Engine) stopChildren(l *life) {
	for c := l.first; c != nil; c = c.life().next {
		w.command(c, control{verb: verbStop})
	}
}

// left goes on when a child has gone, or, nil, a stack that was kept.
func (w *Engine) left(h, child *House) {
	l := h.life()
	if child != nil {
		l.unlink(child)
	} else {
		l.kept--
	}
	if l.waits() || l.phase != phaseEnding && l.phase != phaseStopping {
		return
	}
	if !l.atEnd {
		w.endInstance(h, l)
	} else if l.hookDone {
		w.ended(h, l)
	}
}

// endInstance runs the end hook of the instance.
func (w *Engine) endInstance(h *House, l *life) {
	l.atEnd = true
	by := (*Handler)(nil)
	if l.hooks != nil && !l.unborn {
		if by = l.hooks.PostStop; l.phase == phaseEnding && l.hooks.PreRestart != nil {
			by = l.hooks.PreRestart
		}
	}
	if by == nil {
		l.hookDone = true
		w.ended(h, l)
		return
	}
	w.runHook(h, by, roleEnd, l.cause)
}

// ended is the transition out of ending and stopping, once the end hook has ended and no child is left.
func (w *Engine) ended(h *House, l *life) {
	if l.first != nil { // born in the hook
		w.stopChildren(l)
		return
	}
	if l.phase == phaseStopping {
		w.endAll(h, fault.ErrStopped) // of a stop that came while a restart ended the instance: connections, a timer
		w.bury(h)
		return
	}
	cause := l.cause
	l.phase, l.cause, l.unborn = phaseStarting, nil, true
	w.forgetQuiet(h)
	if l.delay != 0 {
		w.runHook(h, delayHandler, roleDelay, cause)
		return
	}
	w.runHook(h, makeHandler, roleMake, cause)
}

// makeHandler is the factory of a restart as a hook, which contains a panic, and runtime.Goexit.
var makeHandler = NewHook("the factory", func(_ *struct{}, s *HookStack) Yield {
	h := s.to
	p := s.Engine().Driver.Factory(h)()
	if p == nil {
		panic("stack: the factory of an actor returned nil")
	}
	h.setSelf(p)
	return s.Return()
})

// made runs the start hook of the instance that the factory has made, or goes on without one.
func (w *Engine) made(h *House, l *life, cause, err error) {
	if err != nil {
		w.started(h, l, cause, err)
		return
	}
	l.unborn = false
	w.Count.Add(CountRestarts, 1)
	var by *Handler
	if l.hooks != nil {
		if by = l.hooks.PostRestart; by == nil {
			by = l.hooks.PreStart
		}
	}
	if by == nil {
		w.started(h, l, cause, nil)
		return
	}
	w.runHook(h, by, roleStart, cause)
}

// bury is the end. Who waits for it or watches hears of it when all is released.
func (w *Engine) bury(h *House) {
	a := h.annex.Load()
	if a != nil {
		a.table.Close(&w.Shard)
		a.buried.Store(true)
	}
	h.setSelf(nil)
	w.Driver.Gone(h)
	w.tellStopped(h.any())
	l := h.life()
	if l == nil {
		return
	}
	l.phase = phaseGone
	for s := l.waiters.pop(); s != nil; s = l.waiters.pop() {
		w.home(h, s)
	}
	w.tellWatchers(h, l)
	if l.parent != nil {
		w.command(l.parent, control{verb: verbLeft, who: h})
	}
}
