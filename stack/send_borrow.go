package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/turns"
)

// A guest that finds the worker of its callee parked runs the worker's turns itself:
// its answer costs a few function calls, where waking a thread, and being woken by
// it, takes tens of microseconds. A worker that has sent to a parked one, and has nothing
// else to do, does the same. The states are in package turn.

// borrow runs turns of w, if it is parked, until c is answered or w has more to do
// than a guest should. It reports false if w wasn't parked.
func (g *Guests) borrow(w *Engine, c *Call) bool {
	if !w.turn.Borrow() {
		return false
	}
	turner := turns.Begin()
	returned := false
	defer func() {
		turner.End()
		if !returned {
			g.giveUpOrFree(c)
		}
	}()
	w.runBorrowed(c, nil, c.asked.sent)
	returned = true
	return true
}

// runBorrowed runs turns of w, which the caller has borrowed, for a guest that waits for c or, if c
// is nil, for the worker by. It gives w back, also if a step calls runtime.Goexit, which ends the
// borrower's goroutine. It returns how many messages the turns handled.
func (w *Engine) runBorrowed(c *Call, by *Engine, now int64) (handled int) {
	more, returned := true, false
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				turns.Crash("stack: in a borrowed turn", v)
			}
		}
		w.giveBack(more)
	}()
	before := w.handled
	more = w.Driver.Borrowed(c, now)
	// by reads the clock after these messages as it does after its own
	if by != nil && w.handled != before {
		by.pace.Assisted(&w.pace, before, w.handled)
		by.house, by.by = w.house, w.by
	}
	returned = true
	return int(w.handled - before) // w is ours until the deferred giveBack
}

// wakeLater is wakeUp, but if w assists it leaves one parked worker asleep for now:
// later in this turn, or in the next one, w calls Assist or WakeNow for it.
func (w *Engine) wakeLater(to *Engine) {
	if w.toWake == to {
		return
	}
	invariant.Point("borrow.later")
	if !to.turn.Parked() {
		return
	}
	switch {
	case w.toWake != nil, !w.Assists, !w.turn.Own(): // its own turn is borrowed
		w.wakeUp(to)
	case w.WakesLeft > 0:
		w.WakesLeft--
		w.wakeUp(to)
	default:
		w.toWake = to
	}
}

// OwesWake reports whether a worker to which this one has sent is still to be woken.
func (w *Engine) OwesWake() bool { return w.toWake != nil }

// Assist runs a turn of the worker that is still to be woken, if it is parked, and returns how many
// messages the turn handled. Only w's loop calls it, in a turn, when no house is ready.
func (w *Engine) Assist() (handled int) {
	to := w.toWake
	w.toWake = nil
	if to.turn.Borrow() {
		handled = to.runBorrowed(nil, w, w.Now)
	}
	return handled
}

// WakeNow wakes the worker that is still to be woken, if there is one, as w has no time to Assist.
// Only who runs w's turn calls it.
func (w *Engine) WakeNow() {
	if to := w.toWake; to != nil {
		w.toWake = nil
		w.wakeUp(to)
	}
}

// giveBack ends a borrowed turn of w. If w has more to do, or waits for its turn, it
// is woken. The word is run then, so that no other borrower keeps it waiting.
func (w *Engine) giveBack(more bool) {
	if !w.turn.GiveBack(more) {
		w.Driver.Wake()
		return
	}
	invariant.Point("borrow.look")
	if w.Pending() { // who sent after the last turn took its rungs saw borrowed, and woke nobody
		w.wake()
	}
}

// giveUpOrFree gives up or, if it is answered, frees a call whose goroutine ends.
func (g *Guests) giveUpOrFree(c *Call) {
	if c.cell.Waits() && g.giveUp(c) {
		return
	}
	g.Done(c)
}
