package stack

import (
	"math"
	"sync/atomic"
)

// Gauge is how many calls that routers counted wait in one house: what a router
// goes by that picks the shortest queue. Only houses that such a router has looked
// at have one.
//
// A counted call carries its deadline negated, so that it looks expired to its house,
// which looks twice at such calls: uncount puts the deadline right. All other calls
// pay nothing.
type Gauge struct {
	waiting atomic.Int64 // routers add at the push; the owner subtracts at the end of a turn

	_ [120]byte // routers' lines end here

	// Written by the owner.
	taken int64 // in this turn
	late  Deferred
}

// unlimited is what a counted call without a deadline carries.
const unlimited = math.MinInt64

// Gauge returns the house's gauge. Any goroutine may call it.
func (h *House) Gauge() *Gauge {
	if g := h.rooms().gauge.Load(); g != nil {
		return g
	}
	return h.makeGauge()
}

//go:noinline
func (h *House) makeGauge() *Gauge {
	g := &Gauge{}
	g.late.Run = func(*Deferred) {
		g.waiting.Add(-g.taken)
		g.taken = 0
	}
	a := h.rooms()
	a.gauge.CompareAndSwap(nil, g)
	return a.gauge.Load()
}

// Waiting returns the number of counted calls that wait, as of the end of the
// owner's last turn. Any goroutine may call it.
func (g *Gauge) Waiting() int64 { return g.waiting.Load() }

// Counted returns the handler whose calls a gauge can count: h, unless it is lean,
// whose calls are not looked at twice.
func (h *Handler) Counted() *Handler {
	if h.twin != nil {
		return h.twin
	}
	return h
}

// Expect counts c, which is pushed to h next, until h takes it. The house has a gauge,
// and c is of a handler that Counted returned.
//
//alloc:none
func (h *House) Expect(c *Stack) {
	h.annex.Load().gauge.Load().waiting.Add(1)
	c.negate()
}

func (s *Stack) negate() {
	if s.deadline == 0 {
		s.deadline = unlimited
	} else {
		s.deadline = -s.deadline
	}
}

// unexpected takes back the count of s, which h refuses, if it is counted.
func (s *Stack) unexpected(h *House) {
	if s.deadline < 0 {
		h.annex.Load().gauge.Load().waiting.Add(-1)
		s.deadline = max(0, -s.deadline) // which unlimited isn't
	}
}

// Expected has c, a guest's ask, counted when it gets its deadline: when it is sent.
func (s *Stack) Expected() { s.deadline = unlimited }

// expires gives a guest's ask its deadline.
func (s *Stack) expires(at int64) {
	counted := s.deadline < 0
	s.deadline = at
	if counted {
		s.to.Expect(s)
	}
}

// uncount ends the count of s, which h takes. It reports whether s was counted: if so
// its deadline is right again, and worth a second look.
func (w *Worker) uncount(h *House, s *Stack) bool {
	if s.deadline >= 0 {
		return false
	}
	g := h.annex.Load().gauge.Load()
	g.taken++
	w.Defer(&g.late)
	if s.deadline == unlimited {
		s.deadline = 0
	} else {
		s.deadline = -s.deadline
	}
	return true
}

// doubt begins a call that looked dead if it was only counted, forwarded or is to be noted, and else drops it.
//
//go:noinline
func (w *Worker) doubt(h *House, s *Stack) {
	switch {
	case w.uncount(h, s):
		w.begin(h, s)
	case w.dead(h, s):
		w.drop(h, s)
	default:
		noted := h.flags.has(flagNoted)
		if noted {
			w.noteBegun(h, s)
		}
		if s.by.batch != nil {
			s = w.gather(h, s)
			if noted {
				w.noteBatch(h, s)
			}
		}
		w.enter(h, s, s.by.first)
	}
}

// dead reports whether s, which h takes, doesn't begin.
func (w *Worker) dead(h *House, s *Stack) bool {
	return h.Gone() || s.givenUp() || s.deadline != 0 && w.Now > s.deadline
}

// doubtMember is doubt for a call that would be a member of a batch: it reports whether that is so.
//
//go:noinline
func (w *Worker) doubtMember(h *House, s *Stack) bool {
	w.uncount(h, s)
	if w.dead(h, s) {
		w.drop(h, s)
		return false
	}
	return true
}
