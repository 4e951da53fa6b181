package stack

import (
	"fmt"
	"runtime/debug"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/self"
)

// A guest that finds the worker of its callee parked runs the worker's turns itself:
// its answer costs a few function calls, where waking a thread, and being woken by
// it, takes tens of microseconds. The states are in inbox.go.

// borrow runs turns of w, if it is parked, until c is answered or what w has to do
// is more than a guest should. It reports false if w wasn't parked.
func (g *Guests) borrow(w *Worker, c *Call) bool {
	invariant.Point("borrow.take")
	if w.state.Load() != stateParked || !w.state.CompareAndSwap(stateParked, stateBorrowed) {
		return false
	}
	turner := turning.enter(self.ID())
	more, returned := true, false
	defer func() {
		turning.leave(turner)
		if returned {
			w.giveBack(more)
			return
		}
		if v := recover(); v != nil {
			crash(v)
		}
		w.giveBack(more) // a step called runtime.Goexit, which ends the guest's goroutine
		g.desert(c)
	}()
	more = w.Driver.Lend(c, c.asked.sent)
	returned = true
	return true
}

// giveBack is the end of a borrowed turn. A worker that has more to do, or that
// waits for its turn, is woken: storing run keeps other guests from keeping it
// waiting.
func (w *Worker) giveBack(more bool) {
	invariant.Point("borrow.back")
	if !more && w.state.CompareAndSwap(stateBorrowed, stateParked) {
		invariant.Point("borrow.look")
		if w.Pending() { // sent after the last turn took its rungs, by who saw borrowed
			w.wake()
		}
		return
	}
	w.state.Store(stateRun)
	w.Driver.Wake()
}

// crash ends the process by a panic that no step contains, as it would on the worker's
// goroutine: the guest might recover, and go on beside a worker that is broken.
func crash(v any) {
	text := fmt.Sprintf("stack: in a borrowed turn: %v\n\n%s", v, debug.Stack())
	go panic(text)
	select {}
}

// desert gives a call up for a goroutine that ends.
func (g *Guests) desert(c *Call) {
	if c.waits() && g.giveUp(c) {
		return
	}
	g.Done(c)
}
