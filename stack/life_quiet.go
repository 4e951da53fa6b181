package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/idleness"
)

// This file is how an actor finds out that no call of it has begun for some time. Whether one
// begins is noted only in houses with flags.Noted, where begin and its kin look twice anyway. Of a
// visit in which one began the end counts, so one reading of the clock does for all its calls,
// and nobody is told early. A timer isn't moved by that: it looks when its time comes, and goes
// on for the rest.

// quiet is what is known of that. It belongs to the owner of the house.
type quiet struct {
	// when it looks; Invariant: first, for quietOf. When is 0 if there is nothing to find out, and
	// then it stands nowhere
	timer future.Node
	house *House
	idleness.State
	by *Handler // of the notice that tells the actor, if it asks
}

func newQuiet(h *House, s idleness.State) *quiet {
	return &quiet{timer: future.Node{House: true}, house: h, State: s}
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
		a.quiet = newQuiet(h, idleness.State{})
		h.flags.Set(flags.Noted | flags.Urged) // what loops over calls looks up
	}
	q := a.quiet
	q.by = by
	q.Tell(w.Driver.Clock(), ns)
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
	if h.flags.Has(flags.Noted) {
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
	w.seen |= flags.Noted
	w.noteCalls(h, 1)
}

// noteBatch notes that the members of a batch begin but the first, which was noted.
func (w *Engine) noteBatch(h *House, s *Stack) { w.noteCalls(h, BatchOf(s).members.n-1) }

func (w *Engine) noteCalls(h *House, n int) {
	q := h.annex.Load().quiet
	q.Begun(n)
	w.retire(h, q)
}

// dated notes when the calls of this visit of h began: at the latest now.
func (w *Engine) dated(h *House) { h.annex.Load().quiet.Ended(w.Driver.Clock()) }

// listen sees to it that a timer looks in time.
func (w *Engine) listen(h *House, q *quiet) {
	at := q.Next(w.Driver.Clock())
	if l := h.life(); at == 0 || h.Gone() || l != nil && l.Drains() {
		w.endQuiet(h)
		return
	}
	if q.timer.When == 0 || q.timer.When > at {
		w.endQuiet(h)
		q.timer.DueAt(at)
		w.Driver.Arm(&q.timer)
	}
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
		a.quiet.Forget()
	}
}

// lookQuiet is what happens when the timer's time has come: it tells the actor if nothing has
// begun, and goes on.
func (w *Engine) lookQuiet(h *House, q *quiet) {
	q.timer.DueAt(0)
	if w.seen&flags.Noted != 0 {
		w.dated(h)
	}
	// otherwise there are calls enough, none of which it may drop
	if q.Tells(w.Now) && h.waits() < int(h.limit) {
		w.Push(h, w.Begin(q.by))
	}
	w.passivate(h, q)
	w.listen(h, q)
}
