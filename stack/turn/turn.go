package turn

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// State says who runs the turns of a worker. Any goroutine may call its methods, except where a
// method names its caller.
type State struct{ holder atomic.Uint32 }

const (
	run uint32 = iota
	parked
	borrowed
	wanted
)

// Parked reports whether nobody runs turns.
func (t *State) Parked() bool { return t.holder.Load() == parked }

// Own reports whether the worker's own goroutine has the turn, or was given it.
func (t *State) Own() bool { return t.holder.Load() == run }

// Borrowed reports whether somebody else runs turns.
func (t *State) Borrowed() bool {
	word := t.holder.Load()
	return word == borrowed || word == wanted
}

// Wake is the transition parked -> run. True: the caller ends the wait of the worker's goroutine.
func (t *State) Wake() bool {
	invariant.Point("turn.wake")
	if !t.Parked() {
		return false
	}
	invariant.Point("turn.woken")
	return t.holder.CompareAndSwap(parked, run)
}

// Borrow is the transition parked -> borrowed. True: the caller runs turns until GiveBack.
func (t *State) Borrow() bool {
	invariant.Point("turn.borrow")
	if !t.Parked() {
		return false
	}
	invariant.Point("turn.borrowed")
	return t.holder.CompareAndSwap(parked, borrowed)
}

// Park is the transition run -> parked, by the worker's own goroutine, which afterwards looks
// whether anything was sent.
func (t *State) Park() {
	invariant.Point("turn.park")
	t.holder.Store(parked)
}

// Unpark is called by the worker's own goroutine after Park, whether it has blocked or not. True:
// it has the turn, by parked -> run, or because the word is run already. False: it must wait, by
// borrowed -> wanted, or because the word is wanted already.
func (t *State) Unpark() bool {
	for {
		invariant.Point("turn.back")
		switch word := t.holder.Load(); word {
		case run, wanted:
			return word == run
		case parked:
			invariant.Point("turn.run")
			if t.holder.CompareAndSwap(parked, run) {
				return true
			}
		case borrowed:
			invariant.Point("turn.want")
			if t.holder.CompareAndSwap(borrowed, wanted) {
				return false
			}
		}
	}
}

// GiveBack ends a borrowed turn; the borrower calls it. If nothing more is to be done and the
// worker doesn't wait, it is borrowed -> parked and returns true: the borrower looks whether
// anything was sent. Otherwise it is borrowed, wanted -> run: the borrower ends the worker's wait.
func (t *State) GiveBack(more bool) (unowned bool) {
	invariant.Point("turn.give")
	if !more && t.holder.CompareAndSwap(borrowed, parked) {
		return true
	}
	invariant.Point("turn.given")
	t.holder.Store(run)
	return false
}
