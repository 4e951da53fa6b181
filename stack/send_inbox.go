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
//	quiet     rung clear, inbox empty or about to be rung for
//	rung      rung set: the house stands on exactly one worker's chain of rungs,
//	          or its ringer is about to push it there, or its taker is about to clear
//
// and whose turn of a worker it is turn.State says.
//
// The steps, in the only order that loses nothing:
//
//	send      push onto the inbox, workers a chain of stacks (see send_outbox.go); ring
//	ring      if the flag rung is clear and setting it succeeds: push the house on its
//	          owner's rungs, wake that worker; or, in a worker's turn, note it and wake it,
//	          or borrow, before the turn ends, or in the next one
//	take      swap out the rungs; for each, rungNext read first: if it is mine,
//	          clear rung, then drain the inbox and make it ready; if not, leave the bit
//	          set and push it on its owner's rungs. Nothing else clears the bit
//	park      declare it, then look at rungs and gifts; if something is there,
//	          don't block. Then, and after blocking, unpark: who hasn't the turn then blocks again
//	borrow    run turns, give back: if that parks the worker look at rungs and gifts, and wake
//	add       to an envelope that is open, and the newest mail: see call_envelope.go; ring
//	give      a ready house to another worker, and wake that: see send_handover.go
//	leave     swap the gifts to a closed mark, then the rungs, and take what was there: now
//	          nothing comes any more, and turns do what there is, until one finds nothing. Who
//	          rings a closed chain holds the bit and drains: answer the inbox, clear the bit,
//	          look again

// closedRungs marks the chain of a worker that left.
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

// ring sees to it that the owner of h finds its mail, and returns the owner if the
// caller must wake it.
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

// pushRung puts h, whose bit the caller holds, on its owner's chain. It returns the
// owner, for the caller to wake.
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

// wake sees to it that w looks at its rungs and gifts. It reports whether w was parked.
func (w *Engine) wake() bool {
	woken := w.turn.Wake()
	if woken {
		w.Driver.Wake()
	}
	return woken
}

// wakeUp is wake of another worker in w's own turn, which counts it.
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

// takeRungs takes what other workers and guests sent, and leaves a mark in its place, or nothing.
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

// inOrder turns a chain of rungs around, which has the newest first: who was rung for first is
// visited first.
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
		if oldest.sent != 0 { // of a worker, or a guest's ask
			w.Gathers = false
		}
		h.put(oldest)
		oldest = next
	}
	if h.waits() > int(h.limit) {
		w.shed(h)
	}
}

// Sleep parks w, and returns when w's goroutine has its turn again: behind a wake-up, which it
// reports, an event of the network if that counts, or ns.
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

// Park declares w parked and reports whether to block. The caller has flushed its
// pools. From here on others may run w's turns: the caller touches nothing of it
// until Unpark has returned true.
func (w *Engine) Park() bool {
	if w.toWake != nil {
		panic("stack: a worker parks, and has not woken another one")
	}
	w.turn.Park()
	invariant.Point("park.look")
	return !w.Pending()
}

// Unpark goes back to running after Park, and after blocking. It reports false if
// somebody else runs a turn: block until the Driver's Wake, and call it again.
func (w *Engine) Unpark() bool { return w.turn.Unpark() }

// Borrowed reports whether somebody else runs a turn of w. Any goroutine may ask.
func (w *Engine) Borrowed() bool {
	invariant.Point("inbox.borrowed")
	return w.turn.Borrowed()
}

// Woken reports whether somebody has seen w parked and wakes it.
func (w *Engine) Woken() bool { return w.turn.Own() }

// Leave closes w: its houses have stopped, or are about to. What is sent to them from now on is
// answered by the sender, and what is given to w stays where it was. What came before is taken:
// its loop takes turns until one finds nothing to do.
func (w *Engine) Leave() {
	w.takeGifts(closedRungs)
	// else a step has ended the goroutine that was leaving
	if invariant.Point("leave.close"); w.rungs.Load() != closedRungs {
		w.takeRungs(closedRungs)
	}
}

// drainClosed answers the mail of a house whose worker left. The caller holds
// the rung bit, and with it the house's inbox.
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
		if s.by.class == classNotice {
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
		s.err, s.unbegun = err, s.state == idle // otherwise it was forwarded
		s.lane = Replies
		s.send()
	}
}
