package stack

import (
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

var plain = &supervision.Strategy{}

// verdict is a failure and what becomes of it. Strategy.Decide, which may panic or call
// runtime.Goexit, runs in a hook, whose cause is the verdict.
type verdict struct {
	error
	of    *House // the strategy of this actor decides
	child *House // the child of the deciding house that waits for the verdict; nil: none does
	says  supervision.Directive
}

// decide has v decided, in a turn of h: by the default of the strategy or, in a hook, by its
// Decide. The caller calls live afterwards.
func (w *Engine) decide(h *House, v *verdict) {
	s, _ := w.strategy(v.of.life())
	if s.Decide == nil {
		v.says = s.Directive(v.error)
		w.decided(h, v)
		return
	}
	v.says = supervision.Stop // unless the decider returns
	w.runHook(h, decideHandler, roleDecide, 0, v)
}

var decideHandler = newOwnHook("a decider", func(_ *struct{}, s *hookStack) Yield {
	v := s.cause.(*verdict)
	by, _ := s.Engine().strategy(v.of.life())
	v.says = by.Directive(v.error)
	return s.End()
})

// restarts returns the record of restarts, and makes it if there is none.
func (l *life) restarts() *supervision.Record {
	if l.retried == nil {
		l.retried = &supervision.Record{}
	}
	return l.retried
}

// decided does what v says: with the child that it is about, or with the life of h. The caller
// calls live afterwards. The strategy that decided, v.of, is
//
//	that of h, and v.child is nil      h has failed
//	that of v.child                    h is its parent, as it escalated or its siblings are concerned
//	that of h, and v.child is another  which has escalated to h
func (w *Engine) decided(h *House, v *verdict) {
	l := h.life()
	switch s, above := w.strategy(v.of.life()); {
	case v.of != h && v.says == supervision.Escalate && l.Phase() == lifecycle.Up:
		w.decide(h, &verdict{error: v.error, of: h, child: v.child})
		return
	case v.of != h:
		w.decidedGroup(h, l, v, s)
		return
	case v.says == supervision.Resume:
		if v.child != nil {
			w.command(v.child, control{verb: command.Resume})
		}
		l.Resume()
	case above != nil && (v.says == supervision.Escalate || l.own == nil && s.Scope != supervision.OneForOne):
		l.Wait()
		w.command(above, control{verb: command.Failed, who: h, err: v.error})
	case v.says == supervision.Restart:
		w.retry(h, l, s, v.error)
	default:
		l.Stop()
	}
}

// strategy returns the strategy for failures of the actor whose record is l, and its parent; nil:
// it has none.
func (w *Engine) strategy(l *life) (s *supervision.Strategy, parent *House) {
	switch {
	case l.own != nil:
		return l.own, l.parent
	case l.parent != nil:
		if s = l.parent.life().below; s == nil {
			s = plain
		}
		return s, l.parent
	case w.Supervise != nil:
		return w.Supervise, nil
	}
	return plain, nil
}

// retry has h restart, at once or after a pause, or stop if it restarted too often.
func (w *Engine) retry(h *House, l *life, s *supervision.Strategy, err error) {
	delay, yes := l.restarts().Own.Again(s, w.Now, h.serial)
	switch _, start := err.(*fault.StartError); {
	case !yes:
		w.Driver.Failed(h, nil, fmt.Errorf("%s restarted too often and stops: %w", h.Describe(), err))
		l.Stop()
		return
	case delay < 0:
		w.Driver.Failed(h, nil, fmt.Errorf("%s restarted too often and is held for %v: %w", h.Describe(), time.Duration(-delay), err))
	case delay == 0 && start: // by a message, behind what waits: this may go on for ever
		l.Wait()
		w.command(h, control{verb: command.Restart, err: err})
		return
	}
	l.Restart(err, delay)
}

// restart has h begin anew, because of cause, after delay ns.
func (w *Engine) restart(h *House, l *life, cause error, delay int64) {
	l.Restart(cause, delay)
	w.live(h, l)
}

// childFailed decides for a child of h that waits, because it escalated its failure or because the
// strategy is about its siblings too.
func (w *Engine) childFailed(h, child *House, err error) {
	// if h ends, the child stops with its siblings
	if p := h.life().Phase(); p != lifecycle.Stopping && p != lifecycle.Ending {
		w.decide(h, &verdict{error: err, of: child, child: child})
		w.live(h, h.life())
	}
}

// decidedGroup does what v says with its child, a child of h, and with the siblings in the scope of
// s. l is the record of h.
func (w *Engine) decidedGroup(h *House, l *life, v *verdict, s *supervision.Strategy) {
	m := control{verb: command.Stop}
	switch v.says {
	case supervision.Escalate: // the parent isn't up, and can't fail in its place
		w.command(v.child, m)
		return
	case supervision.Resume: // in the child Decide said otherwise; only that child waits
		m.verb = command.Resume
		w.command(v.child, m)
		return
	case supervision.Restart:
		if delay, yes := l.restarts().Group.Again(s, w.Now, h.serial); yes {
			m = control{verb: command.Restart, err: v.error, delay: delay}
		}
	}
	begun := s.Scope == supervision.AllForOne
	for c := l.children.First(); c != nil; c = siblingsOf(c).Next() {
		if begun = begun || c == v.child; begun {
			w.command(c, m)
		}
	}
}
