package stack

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack/pace"
)

// This file is how long an answer is waited for. A promise gets its deadline with the ask, and is
// armed, in the wheel of the Driver, at the end of the turn in which its stack is suspended. Most
// answers come before that, and cost no timer.

// Alarm binds p, which is answered without a value in ns nanoseconds. If the deadline of s, or
// limit ns (0: none), is over before, p ends with ErrTimeout then. Only a step of s may call it.
func (s *Stack) Alarm(p *future.Promise, ns, limit int64) {
	w := s.Engine()
	now := w.Driver.Clock() // never early: not a turn's clock
	when := pace.Later(now, max(0, ns))
	late := s.deadline != 0 && s.deadline < when // the stack's own deadline comes first
	if late {
		when = s.deadline
	}
	if cut := pace.Later(now, limit); limit > 0 && cut < when {
		when, late = cut, true
	}
	s.Promise(p, when)
	if !late {
		p.Alarm()
	}
}

// within returns when an ask by s expires: in limit ns, at the latest when s does.
func (w *Engine) within(s *Stack, limit int64) int64 {
	at := pace.Later(w.Driver.Clock(), limit) // a turn's clock is too old for a short limit
	if s.deadline != 0 {
		at = min(at, s.deadline)
	}
	return at
}

// suspend notes that s waits. If it still does at the end of the turn, its
// deadlines are armed.
func (w *Engine) suspend(s *Stack) {
	w.fresh = append(w.fresh, s)
	s.fresh = int32(len(w.fresh))
}

// ArmFresh arms the promises that still wait, of stacks suspended since the last
// call. Only who runs w's turn calls it, at its end.
func (w *Engine) ArmFresh() {
	for i, s := range w.fresh {
		w.fresh[i] = nil
		if s == nil {
			continue
		}
		s.fresh = 0
		left := s.pending
		for p := s.bound; p != nil && left > 0; p = p.Next {
			if p.State != future.Waiting {
				continue
			}
			left--
			if p.Slot == 0 {
				w.Driver.Arm(&p.Node)
			}
		}
	}
	w.fresh = w.fresh[:0]
}

// disarm takes n, of a promise or a quiet, out of the wheel or out of the queue of those fired.
func (w *Engine) disarm(h *House, n *future.Node) {
	if n.Queued() {
		h.annex.Load().fired.Remove(n)
		h.lookAhead()
	} else {
		w.Driver.Disarm(n)
	}
}
