package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// This file is how a step tells a house of its own worker. There are three ways, which
// core.NoticePort tries in turn: Joins and Join, which are inlined; Tell, which calls
// no function; and TellOtherwise, in send_outbox.go, for all other cases.
//
// The last envelope in a lane, if the house's owner fills it, has places on offer
// (envelope.places): as many as the mailbox had room for when the offer was made. Until the offer
// is withdrawn, or another call of the owner comes behind the envelope, only Join adds to the calls
// of the owner that wait. Join doesn't see the calls that others have counted and not pushed yet:
// see house_mailbox.go.

// Joins reports whether a notice for h, which belongs to w, can join others: no mail must be
// drained first, and there is a place in the envelope that is last in the lane. Then Join is its
// Begin and Push; otherwise Tell, or else TellOtherwise. From the third on, successive notices by
// one handler share an envelope, which is less memory to touch than a stack for each.
//
// The inbox is looked at first: after a branch the load would keep the compiler from turning the
// result into branches.
//
//alloc:none
func (w *Engine) Joins(h *House, by *Handler) bool {
	if invariant.Enabled && h.owner.Load() != w {
		panic("stack: a notice joins those of another worker")
	}
	invariant.Point("worker.tell")
	if h.inbox.Load() != nil || h.calls.head == nil || h.calls.tail.by != by.bare.envelope {
		return false
	}
	e := envelopeOf(h.calls.tail)
	return e.filled < e.places
}

// Join takes a place for a notice to h, after Joins. It returns the messages of the envelope and
// the index of the place: the caller writes the message there, see Place.
//
//alloc:none
func (h *House) Join() (messages unsafe.Pointer, i uint32) {
	e := envelopeOf(h.calls.tail)
	if invariant.Enabled && e.filled >= e.places {
		panic("stack: a notice joins where no place is on offer")
	}
	i = e.filled
	e.filled = i + 1
	h.unshown++
	return unsafe.Add(unsafe.Pointer(e), unsafe.Sizeof(envelope{})), i
}

// offer lets Join fill as many places of e, the last in the lane of calls of h, as the mailbox has
// room for.
func (h *House) offer(e *envelope) {
	e.places = min(uint32(e.by.envelope.max), e.filled+uint32(max(0, int(h.limit)-h.waits())))
}

// withdraw ends the offer in the last envelope of the lane of calls: the next notice looks at the
// mailbox before it joins.
func (h *House) withdraw() {
	if s := h.calls.tail; h.calls.head != nil && s.by.envelope.opens != nil {
		e := envelopeOf(s)
		e.places = e.filled
	}
}

// Tell is Join for a notice that gets a stack of its own, as the first two in a lane do. It returns
// where the caller writes the message; nil: the notice must go by TellOtherwise.
//
//alloc:none
//go:nosplit
func (w *Engine) Tell(h *House, by *Handler) unsafe.Pointer {
	if invariant.Enabled && h.owner.Load() != w {
		panic("stack: a notice is pushed to a house of another worker")
	}
	if h.queued == queuedGift || h.follows(by) {
		return nil
	}
	invariant.Point("worker.tell")
	if h.inbox.Load() != nil || h.closed() {
		return nil
	}
	o := w.Shard.TakeFree(by.kind)
	if o == nil {
		return nil
	}
	s := stackOf(o)
	s.to = h
	h.unshown++
	h.calls.push(s)
	if h.queued == notQueued {
		if invariant.Enabled && h.ahead {
			panic("stack: something goes ahead in a house that isn't queued")
		}
		h.queued = queuedCold
		h.readyAt = w.Now
		w.cold.push(h)
	}
	return s.message()
}

// follows reports whether a notice of by goes into an envelope.
func (h *House) follows(by *Handler) bool {
	q := &h.calls
	return q.head != nil && by.bare.envelope != nil && (q.tail.by == by.bare.envelope || q.tail.by == by && q.tail != q.head)
}

// tellSlowly is Tell of any notice to a house of w: it drains mail and begins envelopes where
// needed. It returns nil if there is no room.
//
//alloc:none
func (w *Engine) tellSlowly(h *House, by *Handler) unsafe.Pointer {
	if h.behind() {
		w.catchUp(h)
	}
	if h.closed() && !w.room(h) {
		return nil
	}
	if !h.flags.Has(flags.Singles) && h.follows(by) {
		return w.tellBehind(h, by)
	}
	s := w.Begin(by)
	s.to = h
	if h.append(s, 1) {
		w.makeReady(h)
	}
	return s.message()
}

// tellBehind is Tell of a notice that follows others of its handler: it goes into their envelope or
// a new one. The house has calls, so nobody has to make it ready.
func (w *Engine) tellBehind(h *House, by *Handler) unsafe.Pointer {
	mail := by.bare.envelope
	if last := h.calls.tail; last.by == mail {
		if e := envelopeOf(last); e.filled > 0 && e.filled < uint32(mail.envelope.max) {
			e.filled++
			h.unshown++
			h.offer(e)
			return entryAt(e, mail, int(e.filled-1))
		}
	}
	e := envelopeOf(stackOf(w.Shard.Take(mail.kind)))
	e.to, e.filled = h, 1
	h.append(&e.Stack, 1)
	h.offer(e)
	return entryAt(e, mail, 0)
}
