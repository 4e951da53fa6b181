package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/away"
	"github.com/stackhouse-go/stackhouse/stack/command"
)

// This file is how visits hand calls to other processes, and theirs to actors here; see
// house_remote.go.

// handOn hands the next call of h to its Remote.
func (w *Engine) handOn(h *House, r Remote) {
	if !h.Gone() && !r.Ready(h) {
		h.hold(heldByLink)
		return
	}
	s := h.calls.pop()
	h.unshown -= s.by.counts
	w.took(h, s)
	switch {
	case w.dead(h, s):
		w.drop(h, s)
	case s.by == drainHandler:
		w.Shard.Put(&s.Object)
		r.Command(h, command.Drain)
	default:
		s.begunOnward()
		s.goAway()
		w.current, w.by, w.inStep = s, s.by, true // codecs are code of users
		r.Take(h, s)
		w.inStep = false
	}
}

// Readmit has calls of h begin again, after Remote.Ready has reported false. Only who runs w's turn
// calls it.
func (w *Engine) Readmit(h *House) { w.release(h, heldByLink) }

// Vanish ends h, a stand-in, as its actor is gone or out of reach, because of err: so end calls
// that wait, and all that come. Watchers are told. Only who runs w's turn calls it.
func (w *Engine) Vanish(h *House, err error) {
	h.annex.Load().rules.gone = err
	w.stop(h)
}

// pass is control for a stand-in, which has not vanished.
func (w *Engine) pass(h *House, r Remote, m *control) {
	l := h.life()
	watched := len(l.watchers) > 0
	switch m.verb {
	case command.Watch:
		w.watch(h, m.watch)
	case command.Unwatch:
		h.unwatch(m.watch)
	case command.GivenUp:
		heed(w, h)
	case command.Stop, command.Pause, command.Continue:
		r.Command(h, m.verb)
	}
	if watched != (len(l.watchers) > 0) {
		r.Command(h, m.verb)
	}
}

// servedBit tells the ids of what is served from those of promises.
const servedBit = 1 << 63

// Serve begins an ask of by for the house at, whose actor is a Server, with a number by which
// Answered knows it, in the low half of its ID. It ends at deadline, on the system's clock, ns; 0:
// never. The caller writes the request, and calls Push. Only who runs w's turn calls it.
func (w *Engine) Serve(at *House, by *Handler, n uint32, deadline int64) *Stack {
	at.rooms()
	c := w.Begin(by)
	c.back, c.id, c.deadline = at, servedBit|uint64(n), deadline
	return c
}

// Unserve gives up what Serve has begun and Push has sent: its answer isn't wanted.
func (w *Engine) Unserve(c *Stack) {
	c.cancelled.Chain()
	c.chain(w)
}

// served hands the answer c to the Server in h. It reports false if nobody wants it.
func (h *House) served(c *Stack) bool {
	return c.id&servedBit != 0 && h.self() != nil && h.actor.(away.Server[Stack]).Answered(c)
}

// Mark notes a number in s, which a Remote has taken; Marked returns it.
func (s *Stack) Mark(n uint32) { s.sent = int64(n) }

// Marked returns what Mark has noted.
func (s *Stack) Marked() uint32 { return uint32(s.sent) }
