package stack

// This file is how an actor finds out that no call of it has begun for some time. Whether one
// begins is noted only in houses with flagNoted, where begin and its kin look twice anyway. Of a
// visit in which one began the end counts, so one reading of the clock does for all its calls,
// and nobody is told early. A timer isn't moved by that: it looks when its time comes, and goes
// on for the rest.

// quiet is what is known of that. It belongs to the owner of the house.
type quiet struct {
	// suspended; nil: there is nothing to find out. Invariant: then and only then due is 0
	timer    *Stack
	due      int64    // when it looks, ns
	last     int64    // the end of the last visit in which a call began, ns
	by       *Handler // of the notice that tells the actor; nil: it doesn't ask
	since    int64    // when it began to, ns
	after    int64    // how long nothing begins before it is told, ns
	notified bool     // since the last call began

	passive passive // see life_passivate.go
}

// quietHandler is that of the timer.
var quietHandler = newOwnHook("a receive timeout", passed)

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
		a.quiet = &quiet{}
		h.flags.set(flagNoted | flagUrged) // what loops over calls looks up
	}
	q := a.quiet
	q.notified = false
	if q.by, q.after, q.since = by, ns, w.Driver.Clock(); ns <= 0 {
		q.by = nil
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
	q.notified = false
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
	if q.by == nil {
		return at
	}
	tells := later(max(q.last, q.since), q.after)
	if q.notified {
		tells = later(now, q.after)
	}
	if at == 0 {
		return tells
	}
	return min(at, tells)
}

// listen sees to it that a timer looks in time.
func (w *Engine) listen(h *House, q *quiet) {
	now := w.Driver.Clock()
	at := q.next(now)
	if l := h.life(); at == 0 || h.Gone() || l != nil && l.Drains() {
		w.endQuiet(h)
		return
	}
	if q.timer != nil && q.due <= at {
		return
	}
	w.endQuiet(h)
	s := w.newHook(h, quietHandler, roleQuiet, 0, nil)
	s.run()
	hook := hookOf(s)
	q.timer, q.due = s, at
	s.Alarm(hook.pause.Promise(), at-now, 0)
	Suspend(hook, quieted)
	w.suspend(s)
}

// endQuiet ends the timer, if there is one.
func (w *Engine) endQuiet(h *House) {
	if a := h.annex.Load(); a != nil && a.quiet != nil && a.quiet.timer != nil {
		w.end(h, a.quiet.timer)
	}
}

// quietEnded forgets the timer, which has ended.
func (w *Engine) quietEnded(h *House, s *Stack) {
	q := h.annex.Load().quiet
	q.timer, q.due = nil, 0
	w.Shard.Put(&s.Object)
}

// forgetQuiet forgets what an instance, which ends, asked for.
func (w *Engine) forgetQuiet(h *House) {
	w.endQuiet(h)
	if a := h.annex.Load(); a != nil && a.quiet != nil {
		a.quiet.by = nil
		a.quiet.passive.paused = false
	}
}

// quieted is the step of the timer: it tells the actor if nothing has begun, and goes on.
func quieted(_ *struct{}, s *hookStack) Yield {
	h, w := s.to, s.Engine()
	q := h.annex.Load().quiet
	if w.seen&flagNoted != 0 {
		w.dated(h)
	}
	if q.by != nil && !q.notified && w.Now-max(q.last, q.since) >= q.after {
		q.notified = true
		if h.waits() < int(h.limit) { // otherwise there are calls enough, none of which it may drop
			w.Push(h, w.Begin(q.by))
		}
	}
	w.passivate(h, q)
	q.due = q.next(w.Now)
	if q.due == 0 {
		return s.End()
	}
	s.Alarm(s.pause.Promise(), q.due-w.Now, 0)
	return Suspend(s, quieted)
}
