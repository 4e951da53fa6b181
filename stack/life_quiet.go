package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/idleness"
)

// This file is how the runtime finds out that no call of an actor has begun for some time. Only
// houses with flags.Noted note that calls begin, on the slow path of begin and its kin. A call
// counts as begun at the end of its visit, so one reading of the clock serves for all calls of the
// visit, and the actor is never told early. Calls don't move the timer: when its time comes it
// looks at the last call, and is armed again for the rest of the time.

// quiet is what a house notes for this. It belongs to the owner of the house.
type quiet struct {
	// Invariant: first, for quietOf. If When is 0 there is nothing to find out, and the timer
	// stands neither in the wheel nor among the fired promises
	timer future.Node
	house *House
	idleness.State
	by *Handler // of the notices of ReceiveTimeout; nil: none are asked for
}

func newQuiet(h *House, s idleness.State) *quiet {
	return &quiet{timer: future.Node{House: true}, house: h, State: s}
}

// quietOf returns the quiet whose timer n is.
func quietOf(n *future.Node) *quiet { return (*quiet)(unsafe.Pointer(n)) }

// ReceiveTimeout has a notice by the given handler, without a message, sent to the actor that
// runs s each time that no call of it has begun for ns; ns of 0 ends that. Only a step of s may
// call it.
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
		h.flags.Set(flags.Noted | flags.Urged) // loops over calls end, and the visit sees Noted
	}
	q := a.quiet
	q.by = by
	q.Tell(w.Driver.Clock(), ns)
	w.listen(h, q)
}

// begins notes that s, a call of a bare handler, begins. It reports false if the actor has stopped:
// then s was dropped.
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

// see notes that a call in an envelope begins, and calls Trace, each only if it is wanted.
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

// noteBatch notes that the members of a batch begin, except the first, which was noted.
func (w *Engine) noteBatch(h *House, s *Stack) { w.noteCalls(h, BatchOf(s).members.n-1) }

func (w *Engine) noteCalls(h *House, n int) {
	q := h.annex.Load().quiet
	q.Begun(n)
	w.retire(h, q)
}

// dated notes now as the time when the calls of this visit of h began.
func (w *Engine) dated(h *House) { h.annex.Load().quiet.Ended(w.Driver.Clock()) }

// listen arms the timer if it has to look earlier than it is armed for, and ends it if it needn't.
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

// endQuiet disarms the timer, if it is armed.
func (w *Engine) endQuiet(h *House) {
	a := h.annex.Load()
	if a == nil || a.quiet == nil || a.quiet.timer.When == 0 {
		return
	}
	w.disarm(h, &a.quiet.timer)
	a.quiet.timer.DueAt(0)
}

// forgetQuiet forgets what an instance that ends asked for: ReceiveTimeout and KeepActive.
func (w *Engine) forgetQuiet(h *House) {
	w.endQuiet(h)
	if a := h.annex.Load(); a != nil && a.quiet != nil {
		a.quiet.Forget()
	}
}

// lookQuiet runs when the timer's time has come. If no call has begun for long enough it tells the
// actor, or has it drain. It arms the timer again.
func (w *Engine) lookQuiet(h *House, q *quiet) {
	q.timer.DueAt(0)
	if w.seen&flags.Noted != 0 {
		w.dated(h)
	}
	// a full mailbox has calls that will begin, and none is dropped for this notice
	if q.Tells(w.Now) && h.waits() < int(h.limit) {
		w.Push(h, w.Begin(q.by))
	}
	w.passivate(h, q)
	w.listen(h, q)
}
