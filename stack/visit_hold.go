package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// attend does what the flags of h ask of a visit before the next message. It reports whether the
// visit goes on.
//
//go:noinline
func (w *Engine) attend(h *House) bool {
	if h.flags.Has(flags.Urged) {
		invariant.Point("visit.calm")
		h.flags.Clear(flags.Urged)
		w.drain(h)
	}
	w.seen = w.seen&flags.Noted | h.flags.Now()&(flags.Held|flags.Alone)
	if w.seen&flags.Held != 0 {
		h.withdraw()
		switch a := h.annex.Load(); {
		case !h.turnsAway():
			a.held.join(&h.calls)
		case h.system.last == nil: // which goes ahead
			return w.turnAway(h, a)
		}
	}
	return true
}

// turnsAway reports whether asks end at once, while h holds its calls.
func (h *House) turnsAway() bool {
	l := h.life()
	return l != nil && l.Down()
}

// turnAway ends the asks, and the requests of connections, that are first in the lane of calls of
// h, and moves notices to those that are held. The stack of a connection, which is the runtime's,
// stays, and is begun by the visit, before it goes on. It reports false if it has ended what a
// visit handles, and there are more.
func (w *Engine) turnAway(h *House, a *annex) bool {
	q, last := &h.calls, w.handled+uint64(w.visitMax)
	for s := q.head; s != nil && (s.by.class != classOwned || s.by.kind != nil); s = q.head {
		if w.handled >= last {
			return false
		}
		q.pop()
		switch {
		case s.by == markHandler:
			a.rules.unsort(q)
		case s.by.class != classAsk && s.by.class != classOwned:
			a.held.push(s)
		default:
			h.unshown -= s.by.counts
			w.handled++
			s.err = fault.ErrRestarted
			w.end(h, s)
		}
	}
	return true
}
