package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
)

// This file is how an actor finds out that no call of it has begun for some time. Whether one
// begins is noted only in houses with flagNoted, where begin and its kin look twice anyway. Of a
// visit in which one began the end counts, so one reading of the clock does for all its calls,
// and nobody is told early. A timer isn't moved by that: it looks when its time comes, and goes
// on for the rest.

// quiet is what is known of that. It belongs to the owner of the house.
type quiet struct {
	// when it looks; Invariant: first, for quietOf. When is 0 if there is nothing to find out, and
	// then it stands nowhere
	timer   future.Node
	house   *House
	last    int64    // the end of the last visit in which a call began, ns
	told    *absence // whom it tells; nil: the actor doesn't ask
	passive passive  // see life_passivate.go
}

// absence is what an actor hears of that no call has begun.
type absence struct {
	by       *Handler // of the notice that tells it
	since    int64    // when it began to ask for that, ns
	after    int64    // how long nothing begins before it is told, ns
	notified bool     // since the last call began
}

func newQuiet(h *House, p passive) *quiet {
	return &quiet{timer: future.Node{House: true}, house: h, passive: p}
}

// quietOf returns the quiet whose timer n is.
func quietOf(n *future.Node) *quiet { return (*quiet)(unsafe.Pointer(n)) }

// ReceiveTimeout has a notice by the given handler, without a message, sent to the actor that
// runs s when no call of it has begun for so long, ns, again and again; 0: never. Only a step of
// s may call it.
func (s *Stack) ReceiveTimeout(by *Handler, ns int64) {
	if s.state != running {
		s.misuse()
	}
	h, w := s.to, s.Engine()
	a := h.rooms()
	if a.quiet == nil {
		if ns <= 0 {
			return
		}
		a.quiet = newQuiet(h, passive{})
		h.flags.set(flagNoted | flagUrged) // what loops over calls looks up
	}
	q := a.quiet
	switch {
	case ns <= 0:
		q.told = nil
	case q.told == nil:
		q.told = &absence{}
		fallthrough
	default:
		*q.told = absence{by: by, since: w.Driver.Clock(), after: ns}
	}
	w.listen(h, q)
}

// begins notes that s, a call of a bare handler, begins; false: it doesn't, and is dropped.
//
//go:noinline
func (w *Engine) begins(h *House, s *Stack) bool {
	if h.Gone() {
		w.drop(h, s)
		return false
	}
	w.noteBegun(h, s)
	return true
}

// see is Trace of a call that begins in an envelope, and notes that.
//
//go:noinline
func (w *Engine) see(h *House, s *Stack) {
	if h.flags.has(flagNoted) {
		w.noteBegun(h, s)
	}
	if w.Trace != nil {
		w.Trace(h, s)
	}
}

// noteBegun notes that s begins.
func (w *Engine) noteBegun(h *House, s *Stack) {
	if s.by == drainHandler {
		return
	}
	q := h.annex.Load().quiet
	w.seen |= flagNoted
	if q.told != nil {
		q.told.notified = false
	}
	if p := &q.passive; p.calls > 0 {
		p.begun++
		w.retire(h, p)
	}
}

// dated notes when the calls of this visit of h began: at the latest now.
func (w *Engine) dated(h *House) { h.annex.Load().quiet.last = w.Driver.Clock() }

// next returns when to look, if it is now; 0: never.
func (q *quiet) next(now int64) (at int64) {
	at = q.passive.next(q.last)
	t := q.told
	if t == nil {
		return at
	}
	tells := later(max(q.last, t.since), t.after)
	if t.notified {
		tells = later(now, t.after)
	}
	if at == 0 {
		return tells
	}
	return min(at, tells)
}

// listen sees to it that a timer looks in time.
func (w *Engine) listen(h *House, q *quiet) {
	at := q.next(w.Driver.Clock())
	if l := h.life(); at == 0 || h.Gone() || l != nil && l.Drains() {
		w.endQuiet(h)
		return
	}
	if q.timer.When == 0 || q.timer.When > at {
		w.endQuiet(h)
		w.armQuiet(q, at)
	}
}

func (w *Engine) armQuiet(q *quiet, at int64) {
	q.timer.DueAt(at)
	w.Driver.Arm(&q.timer)
}

// endQuiet ends the timer, if there is one.
func (w *Engine) endQuiet(h *House) {
	a := h.annex.Load()
	if a == nil || a.quiet == nil || a.quiet.timer.When == 0 {
		return
	}
	w.disarm(h, &a.quiet.timer)
	a.quiet.timer.DueAt(0)
}

// forgetQuiet forgets what an instance, which ends, asked for.
func (w *Engine) forgetQuiet(h *House) {
	w.endQuiet(h)
	if a := h.annex.Load(); a != nil && a.quiet != nil {
		a.quiet.told = nil
		a.quiet.passive.paused = false
	}
}

// lookQuiet is what happens when the timer's time has come: it tells the actor if nothing has
// begun, and goes on.
func (w *Engine) lookQuiet(h *House, q *quiet) {
	q.timer.DueAt(0)
	if w.seen&flagNoted != 0 {
		w.dated(h)
	}
	if t := q.told; t != nil && !t.notified && w.Now-max(q.last, t.since) >= t.after {
		t.notified = true
		if h.waits() < int(h.limit) { // otherwise there are calls enough, none of which it may drop
			w.Push(h, w.Begin(t.by))
		}
	}
	w.passivate(h, q)
	if at := q.next(w.Driver.Clock()); at != 0 {
		w.armQuiet(q, at)
	}
}
