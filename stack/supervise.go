package stack

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Directive says what becomes of an actor that failed.
type Directive uint8

const (
	// Restart ends its instance, all whose stacks get ErrRestarted, and makes a new one by its
	// factory. What is queued stays.
	Restart Directive = iota
	// Resume lets it go on with the state that it has: only the stack that failed ends.
	Resume
	// Stop stops it.
	Stop
	// Escalate makes it a failure of its parent; at the top of the tree it is Stop.
	Escalate
)

// String returns the directive's name.
func (d Directive) String() string {
	return [...]string{"restart", "resume", "stop", "escalate"}[d]
}

// Scope says whom a directive is about.
type Scope uint8

const (
	OneForOne  Scope = iota // the child that failed
	AllForOne               // all children
	RestForOne              // the child that failed, and those born after it
)

// Strategy says what becomes of actors that fail: by a panic in a step or a hook, or a Throw in a
// notice. The zero Strategy restarts, at once 5 times a minute, then behind a hold (see Restarts), and stops an actor
// whose start fails. It must not change once it is in use, and may serve many actors.
type Strategy struct {
	// Scope is for whom Decide's answer counts. It works for a strategy that a parent
	// has for its children; at the top it is OneForOne.
	Scope Scope
	// Decide chooses by the error: a *PanicError, what was thrown, or a *StartError. It is called
	// on any worker, several at once, and must not block. If it panics, or calls runtime.Goexit, that is Stop. nil: Stop for a *StartError,
	// else Restart.
	Decide func(err error) Directive
	// Restarts is how many restarts there may be within Window, ns; one more stops the actor. Negative: any number.
	// 0: 5, and one more holds the actor: its instance and its children have ended, and the next instance is made a
	// second later. Each further failure doubles that, up to 30 s, until there was none for a Window. In a hold asks end
	// at once with ErrRestarted, and so do requests of the actor's connections; notices wait in the mailbox, and a stop
	// acts at once.
	Restarts int
	// Window is a time in ns. 0: a minute.
	Window int64
	// Backoff is the pause between the end of the first instance that fails and the next, in ns; each further one in a
	// row takes twice as long, up to BackoffMax (0: 64 times Backoff), half of it by chance. Calls wait meanwhile. A
	// pause longer than Window between two failures begins at Backoff again. 0: none.
	Backoff, BackoffMax int64
}

const (
	restartsDefault = 5
	windowDefault   = 60e9
	// holdFirst and holdMax are the shortest and the longest hold, ns: what is down for a moment is back, and what is
	// down for good costs a start each half minute.
	holdFirst, holdMax = 1e9, 30e9
)

// StartError is the failure of a start hook.
type StartError struct{ Err error }

// Error returns what the hook threw, and that it was one.
func (e *StartError) Error() string { return fmt.Sprintf("stackhouse: start failed: %v", e.Err) }

// Unwrap returns what the hook threw.
func (e *StartError) Unwrap() error { return e.Err }

var plain = &Strategy{}

// verdict is what becomes of a failure. It is the cause of the hook in which a decider runs, as that may panic, and call
// runtime.Goexit.
type verdict struct {
	error
	of    *House // whose strategy decides
	child *House // that waits for it; nil: nobody does
	says  Directive
}

// decide has v decided, in a turn of h. It may run user code: nothing may be left to do behind it.
func (w *Worker) decide(h *House, v *verdict) {
	s, _ := w.strategy(v.of.life())
	if _, start := v.error.(*StartError); start || s.Decide != nil {
		v.says = Stop // also if the decider panics
	}
	if s.Decide == nil {
		w.decided(h, v)
		return
	}
	w.runHook(h, decideHandler, roleDecide, v)
}

var decideHandler = NewHook("a decider", func(_ *struct{}, s *HookStack) Yield {
	v := s.cause.(*verdict)
	by, _ := s.Worker().strategy(v.of.life())
	_, start := v.error.(*StartError)
	if d := by.Decide(v.error); d <= Escalate && !(start && d == Resume) { // what has not started can't go on
		v.says = d
	}
	return s.Return()
})

// retried is what restarts there were.
type retried struct {
	own   tries // of the actor
	group tries // of its children together
}

// restarts returns the record of restarts, and makes it if there is none.
func (l *life) restarts() *retried {
	if l.retried == nil {
		l.retried = &retried{}
	}
	return l.retried
}

// tries is the restarts of late.
type tries struct {
	at   []int64 // when, within the window
	row  int     // without a pause of a window between them
	hold int64   // before the last of these, ns
}

// again reports whether there may be one more restart now, and the delay in it, ns, negative for a hold: see life. The luck
// is a number from 0 to 1.
func (t *tries) again(s *Strategy, now int64, luck float64) (delay int64, yes bool) {
	limit, window := s.Restarts, s.Window
	if limit == 0 {
		limit = restartsDefault
	}
	if window <= 0 {
		window = windowDefault
	}
	if n := len(t.at); n > 0 && now-t.at[n-1]-t.hold > window { // a hold is no time without a failure
		t.row, t.hold = 0, 0
	}
	t.at = slices.DeleteFunc(t.at, func(at int64) bool { return now-at >= window })
	tooOften := limit > 0 && len(t.at) >= limit
	if tooOften && s.Restarts > 0 {
		return 0, false
	}
	if limit < 0 {
		t.at = t.at[:0] // the last one is enough
	}
	t.at = append(t.at, now)
	delay = s.pause(t.row, luck)
	t.row++
	if tooOften || t.hold > 0 {
		t.hold = min(max(holdFirst, 2*t.hold), holdMax)
		delay = -max(delay, t.hold)
	}
	return delay, true
}

// pause returns the delay before the n-th restart in a row, ns.
func (s *Strategy) pause(n int, luck float64) int64 {
	if s.Backoff <= 0 {
		return 0
	}
	limit := s.BackoffMax
	if limit <= 0 {
		limit = 64 * s.Backoff
	}
	full := math.Min(float64(limit), float64(s.Backoff)*math.Pow(2, float64(n)))
	return int64(full/2 + full/2*luck)
}

// supervise decides what becomes of h, which failed with err. It may run user code: nothing may be
// left to do behind it.
func (w *Worker) supervise(h *House, err error) {
	if l := h.record(); l.phase == phaseUp && !h.Gone() { // otherwise it ends, or starts, already
		w.decide(h, &verdict{error: err, of: h})
	}
}

// decided does what v says, of h or of its child. It may run user code, as supervise.
func (w *Worker) decided(h *House, v *verdict) {
	l := h.life()
	switch s, above := w.strategy(v.of.life()); {
	case v.of != h && v.says == Escalate && l.phase == phaseUp:
		w.decide(h, &verdict{error: v.error, of: h, child: v.child})
	case v.of != h:
		w.decidedGroup(h, l, v, s)
	case v.says == Resume:
		if v.child != nil {
			w.command(v.child, control{verb: verbResume})
		}
	case above != nil && (v.says == Escalate || l.own == nil && s.Scope != OneForOne):
		l.phase = phaseFailed
		h.hold(heldByLife)
		w.command(above, control{verb: verbFailed, who: h, err: v.error})
	case v.says == Restart:
		w.retry(h, l, s, v.error)
	default:
		w.stop(h)
	}
}

// strategy returns the strategy that counts for who has the record, and, if that is its parent's,
// the parent.
func (w *Worker) strategy(l *life) (s *Strategy, parent *House) {
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

// retry restarts h, at once or behind a pause, or stops it if it did so too often.
func (w *Worker) retry(h *House, l *life, s *Strategy, err error) {
	t := &l.restarts().own
	delay, yes := t.again(s, w.Now, luck(h.serial, t.row))
	switch _, start := err.(*StartError); {
	case !yes:
		w.Driver.Failed(h, nil, fmt.Errorf("%s restarted too often and stops: %w", h.Describe(), err))
		w.stop(h)
		return
	case delay < 0:
		w.Driver.Failed(h, nil, fmt.Errorf("%s restarted too often and is held for %v: %w", h.Describe(), time.Duration(-delay), err))
	case delay == 0 && start: // in a turn of its own: it may go on for ever
		l.phase = phaseFailed
		w.command(h, control{verb: verbRestart, err: err})
		return
	}
	w.restart(h, l, err, delay)
}

// luck is a number from 0 to 1 that differs between actors and restarts: by splitmix64.
func luck(serial uint64, n int) float64 {
	z := (serial<<8 + uint64(n) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// childFailed decides for a child of h that waits: it escalated, or its siblings are concerned too.
func (w *Worker) childFailed(h, child *House, err error) {
	if p := h.life().phase; p != phaseStopping && p != phaseEnding { // otherwise it stops with the others
		w.decide(h, &verdict{error: err, of: child, child: child})
	}
}

// decidedGroup does what v says of a child of who has the record, and of its siblings.
func (w *Worker) decidedGroup(h *House, l *life, v *verdict, s *Strategy) {
	m := control{verb: verbStop}
	switch v.says {
	case Escalate: // and its parent is no longer, or not yet, up
		w.command(v.child, m)
		return
	case Resume: // said now, and not when the child asked
		m.verb = verbResume
		w.command(v.child, m)
		return
	case Restart:
		t := &l.restarts().group
		if delay, yes := t.again(s, w.Now, luck(h.serial, t.row)); yes {
			m = control{verb: verbRestart, err: v.error, delay: delay}
		}
	}
	begun := s.Scope == AllForOne
	for c := l.first; c != nil; c = c.life().next {
		if begun = begun || c == v.child; begun {
			w.command(c, m)
		}
	}
}

// resume has h, which waits for its supervisor, go on, and those of its children that wait for it.
func (w *Worker) resume(h *House) {
	l := h.life()
	if l.phase != phaseFailed {
		return
	}
	l.phase = phaseUp
	if l.drains {
		w.drained(h)
	} else {
		w.release(h, heldByLife)
	}
	for c := l.first; c != nil; c = c.life().next {
		w.command(c, control{verb: verbResume})
	}
}
