package stack

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

const (
	// hotStreak is how many houses with replies are visited in a row while
	// houses with calls only wait. Answers go first because they finish work
	// that holds memory; the bound keeps the other houses from starving.
	hotStreak = 16
	// replyStreak is how many replies and timers of one house are handled in a row while
	// calls wait in it, for the same reasons.
	replyStreak = 16
)

// Run visits ready houses until none is ready, about limit messages were handled, the turn's time
// is up, or the guest that runs the turn has its answer. It returns the number of messages handled.
// Only who runs w's turn calls it.
func (w *Engine) Run(limit int) int {
	handled, visits := w.handled, w.visits
	end := handled + uint64(limit)
	w.setVisitMax()
	for w.handled < end && !w.overtime() && !w.Idle() && !w.done() {
		if w.handled >= w.pace.Next {
			w.readClock()
			continue
		}
		w.guarded(min(end, w.pace.Next))
	}
	w.Count.Add(count.Visits, w.visits-visits)
	w.Count.Add(count.Messages, w.handled-handled)
	return int(w.handled - handled)
}

// done reports whether a guest runs the turn and has its answer.
func (w *Engine) done() bool { return w.borrower != nil && w.borrower.Ready() }

// guarded is Run up to the first panic of user code, which it contains.
func (w *Engine) guarded(end uint64) {
	defer w.contain()
	for w.handled < end && !w.done() {
		h := w.pick()
		if h == nil {
			return
		}
		w.visit(h)
	}
}

// pick unlinks the house to visit next; nil: none is ready. While a house is visited it
// says queuedHot, so that makeReady and promote leave it alone.
func (w *Engine) pick() *House {
	if w.hot.head != nil && (w.cold.head == nil || w.streak < hotStreak) {
		if w.cold.head != nil {
			w.streak++
		}
		return w.hot.pop()
	}
	w.streak = 0
	if w.cold.head == nil {
		return nil
	}
	h := w.cold.pop()
	h.queued = queuedHot
	return h
}

// visit handles up to visitMax messages of h, which is ready and unlinked.
func (w *Engine) visit(h *House) {
	h.enter(w)
	w.house = h
	w.urgents = int(h.urgents)
	w.visits++
	if w.visits&15 == 0 {
		w.Driver.Queued(w.Now - h.waiting())
	}
	invariant.Point("visit.look")
	if h.inbox.Load() != nil {
		w.drain(h)
	}
	for n := w.visitMax; n > 0; n-- {
		invariant.Point("visit.urged")
		if h.flags.Has(flags.Urged | flags.Held | flags.Alone | flags.Sorted) {
			if !w.attend(h) {
				if h.ahead { // this may end the hold
					w.first(h)
				}
				break
			}
			if h.flags.Has(flags.Sorted) && !h.TurnsAway() {
				w.visitSorted(h, n)
				break
			}
		}
		if h.ahead && (w.urgents < replyStreak || h.calls.head == nil || h.system.last != nil) {
			w.first(h)
			continue
		}
		w.urgents = 0
		s := h.calls.head
		if s == nil {
			break
		}
		if s.by.envelope.opens != nil {
			n = 1 + w.open(h, envelopeOf(s), n)
			continue
		}
		h.calls.pop()
		h.unshown -= s.by.counts
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		if s.by.bare.is {
			n = w.beginBare(h, s, n)
		} else {
			w.begin(h, s)
		}
	}
	w.leave(h)
}

// took counts the message s, which h is about to handle, and tells Trace.
func (w *Engine) took(h *House, s *Stack) {
	w.handled++
	if w.Trace != nil {
		w.Trace(h, s)
	}
}

// first handles one thing that goes ahead of calls: a hook, a system message, a timer or an answer.
func (w *Engine) first(h *House) {
	a := h.annex.Load()
	if h.system.last == nil && a.fired.Empty() {
		w.handled++
		s := a.replies.pop()
		h.ahead = a.replies.head != nil
		w.urgents++
		if w.Trace != nil {
			w.Trace(h, s)
		}
		w.resolve(h, s)
		return
	}
	if s := h.system.pop(); s != nil {
		h.lookAhead()
		if s.by.class == classHook { // it isn't counted as a message
			w.hook(h, s)
			return
		}
		w.took(h, s)
		w.control(h, s)
		return
	}
	w.handled++
	w.urgents++
	n := a.fired.Pop()
	h.lookAhead()
	if n.House {
		w.lookQuiet(h, quietOf(n))
		return
	}
	p := future.PromiseOf(n)
	if w.Trace != nil {
		w.Trace(h, stackOf(p.Owner))
	}
	w.expire(h, p)
}

// waiting returns since when the first call of h, or else the house, has waited, ns on the
// system's clock.
func (h *House) waiting() int64 {
	if s := h.calls.head; s != nil && s.sent != 0 && s.sent < h.readyAt {
		return s.sent
	}
	return h.readyAt
}

// leave ends the visit of h, after the hooks that the handled messages have led to. If h has mail
// it is queued again.
func (w *Engine) leave(h *House) {
	for w.seen != 0 || h.hookFirst() {
		if h.hookFirst() { // before drained: it may be a failure of the actor
			w.first(h)
			continue
		}
		if w.seen&flags.Noted != 0 {
			w.dated(h)
		}
		w.seen = 0
		w.drained(h)
	}
	if w.out.to != nil {
		w.sendOut()
	}
	h.exit()
	if h.unshown != 0 {
		h.count(int(h.unshown))
		h.unshown = 0
	}
	// kept even if no reply is left: the next visit may begin with one
	h.urgents = uint8(min(w.urgents, replyStreak))
	if h.ahead {
		h.readyAt = w.Now
		w.hot.push(h)
		return
	}
	invariant.Point("visit.leave")
	if h.calls.head == nil && (w.Gathers || h.inbox.Load() == nil) { // senders to the inbox ring
		h.queued = notQueued
		return
	}
	h.queued = queuedCold
	h.readyAt = w.Now
	w.cold.push(h)
}

// hook begins the hook s of h or, if it has ended, does what follows from its end.
func (w *Engine) hook(h *House, s *Stack) {
	if s.state != ended {
		w.enter(h, s, s.by.first)
		return
	}
	role, at, cause, err := hookOf(s).role, hookOf(s).at, hookOf(s).cause, s.err
	if s.threw {
		if _, told := err.(*fault.PanicError); !told {
			w.failed(h, s, fmt.Errorf("%s failed in %s: %w", h.Describe(), s.by.Title, err))
		}
	}
	w.Shard.Put(&s.Object)
	switch role {
	case roleLife:
		h.life().Ended(at, err)
	case roleDecide:
		w.decided(h, cause.(*verdict))
	case roleFailed:
		if h.Gone() {
			return
		}
		h.makeLife().Fail(cause)
	case roleDrain, roleRetire:
		if role == roleDrain || !w.spared(h) {
			w.drainAway(h)
		}
		return
	}
	w.live(h, h.life())
}

// Nest runs the first step of c, a fan that s has bound and not pushed, at once and in
// the house of s, rather than as a message. The steps of c must not panic, nor touch
// the actor that they get, which isn't theirs. Only a step of s may call it.
//
//alloc:none
func (s *Stack) Nest(c *Stack) {
	w, h, in := s.Engine(), s.to, s.Engine().inStep
	c.to, FanOf(c).asker = h, s
	c.run()
	w.after(h, c, c.by.first(h.self(), c.self()))
	w.current, w.inStep = s, in
}
