package stack

import (
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// This file is how a step tells a house of its own worker. There are three ways, which
// core.NoticePort tries in turn: Joins and Join, which are compiled into it; Tell, which calls
// nothing; and TellOtherwise, in send_outbox.go, for all that is left.
//
// An envelope that is last in a lane, and that the house's owner fills, has places on offer
// (envelope.places), as many as the mailbox had room for when that was last looked at. As long as
// it is the last in the lane, only Join adds to what waits, as everything else of the owner's
// comes behind it, or withdraws the offer. What others have counted and not pushed yet Join
// doesn't see: see house_mailbox.go.

// Joins reports whether a notice for h, which belongs to w, is one of a burst: nothing is in the
// way, and there is a place in the envelope that is last in the lane. Then Join is its Begin and
// Push; otherwise Tell, or else TellOtherwise. From the third on, notices by one handler in a
// lane share an envelope: that is less to touch than a stack each.
//
// The inbox is looked at first: behind a branch the load would keep the compiler from making
// branches of the result.
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

// Join returns where the messages are that a notice for h joins, and the place that is its own:
// the caller writes there, see Place.
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

// offer has the owner of h fill as many places of e, the last in the lane of calls, as the
// mailbox has room for.
func (h *House) offer(e *envelope) {
	e.places = min(uint32(e.by.envelope.max), e.filled+uint32(max(0, int(h.limit)-h.waits())))
}

// withdraw ends the offer in the last envelope of the lane of calls: what waits is counted again
// before the next message joins it.
func (h *House) withdraw() {
	if s := h.calls.tail; h.calls.head != nil && s.by.envelope.opens != nil {
		e := envelopeOf(s)
		e.places = e.filled
	}
}

// Tell is Join for the notice that gets a stack of its own, as does a first and a second one.
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

// tellSlowly is Tell of any notice to a house of w, if there is room for it, whatever is in the
// way.
//
//alloc:none
func (w *Engine) tellSlowly(h *House, by *Handler) unsafe.Pointer {
	if h.behind() {
		w.catchUp(h)
	}
	if h.closed() && !w.room(h) {
		return nil
	}
	if h.follows(by) {
		return w.tellBehind(h, by)
	}
	s := w.Begin(by)
	s.to = h
	if h.append(s, 1) {
		w.makeReady(h)
	}
	return s.message()
}

// tellBehind is Tell of a notice that goes into an envelope, the last or a new one, or would but
// for flags.Singles. The house has calls already, so nobody makes it ready again.
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
	if h.flags.Has(flags.Singles) {
		s := w.Begin(by)
		s.to = h
		h.append(s, 1)
		return s.message()
	}
	e := envelopeOf(stackOf(w.Shard.Take(mail.kind)))
	e.to, e.filled = h, 1
	h.append(&e.Stack, 1)
	h.offer(e)
	return entryAt(e, mail, 0)
}
