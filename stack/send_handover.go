package stack

import (
	"runtime"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/pace"
)

// This file is how a ready house moves to another worker. Only its owner moves it, between turns,
// with no deferred work left. So a worker that finds a house its own keeps it for the whole turn.
// The house is
//
//	ready   in the giver's queue, and leaves it. Its armed promises leave the giver's wheel,
//	        queued becomes queuedGift, so that nobody makes it ready meanwhile, and places on
//	        offer in an envelope are withdrawn, so that the receiver's first notice calls catchUp
//	given   owner is the receiver, which drains the inbox and appends to the lanes like any
//	        owner, but doesn't visit the house: it is on its way to the chain of gifts, or on
//	        it. The chain uses a link of the ready queue
//	taken   the receiver swaps the chain out, arms the promises in its own wheel, and makes
//	        the house ready
//
// A sender that rings meanwhile rings the owner, or a former owner, which passes the rung on
// (TakeRungs). Mail in the lanes was sent before mail in the inbox, so order holds.
//
// A house that stays is never given. To keep it, set flags.Stays and, if flags.Moving is set, wait
// until that is clear. The giver sets flags.Moving and, if flags.Stays is set, doesn't give. The
// one that comes second sees the other's flag.
//
// In the middle of a visit the receiver may find that a house is now its own for which its outbox
// has messages: these leave first (Engine.sendAhead).
//
// The chain of gifts of a worker that left is closed, as its chain of rungs is: a house given to it
// stays with the giver.

const (
	// handOverMax is how many houses move at once, at most.
	handOverMax = 128
	// handOverArmed is for how many answers a house that moves may wait: their
	// deadlines move one by one.
	handOverArmed = 64
	// giveAgainAfter is how long a house that was given stays, 10 ms: each move costs both
	// workers, and those who send to the house.
	giveAgainAfter pace.Moment = 10
)

// Stay keeps h with its owner from now on. If h is being given away, it waits until that has ended.
// Any goroutine may call it.
func (h *House) Stay() {
	invariant.Point("stay.set")
	h.flags.Set(flags.Stays)
	for invariant.Await("stay.moves", h, (*House).stands); !h.stands(); {
		runtime.Gosched()
	}
}

// stands reports whether h isn't being given away.
func (h *House) stands() bool { return !h.flags.Has(flags.Moving) }

// Backlog returns how long the first ready house with calls only has waited, by the clock as last
// read, ns; 0 if there is none. Only who runs w's turn may ask.
func (w *Engine) Backlog() int64 {
	if h := w.cold.head; h != nil {
		return w.Now - h.readyAt
	}
	return 0
}

// Cold returns how many ready houses have calls only, and how many such houses were visited so far.
// Only who runs w's turn may ask.
func (w *Engine) Cold() (waiting int, visited uint64) { return w.cold.n, w.cold.popped }

// Surplus returns how many houses to give away: half of the ready ones with calls only, fewer if
// many of them aren't movable, at most handOverMax. Only who runs w's turn may ask.
func (w *Engine) Surplus() int {
	all, movable := 0, 0
	for h := w.cold.tail; h != nil && all < 2*handOverMax; h = h.prev {
		all++
		if w.movable(h) {
			movable++
		}
	}
	return min(all/2, movable)
}

// movable reports whether h, which is ready, may be given to another worker.
func (w *Engine) movable(h *House) bool {
	return !h.flags.Has(flags.Stays|flags.Stopped) && h.Waiting() <= handOverArmed && (h.givenAt == 0 || pace.MomentOf(w.Now)-h.givenAt >= giveAgainAfter)
}

// HandOver gives up to n houses, those that would be visited last, to another worker of the same
// system, and wakes it. It returns how many were given: fewer than n if not so many are movable.
// Only who runs w's turn calls it, between turns.
func (w *Engine) HandOver(to *Engine, n int) (given int) {
	w.RunDeferred() // a step that called runtime.Goexit has cut the last turn short
	w.ArmFresh()
	for h := w.cold.tail; h != nil && given < n; {
		before := h.prev
		if w.movable(h) && w.give(h, to) {
			given++
		}
		h = before
	}
	w.Count.Add(count.Given, uint64(given))
	w.wakeUp(to)
	return given
}

// give is the transition ready -> given; false: h stays.
func (w *Engine) give(h *House, to *Engine) bool {
	invariant.Point("gift.moves")
	h.flags.Set(flags.Moving)
	invariant.Point("gift.stays")
	if h.flags.Has(flags.Stays) {
		h.endMove()
		return false
	}
	w.cold.remove(h)
	h.queued = queuedGift
	h.withdraw() // the receiver empties its outbox first, see sendAhead
	h.eachNode(func(n *future.Node) {
		if n.Armed() {
			w.Driver.Disarm(n)
		}
	})
	invariant.Point("gift.owner")
	h.owner.Store(to) // behind it only the bit, and then the link, are the giver's
	h.endMove()       // before the receiver may give it on
	for {
		invariant.Point("gift.push")
		old := to.gifts.Load()
		if old == closedRungs {
			h.next = nil
			h.owner.Store(w)
			w.queueGift(h)
			return false
		}
		h.next = old
		if to.gifts.CompareAndSwap(old, h) {
			return true
		}
	}
}

// endMove ends the move of h.
func (h *House) endMove() {
	invariant.Point("gift.settle")
	h.flags.Clear(flags.Moving)
}

// takeGifts is the transition given -> taken of all houses on the chain of gifts. It leaves mark
// there, or nil.
//
//go:noinline
func (w *Engine) takeGifts(mark *House) {
	if w.gifts.Load() == closedRungs {
		return
	}
	invariant.Point("gift.take")
	for h := w.gifts.Swap(mark); h != nil; {
		next := h.next
		h.next = nil
		h.givenAt = pace.MomentOf(w.Now)
		w.queueGift(h)
		h = next
	}
}

// sendAhead empties the outbox if it is for h, which was given to w after its messages were put
// there.
//
//go:noinline
func (w *Engine) sendAhead(h *House) {
	if w.out.to == h {
		w.sendOut()
	}
}

// queueGift is the end of a move, at the receiver, or at the giver if it failed: it arms the nodes
// of h and makes h ready. h counts as waiting since it was ready at the giver.
func (w *Engine) queueGift(h *House) {
	if invariant.Enabled && (h.owner.Load() != w || h.queued != queuedGift) {
		panic("stack: a worker takes a house that wasn't given to it")
	}
	h.eachNode(func(n *future.Node) {
		if n.Slot == 0 {
			w.Driver.Arm(n)
		}
	})
	since := h.readyAt
	h.queued = notQueued
	w.makeReady(h)
	h.readyAt = since
}

// eachNode calls f for the nodes of all promises that wait in h, and for the timer of its quiet.
func (h *House) eachNode(f func(*future.Node)) {
	h.eachPromise(func(p *future.Promise) { f(&p.Node) })
	if a := h.annex.Load(); a != nil && a.quiet != nil && a.quiet.timer.When != 0 {
		f(&a.quiet.timer)
	}
}

// eachPromise calls f for all promises that wait in h's table.
func (h *House) eachPromise(f func(*future.Promise)) {
	if a := h.annex.Load(); a != nil {
		a.table.Each(f)
	}
}
