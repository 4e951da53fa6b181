package stack

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// turnState says who runs the turns of a worker:
//
//	run       its own goroutine, or that is on its way to: behind park it is woken, or blocks no
//	          more
//	parked    nobody. Who wakes it, by wake, must end its wait; who borrows it, a guest or another
//	          worker, runs turns of it until giveBack. None of its houses is ready
//	borrowed  a borrower
//	wanted    a borrower, and the worker's own goroutine waits for that to end
//
// Who stores run for a worker that blocks must end its wait: the transitions say so. The zero
// turnState is run.
type turnState struct{ holder atomic.Uint32 }

const (
	turnRun uint32 = iota
	turnParked
	turnBorrowed
	turnWanted
)

// parked reports whether nobody runs turns.
func (t *turnState) parked() bool { return t.holder.Load() == turnParked }

// own reports whether the worker's own goroutine has the turn, or it was given to that.
func (t *turnState) own() bool { return t.holder.Load() == turnRun }

// borrowed reports whether somebody else runs turns.
func (t *turnState) borrowed() bool {
	word := t.holder.Load()
	return word == turnBorrowed || word == turnWanted
}

// wake is the transition parked -> run; true: the caller ends the worker's wait.
func (t *turnState) wake() bool {
	invariant.Point("turn.wake")
	if !t.parked() {
		return false
	}
	invariant.Point("turn.woken")
	return t.holder.CompareAndSwap(turnParked, turnRun)
}

// borrow is the transition parked -> borrowed; true: the caller runs turns.
func (t *turnState) borrow() bool {
	invariant.Point("turn.borrow")
	if !t.parked() {
		return false
	}
	invariant.Point("turn.borrowed")
	return t.holder.CompareAndSwap(turnParked, turnBorrowed)
}

// park is the transition run -> parked, by the worker's own goroutine, which looks behind it
// whether anything was sent.
func (t *turnState) park() {
	invariant.Point("turn.park")
	t.holder.Store(turnParked)
}

// unpark is the way back of the worker's own goroutine, behind park, also if it has blocked:
// parked -> run, or run stays; true: it has the turn. Otherwise borrowed -> wanted, or wanted
// stays: it waits.
func (t *turnState) unpark() bool {
	for {
		invariant.Point("turn.back")
		switch word := t.holder.Load(); word {
		case turnRun, turnWanted:
			return word == turnRun
		case turnParked:
			invariant.Point("turn.run")
			if t.holder.CompareAndSwap(turnParked, turnRun) {
				return true
			}
		case turnBorrowed:
			invariant.Point("turn.want")
			if t.holder.CompareAndSwap(turnBorrowed, turnWanted) {
				return false
			}
		}
	}
}

// giveBack is the end of a borrowed turn. If no more is to be done: borrowed -> parked, and true:
// the borrower looks whether anything was sent. Otherwise, or if the worker waits, -> run: the
// borrower ends its wait.
func (t *turnState) giveBack(more bool) (parked bool) {
	invariant.Point("turn.give")
	if !more && t.holder.CompareAndSwap(turnBorrowed, turnParked) {
		return true
	}
	invariant.Point("turn.given")
	t.holder.Store(turnRun)
	return false
}
