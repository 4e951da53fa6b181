package stack

import "github.com/stackhouse-go/stackhouse/stack/lifecycle"

// pauseHandler lets the delay in a restart pass.
var pauseHandler = newOwnHook("a pause in a restart", func(_ *struct{}, s *hookStack) Yield {
	s.Alarm(s.pause.Promise(), s.to.life().Delay(), 0)
	return Suspend(s, passed)
})

// drainHandler is the handler of drains. A drain stands in the lane of calls, behind the calls that
// are to be handled before the stop.
var drainHandler = newDrain()

func newDrain() *Handler {
	h := newOwnHook("a stop behind what is queued", passed)
	h.counts = 0 // a full mailbox takes it too
	return h
}

// Drain has h stop when all calls that were queued before have been handled, and their stacks
// have ended; those behind get ErrStopped. Any goroutine may call it.
func (h *House) Drain(g *Guests) {
	s := g.Begin(h, drainHandler)
	hookOf(s).role, s.used = roleDrain, true
	s.send()
}

// runHook takes a stack for a hook and puts it first in h.
func (w *Engine) runHook(h *House, by *Handler, r role, at lifecycle.Hook, cause error) {
	w.goesFirst(h, w.newHook(h, by, r, at, cause))
}
