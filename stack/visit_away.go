package stack

import (
	"github.com/stackhouse-go/stackhouse/pool"
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
	s := h.calls.head
	if s.by.envelope.opens != nil {
		s = w.takeOut(h, envelopeOf(s))
	} else {
		h.calls.pop()
		h.unshown -= s.by.counts
		w.took(h, s)
	}
	switch {
	case s == nil: // the envelope was empty
	case w.dead(h, s):
		w.drop(h, s)
	case s.by == drainHandler:
		w.Shard.Put(&s.Object)
		r.Command(h, command.Drain)
	default:
		s.begunOnward()
		s.goAway()
		w.by = s.by // for who tells of slow steps
		r.Take(h, s)
	}
}

// Readmit has calls of h begin again, after Remote.Ready has reported false. Only who runs w's turn
// calls it.
func (w *Engine) Readmit(h *House) { w.release(h, heldByLink) }

// Vanish ends h, a stand-in: its actor has stopped or, if err isn't nil, is out of reach because of
// err. So end calls that wait, and all that come. Whoever waits for the end is answered, watchers
// are told. The Remote ends what is away before. If h has vanished nothing happens. Only who runs
// w's turn calls it.
func (w *Engine) Vanish(h *House, err error) {
	if !h.Gone() {
		h.annex.Load().rules.loss = err
		w.stop(h)
	}
}

// Carry returns what s carries, for a Remote or a Server that reads a message into s: what it holds
// lives as long as s. Only who may write the message may call it.
func (s *Stack) Carry() *pool.Carrier {
	s.used = true
	return &s.carried
}

// servedBit tells the ids of what is served from those of promises.
const servedBit = 1 << 63

// Serve begins an ask of by for the house at, whose actor is a Server, with a number by which
// Answered knows it, in the low half of its ID. Its deadline, on the system's clock, ns, is that of
// what it asks, and it doesn't begin behind it; 0: there is none. Nobody ends it then: who has
// asked gives it up. The caller writes the request, and calls Push. Only who runs w's turn calls
// it.
func (w *Engine) Serve(at *House, by *Handler, n uint32, deadline int64) *Stack {
	at.rooms()
	c := w.Begin(by)
	c.back, c.id, c.deadline = at, servedBit|uint64(n), deadline
	return c
}

// Admits reports whether h takes a call of w now, as Push would. Only who runs w's turn may ask.
func (w *Engine) Admits(h *House) bool {
	if h.owner.Load() == w {
		return !h.closed() || w.room(h)
	}
	return !w.crowded(h)
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

// SetSlot notes where a Remote keeps s, which it has taken: in place of when s was sent, which
// nobody reads any more.
func (s *Stack) SetSlot(n uint32) { s.sent = int64(n) }

// Slot returns what SetSlot has noted.
func (s *Stack) Slot() uint32 { return uint32(s.sent) }
