package turn

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// State says who runs the turns of a worker. Any goroutine may ask, and make the transitions that
// don't name who makes them.
type State struct{ holder atomic.Uint32 }

const (
	run uint32 = iota
	parked
	borrowed
	wanted
)

// Parked reports whether nobody runs turns.
func (t *State) Parked() bool { return t.holder.Load() == parked }

// Own reports whether the worker's own goroutine has the turn, or it was given to that.
func (t *State) Own() bool { return t.holder.Load() == run }

// Borrowed reports whether somebody else runs turns.
func (t *State) Borrowed() bool {
	word := t.holder.Load()
	return word == borrowed || word == wanted
}

// Wake is the transition parked -> run; true: the caller ends the worker's wait.
func (t *State) Wake() bool {
	invariant.Point("turn.wake")
	if !t.Parked() {
		return false
	}
	invariant.Point("turn.woken")
	return t.holder.CompareAndSwap(parked, run)
}

// Borrow is the transition parked -> borrowed; true: the caller runs turns.
func (t *State) Borrow() bool {
	invariant.Point("turn.borrow")
	if !t.Parked() {
		return false
	}
	invariant.Point("turn.borrowed")
	return t.holder.CompareAndSwap(parked, borrowed)
}

// Park is the transition run -> parked, by the worker's own goroutine, which looks behind it
// whether anything was sent.
func (t *State) Park() {
	invariant.Point("turn.park")
	t.holder.Store(parked)
}

// Unpark is the way back of the worker's own goroutine, behind Park, also if it has blocked:
// parked -> run, or run stays; true: it has the turn. Otherwise borrowed -> wanted, or wanted
// stays: it waits.
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

// GiveBack is the end of a borrowed turn. If no more is to be done: borrowed -> parked, and true:
// the borrower looks whether anything was sent. Otherwise, or if the worker waits, -> run: the
// borrower ends its wait.
func (t *State) GiveBack(more bool) (unowned bool) {
	invariant.Point("turn.give")
	if !more && t.holder.CompareAndSwap(borrowed, parked) {
		return true
	}
	invariant.Point("turn.given")
	t.holder.Store(run)
	return false
}
