package stack

// passive is when an actor stops by itself: if it is idle for some time, or after some calls.
// That is a drain like any other. It is idle if for that time no call has begun, and then none
// waits or is in progress; otherwise the time counts anew. Who holds calls isn't idle.
type passive struct {
	idle    int64 // so long, ns; 0: for ever
	calls   int64 // after so many; 0: never
	begun   int64 // calls, of all instances
	resumed int64 // when the count of the time began anew, ns
	paused  bool
	drains  bool // it has begun to
}

// countIdle begins the count of the time, of a new actor or instance.
func (w *Engine) countIdle(h *House) {
	if a := h.annex.Load(); a != nil && a.quiet != nil && a.quiet.passive.idle > 0 {
		a.quiet.passive.resumed = w.Driver.Clock()
		w.listen(h, a.quiet)
	}
}

// KeepActive has the actor that runs s not passivate until it is called with false. Then the
// count of the time begins anew. Only a step of s may call it.
func (s *Stack) KeepActive(keep bool) {
	if s.state != running {
		s.misuse()
	}
	h, w := s.to, s.Engine()
	a := h.annex.Load()
	if a == nil || a.quiet == nil || a.quiet.passive.paused == keep {
		return
	}
	p := &a.quiet.passive
	p.paused, p.resumed = keep, w.Driver.Clock()
	w.listen(h, a.quiet)
	w.retire(h, p)
}

// next returns when it will have been idle for too long, if the last call began then; 0: never.
func (p *passive) next(last int64) int64 {
	if p.idle == 0 || p.paused || p.drains {
		return 0
	}
	return later(max(last, p.resumed), p.idle)
}

// passivate has h drain if it has been idle for long enough.
func (w *Engine) passivate(h *House, q *quiet) {
	p := &q.passive
	if p.idle == 0 || p.paused || w.Now-max(q.last, p.resumed) < p.idle {
		return
	}
	if !h.flags.has(flagHeld) && h.waits() == 0 && h.stashed() == 0 && h.Waiting() == 0 && h.inbox.Load() == nil {
		w.drainSelf(h, p)
		return
	}
	p.resumed = w.Now
}

// retire has h drain if it has had its calls.
func (w *Engine) retire(h *House, p *passive) {
	if p.calls > 0 && p.begun >= p.calls && !p.paused {
		w.drainSelf(h, p)
	}
}

// noteBatch counts the members of a batch that begins but the first, which is counted.
func (w *Engine) noteBatch(h *House, s *Stack) {
	if p := &h.annex.Load().quiet.passive; p.calls > 0 {
		p.begun += int64(BatchOf(s).members.n - 1)
		w.retire(h, p)
	}
}

// drainSelf is House.Drain in a turn of its owner.
func (w *Engine) drainSelf(h *House, p *passive) {
	if p.drains {
		return
	}
	p.drains = true
	s := w.Begin(drainHandler)
	hookOf(s).role, s.used = roleDrain, true
	w.Push(h, s)
}
