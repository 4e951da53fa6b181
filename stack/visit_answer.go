package stack

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// This file is how answers reach the stacks that wait for them, and how stacks learn that no answer
// has come in time.

// Fire queues n, the node of a promise or the timer of a quiet, at its house, as its time has
// come. Only who runs w's turn calls it.
func (w *Engine) Fire(n *future.Node) {
	var h *House
	if n.House {
		h = quietOf(n).house
	} else {
		h = stackOf(future.PromiseOf(n).Owner).to
	}
	h.annex.Load().fired.Push(n)
	h.ahead = true
	w.makeReady(h)
}

// resolve looks up the promise of the answer c and finishes it. If there is none c is late, and
// ends here.
func (w *Engine) resolve(h *House, c *Stack) {
	p := h.annex.Load().table.Take(c.id, &w.Shard)
	if p == nil {
		if h.served(c) {
			return
		}
		w.Count.Add(count.Late, 1)
		c.late()
		return
	}
	if p.Slot != 0 {
		w.disarm(h, &p.Node)
	}
	if !c.Taken() {
		stackOf(p.Owner).lends = true
	}
	w.answered(h, p, c.err)
}

// expire finishes a promise whose time came before its answer: a timer without an error, any other
// with ErrTimeout.
func (w *Engine) expire(h *House, p *future.Promise) {
	h.annex.Load().table.Take(p.ID, &w.Shard)
	var err error
	if !p.Timer {
		w.Count.Add(count.Timeouts, 1)
		err = fault.ErrTimeout
		w.abandon(p)
	}
	w.answered(h, p, err)
}

// answered finishes p, which is out of the table, and resumes its stack if its
// mode says so.
func (w *Engine) answered(h *House, p *future.Promise, err error) {
	p.Finish(err)
	s := stackOf(p.Owner)
	s.pending--
	invariant.Point("visit.answered")
	if s.cancelled.Doubtful() && s.givenUp() && w.giveUp(h, s) {
		return
	}
	if s.pending == 0 || s.mode == waitAny || (s.mode == waitUntil && w.won(h, s)) {
		w.enter(h, s, s.step)
	}
}

// won calls the predicate of a stack suspended by SuspendUntil.
func (w *Engine) won(h *House, s *Stack) bool {
	s.judge()
	w.current, w.inStep = s, true
	won := s.ready(h.self(), s.self())
	s.judged()
	w.inStep = false
	return won
}
