package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// This file is how a step runs, and what its Yield leads to.

// begin starts the handler of a call, or drops it.
func (w *Engine) begin(h *House, s *Stack) {
	invariant.Point("visit.begin")
	if h.flags.Has(flags.Stopped|flags.Noted) || s.cancelled.Doubtful() || (s.deadline != 0 && w.Now > s.deadline) {
		w.doubt(h, s)
		return
	}
	if s.by.batch.by != nil {
		s = w.gather(h, s)
	}
	s.run()
	w.current, w.by, w.inStep = s, s.by, true // current stays until the next step
	w.after(h, s, s.by.first(h.self(), s.self()))
}

// doubt is the slow path of begin. It puts a request aside that is held back, drops a call that is
// dead, and begins the others: onward calls and calls that are to be noted.
//
//go:noinline
func (w *Engine) doubt(h *House, s *Stack) {
	if s.by.request.is && s.cancelled.HeldBack() && !h.Gone() {
		InboundOf(s).Aside = true
		return
	}
	if w.dead(h, s) {
		w.drop(h, s)
		return
	}
	s.begunOnward()
	w.beginNoted(h, s)
}

// dead reports whether s must not begin: h has stopped, the asker has given up, or the deadline has
// passed.
func (w *Engine) dead(h *House, s *Stack) bool {
	return h.Gone() || s.givenUp() || s.deadline != 0 && w.Now > s.deadline
}

// beginNoted is begin for a call that isn't dead. It notes that the call begins, if h notes that.
func (w *Engine) beginNoted(h *House, s *Stack) {
	noted := h.flags.Has(flags.Noted)
	if noted {
		w.noteBegun(h, s)
	}
	if s.by.batch.by != nil {
		s = w.gather(h, s)
		if noted {
			w.noteBatch(h, s)
		}
	}
	w.enter(h, s, s.by.first)
}

// beginBare is begin for s and the calls behind it in the lane: n at most, until a handler isn't
// bare or something goes ahead. It returns n less the calls behind s that it has handled. Bare
// notices can't be given up and have no deadline, so it looks for neither.
func (w *Engine) beginBare(h *House, s *Stack, n int) int {
	for {
		if h.flags.Has(flags.Stopped|flags.Noted) && !w.begins(h, s) {
			return n
		}
		s.run()
		w.current, w.by, w.inStep = s, s.by, true
		if y := s.by.first(h.self(), s.self()); y.how != yieldEnd || s.odd() {
			w.after(h, s, y)
			return n
		}
		w.inStep = false
		if w.out.to != nil {
			w.sendFirst()
		}
		if s.by.bare.wipe != nil {
			s.by.bare.wipe(s)
		}
		s.blank()
		if !w.Shard.PutHere(&s.Object) {
			w.Shard.PutClear(&s.Object)
		}
		invariant.Point("bare.urged")
		if n == 1 || h.interrupted() {
			return n
		}
		if s = h.calls.head; s == nil || !s.by.bare.is {
			return n
		}
		h.calls.pop()
		h.unshown--
		n--
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
	}
}

// odd reports whether s, whose step has returned the Yield of an end, needs more than beginBare and
// read do: it hasn't ended, or more than its message must be cleared.
func (s *Stack) odd() bool {
	return s.state != ended || s.used
}

// gather forms a batch of first and the messages for the same handler right
// behind it in the lane. A message for another handler ends the batch, so that order
// holds. Dead members are dropped.
func (w *Engine) gather(h *House, first *Stack) *Stack {
	s := stackOf(w.Shard.Take(first.by.batch.by.kind))
	s.to = h
	b := BatchOf(s)
	s.deadline = first.deadline
	first.next = nil
	b.members = Members{first: first, n: 1}
	last := first
	for b.members.n < first.by.batch.max {
		m := h.calls.head
		if m == nil || m.by != first.by {
			break
		}
		h.calls.pop()
		h.unshown--
		w.handled++
		invariant.Point("batch.member")
		if (m.cancelled.Doubtful() || (m.deadline != 0 && w.Now > m.deadline)) && w.dead(h, m) {
			w.drop(h, m)
			continue
		}
		if s.deadline != 0 && (m.deadline == 0 || m.deadline > s.deadline) {
			s.deadline = m.deadline
		}
		last.next = m
		last = m
		b.members.n++
	}
	return s
}

// enter runs the step f of s.
func (w *Engine) enter(h *House, s *Stack, f step) {
	s.run()
	w.current, w.by, w.inStep = s, s.by, true
	w.after(h, s, f(h.self(), s.self()))
}

// after is called when a step of s has ended, and does what its Yield says.
func (w *Engine) after(h *House, s *Stack, y Yield) {
	w.inStep = false
	if w.out.to != nil {
		w.sendFirst()
	}
	if y.how == yieldEnd && s.state == ended && s.bound == nil && s.err == nil && s.ends == 0 {
		if s.by.class == classAsk && s.back != nil {
			w.reply(s) // end, shortened for the most frequent case
			return
		}
	}
	if y.how == yieldWait && s.state == suspended {
		if s.fresh == 0 {
			w.suspend(s)
		}
		if w.seen&flags.Alone != 0 {
			s.isolate()
		}
		return
	}
	w.oddly(h, s, y)
}

// oddly is after for the less frequent ends.
func (w *Engine) oddly(h *House, s *Stack, y Yield) {
	switch {
	case y.how == yieldEnd && s.state == ended:
		w.end(h, s)
	case y.how == yieldForward && s.state == ended && w.onward != nil && w.onward.relay().call == s:
		w.forward(h, s)
	case y.how == yieldAgain && s.state == idle:
		if s.pending != 0 && s.fresh == 0 {
			w.suspend(s)
		}
	case y.how == yieldStash && s.state == idle:
		w.stash(h, s)
	case y.how == yieldOver:
		w.command(h, control{verb: command.Left})
		w.end(h, s)
	case y.how == yieldNone:
		w.fail(h, s, "stack: a step returned the zero Yield")
	default:
		w.fail(h, s, "stack: a step returned the Yield of another stack")
	}
}

// forward sends the onward call of s, whose step has ended.
func (w *Engine) forward(h *House, s *Stack) {
	c := w.onward
	if !w.conclude(h, s) {
		w.fail(h, s, "stack: a call is forwarded that keeps a job")
		return
	}
	w.onward = nil
	first := s.origin()
	first.forwardEnded()
	if first != s {
		w.stepAside(s, c)
	}
	invariant.Point("forward.place")
	if !w.foreign(c.to) {
		first.place().Store(c.to) // behind it the first call is the other's
	}
	invariant.Point("forward.push")
	w.Push(c.to, c)
	if w.out.to != nil {
		w.sendFirst()
	}
}
