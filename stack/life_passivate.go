package stack

import "github.com/stackhouse-go/stackhouse/stack/flags"

// This file is how an actor stops by itself, by a drain: when it has been idle for some time, or
// after a number of calls. It is idle if no call of it has begun for that time and, at its end,
// none waits, is held or is in progress. Otherwise the time counts anew.

// countIdle begins to count the time for a new actor or instance.
func (w *Engine) countIdle(h *House) {
	if a := h.annex.Load(); a != nil && a.quiet != nil && a.quiet.Idles() {
		a.quiet.Anew(w.Driver.Clock())
		w.listen(h, a.quiet)
	}
}

// KeepActive keeps the actor that runs s from stopping by itself, until it is called with false.
// Then the time counts anew. Only a step of s may call it.
func (s *Stack) KeepActive(keep bool) {
	if s.state != running {
		s.misuse()
	}
	h, w := s.to, s.Engine()
	if a := h.annex.Load(); a != nil && a.quiet != nil && a.quiet.Pause(w.Driver.Clock(), keep) {
		w.listen(h, a.quiet)
		w.retire(h, a.quiet)
	}
}

// passivate has h drain if it has been idle for long enough.
func (w *Engine) passivate(h *House, q *quiet) {
	switch {
	case !q.Idle(w.Now):
	case !h.flags.Has(flags.Held) && h.waits() == 0 && h.stashed() == 0 && h.Waiting() == 0 && h.inbox.Load() == nil:
		w.drainSelf(h, q)
	default:
		q.Anew(w.Now)
	}
}

// retire has h drain if as many calls have begun as it is to handle.
func (w *Engine) retire(h *House, q *quiet) {
	if q.Spent() {
		w.drainSelf(h, q)
	}
}

// drainSelf is House.Drain in a turn of its owner, once.
func (w *Engine) drainSelf(h *House, q *quiet) {
	if !q.Stop() {
		return
	}
	s := w.Begin(drainHandler)
	hookOf(s).role, s.used = roleRetire, true
	w.Push(h, s)
}

// spared reports whether h, which was to stop because it was idle, goes on because a call has begun
// since.
func (w *Engine) spared(h *House) bool {
	q := h.annex.Load().quiet
	yes := q.Spared(w.Driver.Clock())
	w.listen(h, q)
	return yes
}
