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
	// houses with calls only wait: answers finish work that holds memory, but
	// nobody starves.
	hotStreak = 16
	// replyStreak is the same between the lanes of one house.
	replyStreak = 16
)

// Run visits ready houses until none is ready, about limit messages were handled, or the
// turn's time is up. It returns the number handled. Only who runs w's turn calls it.
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

// pick unlinks the house to visit next. While it is visited it counts as hot, so
// that nobody moves it between the queues.
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
				if h.ahead { // the end of the hold, perhaps
					w.first(h)
				}
				break
			}
			if h.flags.Has(flags.Sorted) && !h.turnsAway() {
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

// first handles what goes ahead of calls: a hook, a system message, a timer or an answer.
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
		if s.by.class == classHook { // no message, but what follows from one
			w.hook(h, s)
			return
		}
		w.handled++
		if w.Trace != nil {
			w.Trace(h, s)
		}
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

// waiting returns since when the oldest known message of h waits.
func (h *House) waiting() int64 {
	if s := h.calls.head; s != nil && s.sent != 0 && s.sent < h.readyAt {
		return s.sent
	}
	return h.readyAt
}

// leave ends the visit of h, behind the hooks that what was handled calls for: it is queued again
// if it has mail.
func (w *Engine) leave(h *House) {
	for w.seen != 0 || h.hookFirst() {
		if h.hookFirst() { // first of all: a failure, perhaps, of an actor that now drains
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
	// also if none is left: the next visit may begin with one
	h.urgents = uint8(min(w.urgents, replyStreak))
	if h.ahead {
		h.readyAt = w.Now
		w.hot.push(h)
		return
	}
	invariant.Point("visit.leave")
	if h.calls.head == nil && (w.Gathers || h.inbox.Load() == nil) { // who sent rings
		h.queued = notQueued
		return
	}
	h.queued = queuedCold
	h.readyAt = w.Now
	w.cold.push(h)
}

// hook begins a hook of h, or goes on behind its end.
func (w *Engine) hook(h *House, s *Stack) {
	if s.state != ended {
		w.enter(h, s, s.by.first)
		return
	}
	role, at, cause, err := hookOf(s).role, hookOf(s).at, hookOf(s).cause, s.err
	if s.threw {
		if _, told := err.(*fault.PanicError); !told {
			w.failed(h, s, fmt.Errorf("%s failed in %s: %w", h.Describe(), s.by.title, err))
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

// Nest runs the first step of c, which s has bound and nobody got, at once and in
// the house of s, rather than as a message. The steps of c must not touch the
// actor, which isn't theirs, nor panic.
//
//alloc:none
func (s *Stack) Nest(c *Stack) {
	w, h, in := s.Engine(), s.to, s.Engine().inStep
	c.to = h
	c.run()
	w.after(h, c, c.by.first(h.self(), c.self()))
	w.current, w.inStep = s, in
}
