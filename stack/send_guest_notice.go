package stack

import (
	"context"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// add counts the i-th message, which the sender has written. It reports false if the
// receiver has closed the envelope before.
func (e *envelope) add(i uint32) bool {
	invariant.Point("envelope.add")
	return e.word.CompareAndSwap(i, i+1)
}

// Tell sends a notice. The error is ErrMailboxFull or ErrStopped. Any goroutine may call it.
func Tell[Msg any](g *Guests, h *House, by *Handler, msg *Msg) error {
	if !h.reserve() {
		return noticeFor(g, h, by, msg).refusePost()
	}
	sendNotice(g, h, by, msg)
	return nil
}

// TellWait is Tell that waits for room, until ctx ends. In a step it returns ErrBlockingOnWorker
// instead of waiting.
func TellWait[Msg any](ctx context.Context, g *Guests, h *House, by *Handler, msg *Msg) error {
	for !h.reserve() {
		if h.Gone() {
			return noticeFor(g, h, by, msg).refusePost()
		}
		if err := g.waitForRoom(ctx, h); err != nil {
			g.Pools.Put(&noticeFor(g, h, by, msg).Object) // the put releases msg
			return err
		}
	}
	sendNotice(g, h, by, msg)
	return nil
}

// noticeFor returns a stack with the notice msg.
func noticeFor[Msg any](g *Guests, h *House, by *Handler, msg *Msg) *Stack {
	s := g.Begin(h, by)
	*Message[Msg](s) = *msg
	return s
}

// sendNotice sends a notice for which there is room.
func sendNotice[Msg any](g *Guests, h *House, by *Handler, msg *Msg) {
	if by.bare.envelope == nil {
		noticeFor(g, h, by, msg).send()
		return
	}
	say(g, h, by, msg)
	if w := h.ring(); w != nil { // not under the lock: ring may end messages, and their Release tell
		w.wake()
	}
}

// say pushes a notice for which there is room, without ringing. If the newest mail of the inbox is
// still the last one of its own stripe, the notice joins that mail, if it is an envelope for the
// same handler, or else begins an envelope.
func say[Msg any](g *Guests, h *House, by *Handler, msg *Msg) {
	from := g.Pools.Lock()
	defer g.Pools.Unlock()
	last := &g.stripes[pool.Stripe()].last[h.serial%lastMax]
	invariant.Point("envelope.newest")
	behind := last.mail != nil && h.inbox.Load() == last.mail
	if behind && last.by == by.bare.envelope {
		e := envelopeOf(last.mail)
		invariant.Point("envelope.word")
		// neither full nor closed
		if i := e.word.Load(); i < uint32(by.bare.envelope.envelope.max) {
			at := entry[Msg](e, int(i))
			*at = *msg
			if e.add(i) {
				return
			}
			var zero Msg
			*at = zero
		}
	}
	if behind && !h.flags.Has(flags.Singles) {
		e := envelopeOf(stackOf(from.Take(by.bare.envelope.kind)))
		*entry[Msg](e, 0) = *msg
		invariant.Point("envelope.start")
		e.word.Store(1)
		last.mail, last.by = &e.Stack, by.bare.envelope
	} else {
		s := stackOf(from.Take(by.kind))
		*Message[Msg](s) = *msg
		last.mail, last.by = s, by
	}
	last.mail.to = h
	h.push(last.mail, last.mail)
}

// lastNotice is the mail by which the guests of a stripe sent their last notice to a house. If it
// is still the newest in the inbox, nothing was sent there since, and the mail isn't recycled.
type lastNotice struct {
	mail *Stack // nil: none
	by   *Handler
}

// lastMax is for how many houses a stripe remembers its last mail, in places by their serials.
const lastMax = 8
