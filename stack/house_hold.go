package stack

import "github.com/stackhouse-go/stackhouse/stack/flags"

// A house may hold its calls: none begins, and calls that come wait in the annex, in order of
// arrival, until no reason to hold is left. Answers, timers and system messages go on. Houses that
// hold nothing pay nothing: the bit is in a word that visits load anyway.

// reasons is why a house holds its calls, one bit for each reason. Only the owner touches it.
type reasons uint8

const (
	// heldByLife: a hook runs, or the actor waits for its supervisor, see life.go.
	heldByLife reasons = 1 << iota
	// heldByBarrier: a stack has the actor for itself.
	heldByBarrier
	// heldByUser: the actor was told to pause.
	heldByUser
	// heldByLink: the Remote of a stand-in takes no calls now, see house_remote.go.
	heldByLink
)

// hold keeps calls from beginning, for one more reason. Only the owner calls it, or whoever is the
// only one to know the house.
func (h *House) hold(why reasons) {
	h.rooms()
	h.why |= why
	h.interrupt(flags.Held)
}

// release takes a reason away. When none is left, the held calls are next, in their order.
func (w *Engine) release(h *House, why reasons) {
	if h.why&why == 0 {
		return
	}
	if h.why &^= why; h.why != 0 {
		return
	}
	h.flags.Clear(flags.Held)
	w.recall(h, h.annex.Load())
}

// recall puts the held calls before those in the lane.
func (w *Engine) recall(h *House, a *annex) {
	a.held.join(&h.calls)
	h.calls, a.held = a.held, queue{}
	w.makeReady(h)
}
