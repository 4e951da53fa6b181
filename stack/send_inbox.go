package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// This file is the protocol by which a message crosses from one worker, or a
// guest, to another worker.
//
// A house, seen from outside, is
//
//	quiet     flags.Rung is clear; the inbox is empty, or a sender is about to ring
//	rung      flags.Rung is set: the house stands on exactly one worker's chain of rungs,
//	          or its ringer is about to push it there, or its taker is about to clear the bit
//
// Who runs the turns of a worker is in its turn.State.
//
// The steps, in the only order that loses nothing:
//
//	send      push onto the inbox (workers push a chain of stacks, see send_outbox.go); ring
//	ring      if the bit is clear and setting it succeeds, push the house onto its owner's
//	          rungs and wake that worker. In a worker's turn the wake-up may come later, before
//	          the turn ends or in the next one, or the worker borrows instead
//	take      swap out the rungs. For each house first read rungNext. If the house is mine, clear
//	          the bit, then drain the inbox and make it ready; otherwise leave the bit set and
//	          push the house onto its owner's rungs. Nothing else clears the bit, except leave
//	park      declare it, then look at rungs and gifts; if something is there, don't block.
//	          Then, and after blocking, unpark; without the turn, block again
//	borrow    run turns, give back. If that parks the worker, look at rungs and gifts, and wake
//	add       to an open envelope that is the newest mail, see call_envelope.go; ring
//	give      a ready house to another worker, and wake that: see send_handover.go
//	leave     swap the gifts to a closed mark, then the rungs, and take what was there. From now
//	          on nothing comes; take turns until one finds nothing. A sender that rings for a
//	          closed chain holds the bit, and drains: end the inbox's messages, clear the bit,
//	          look again

// closedRungs marks the chains of a worker that left.
var closedRungs = new(House)

// send delivers s to its house from outside: any goroutine may call it. The push
// is complete when it returns, so a later one of the same sender can't overtake it.
func (s *Stack) send() {
	if w := s.post(); w != nil {
		w.wake()
	}
}

// post is send without the wake-up: if it returns a worker, the caller wakes it or
// borrows its turn.
func (s *Stack) post() *Engine {
	h, lane := s.to, s.lane
	if lane == Replies {
		h = s.back
	}
	h.push(s, s)
	if lane == System {
		invariant.Point("inbox.urge")
		h.interrupt(0)
	}
	return h.ring()
}

// post is Stack.post of several stacks, chained from the newest to the oldest.
func (h *House) post(newest, oldest *Stack) *Engine {
	h.push(newest, oldest)
	return h.ring()
}

func (h *House) push(newest, oldest *Stack) {
	for {
		invariant.Point("inbox.push")
		old := h.inbox.Load()
		oldest.next = old
		invariant.Point("inbox.pushed")
		if h.inbox.CompareAndSwap(old, newest) {
			return
		}
	}
}

// ring makes sure that the owner of h finds its mail. It returns the owner if the
// caller must wake it, otherwise nil.
func (h *House) ring() *Engine {
	invariant.Point("inbox.ring")
	if h.flags.Has(flags.Rung) {
		return nil
	}
	invariant.Point("inbox.bit")
	if !h.flags.Set(flags.Rung) {
		return nil
	}
	return h.pushRung()
}

// pushRung pushes h, whose bit the caller has set, onto its owner's chain. It returns the
// owner, which the caller must wake; nil: it has left.
func (h *House) pushRung() *Engine {
	invariant.Point("inbox.owner")
	w := h.owner.Load()
	for {
		invariant.Point("inbox.rung")
		old := w.rungs.Load()
		if old == closedRungs {
			h.drainClosed()
			return nil
		}
		h.rungNext = old
		invariant.Point("inbox.chained")
		if w.rungs.CompareAndSwap(old, h) {
			return w
		}
	}
}

// wake makes w, if it is parked, look at its rungs and gifts. It reports whether w was parked.
func (w *Engine) wake() bool {
	woken := w.turn.Wake()
	if woken {
		w.Driver.Wake()
	}
	return woken
}

// wakeUp is wake of another worker in a turn of w, which counts the wake-up.
func (w *Engine) wakeUp(to *Engine) {
	if to.wake() {
		w.Count.Add(count.Wakes, 1)
	}
}

// TakeRungs takes what other workers and guests sent, and the houses that were given to w.
// Only who runs w's turn calls it.
//
//alloc:none
func (w *Engine) TakeRungs() {
	invariant.Point("gift.look")
	if w.gifts.Load() != nil {
		w.takeGifts(nil)
	}
	invariant.Point("inbox.look")
	if h := w.rungs.Load(); h != nil && h != closedRungs {
		w.takeRungs(nil)
	}
}

// takeRungs takes what other workers and guests sent, and leaves mark in the chain's place, or nil.
//
//alloc:none
func (w *Engine) takeRungs(mark *House) {
	invariant.Point("inbox.take")
	w.Heard, w.Gathers = true, true
	for h := inOrder(w.rungs.Swap(mark)); h != nil; {
		next := h.rungNext // read first: once the bit is clear the link is a ringer's
		invariant.Point("inbox.mine")
		if h.owner.Load() == w {
			invariant.Point("inbox.clear")
			h.flags.Clear(flags.Rung)
			w.drain(h)
			w.makeReady(h)
		} else {
			w.Count.Add(count.Forwards, 1)
			if to := h.pushRung(); to != nil {
				w.wakeUp(to)
			}
		}
		h = next
	}
}

// inOrder reverses a chain of rungs, which has the newest first, so that houses that were rung for
// first are visited first.
func inOrder(newest *House) (oldest *House) {
	for newest != nil {
		next := newest.rungNext
		newest.rungNext = oldest
		oldest, newest = newest, next
	}
	return oldest
}

// drain moves the inbox of h, which w owns, into the lanes, oldest first.
func (w *Engine) drain(h *House) {
	invariant.Point("inbox.drain")
	newest := h.inbox.Swap(nil)
	var oldest *Stack
	for newest != nil {
		next := newest.next
		newest.next = oldest
		oldest, newest = newest, next
	}
	for oldest != nil {
		next := oldest.next
		oldest.next = nil
		if oldest.sent != 0 { // it is from a worker, or a guest's ask
			w.Gathers = false
		}
		h.put(oldest)
		oldest = next
	}
	if h.waits() > int(h.limit) {
		w.shed(h)
	}
}

// Sleep parks w, and returns when w's goroutine has its turn again: after a wake-up, which it
// reports, after an event of the network if network is true, or after ns. Only w's own goroutine
// calls it.
func (w *Engine) Sleep(ns int64, network bool) (woken bool) {
	if w.Park() {
		w.Driver.Wait(ns, network)
	}
	woken = w.Woken()
	for !w.Unpark() { // until the turn is given back
		w.Driver.Wait(-1, false)
	}
	return woken
}

// Park declares w parked and reports whether to block. The caller has flushed w's
// pools. From here on others may run w's turns: the caller touches nothing of w
// until Unpark has returned true. Only w's own goroutine calls it.
func (w *Engine) Park() bool {
	if w.toWake != nil {
		panic("stack: a worker parks, and has not woken another one")
	}
	w.turn.Park()
	invariant.Point("park.look")
	return !w.Pending()
}

// Unpark takes the turn back after Park, and after blocking. It reports false if a
// borrower runs a turn: then block until the Driver's Wake, and call it again. Only w's own
// goroutine calls it.
func (w *Engine) Unpark() bool { return w.turn.Unpark() }

// Borrowed reports whether a borrower runs a turn of w. Any goroutine may ask.
func (w *Engine) Borrowed() bool {
	invariant.Point("inbox.borrowed")
	return w.turn.Borrowed()
}

// Woken reports whether somebody has woken w since Park. Only w's own goroutine may ask, before
// Unpark.
func (w *Engine) Woken() bool { return w.turn.Own() }

// Leave closes w, whose houses have stopped or are about to. From now on senders themselves end the
// messages that they send to these houses, and houses given to w stay with their givers. Leave
// takes what came before; then w's loop takes turns until one finds nothing to do. Only who runs
// w's turn calls it.
func (w *Engine) Leave() {
	w.takeGifts(closedRungs)
	// they are closed if a step has ended the goroutine that was leaving, and another one goes on
	if invariant.Point("leave.close"); w.rungs.Load() != closedRungs {
		w.takeRungs(closedRungs)
	}
}

// drainClosed ends the mail of a house whose worker left. The caller has set
// the bit flags.Rung, and so owns the house's inbox.
func (h *House) drainClosed() {
	for {
		invariant.Point("closed.drain")
		counted := 0
		for s := h.inbox.Swap(nil); s != nil; {
			next := s.next
			counted += s.counted(h)
			s.endOutside(fault.ErrStopped)
			s = next
		}
		h.count(-counted)
		invariant.Point("closed.clear")
		h.flags.Clear(flags.Rung)
		invariant.Point("closed.look")
		if h.inbox.Load() == nil {
			return
		}
		invariant.Point("closed.bit")
		if !h.flags.Set(flags.Rung) {
			return
		}
	}
}

// endOutside ends a message that can't be handled, on any goroutine.
func (s *Stack) endOutside(err error) {
	if s.by == controlHandler {
		s.tellOutside()
	}
	switch {
	case s.by.envelope.opens != nil:
		e := envelopeOf(s)
		e.allLost(e.close(), lost.Stopped)
		pool.Send(&s.Object)
	case s.lane == Replies:
		s.lateOutside()
	case s.back == nil:
		if s.by.class == classNotice && !s.by.Private {
			s.lostOutside(lost.Stopped)
		}
		pool.Send(&s.Object)
	case s.back.owner.Load() == nil:
		s.err = err
		if r := s.relay(); r != nil {
			r.passOnOutside(s)
			return
		}
		callOf(s.back).complete(s)
	default:
		s.err, s.unbegun = err, s.state == idle // an ask that isn't idle was forwarded
		s.lane = Replies
		s.send()
	}
}
