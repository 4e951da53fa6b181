package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// attend does what the flags of h demand before the next message of a visit. It reports whether
// the visit goes on.
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
		case !h.TurnsAway():
			a.held.join(&h.calls)
		case h.system.last == nil: // which goes ahead
			return w.turnAway(h, a)
		}
	}
	return true
}

// TurnsAway reports whether h, while it holds its calls, ends asks at once: see Machine.Down. Only
// the owner may call it.
func (h *House) TurnsAway() bool {
	l := h.life()
	return l != nil && l.Down()
}

// turnAway empties the lane of calls of h: it ends asks and requests of connections, and moves
// notices to the held calls. It stops at a connection's own stack, which is the runtime's: the
// visit begins that, and comes back. It also stops when it has ended as many calls as a visit
// handles and more are left; then it reports false.
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
