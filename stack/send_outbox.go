package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// outbox is what a visit sends to one house of another worker, and has not sent yet: each
// crossing costs both sides the lines of the inbox, so one crossing takes many messages.
// They leave in the order in which they were sent:
//
//	first     the only one, while nothing else is on its way to that house (it isn't rung
//	          for), so that its worker can begin: an ask or an answer at once, small
//	          notices at the end of the step. (Who is parked begins later, see wakeLater)
//	full      when one more comes than outboxMax, or with as many notices as an envelope takes
//	turned    when the visit sends something to another house of another worker
//	outside   before a guest gets its answer, or a job its goroutine: what they say next
//	          comes behind
//	ended     at the end of the visit
//
// Nothing waits in it between visits or, sent by who isn't visited, between turns.
type outbox struct {
	to      *House // nil: empty
	newest  *Stack // chained by next to the oldest
	oldest  *Stack
	n       int      // stacks
	calls   int      // what they count in the mailbox, which doesn't count them yet
	by      *Handler // of newest, if that is a lone notice which an envelope may follow, or
	entries int      // an envelope with room, and so many notices in it
}

// outboxMax is how many stacks share a crossing: enough to make its price small, and few
// enough that the other worker doesn't run dry while a long visit goes on.
const outboxMax = 16

// sendLater puts s into the outbox for h, which belongs to another worker.
//
//alloc:none
func (w *Engine) sendLater(h *House, s *Stack) {
	w.enclose(h, s)
	w.sendFirst()
}

// enclose is sendLater without sending.
func (w *Engine) enclose(h *House, s *Stack) {
	s.sent = w.Now
	o := &w.out
	if o.to != h || o.n == outboxMax {
		w.sendOut()
		o.to, o.oldest = h, s
	} else {
		o.seal()
		s.next = o.newest
	}
	o.newest = s
	o.n++
}

// seal ends the filling of the envelope.
func (o *outbox) seal() {
	if o.entries > 0 {
		envelopeOf(o.newest).word.Store(uint32(o.entries) | envelopeClosed)
	}
	o.by, o.entries = nil, 0
}

// sendFirst empties the outbox if nothing else is on its way to the same house.
func (w *Engine) sendFirst() {
	invariant.Point("outbox.first")
	if w.out.n == 1 && !w.out.to.flags.Has(flags.Rung) {
		w.sendOut()
	}
}

// sendOut empties the outbox.
func (w *Engine) sendOut() {
	o := &w.out
	if o.to == nil {
		return
	}
	o.seal()
	to, newest, oldest := o.to, o.newest, o.oldest
	to.count(o.calls)
	*o = outbox{}
	if at := to.post(newest, oldest); at != nil {
		w.wakeLater(at)
	}
}

// sendCall is sendLater of a call, unless the mailbox of h is full, or h is of another system.
//
//alloc:none
func (w *Engine) sendCall(h *House, s *Stack) error {
	if s.by.counts != 0 && w.crowded(h) || w.foreign(h) {
		return w.refuse(h, s)
	}
	w.enclose(h, s)
	w.out.calls += int(s.by.counts)
	w.sendFirst()
	return nil
}

// notify tells as ports do, whose steps have core.notice in line.
//
//alloc:none
func notify[Msg any](w *Engine, h *House, by *Handler, msg Msg) error {
	if h.owner.Load() == w {
		if w.Joins(h, by) {
			at, i := h.Join()
			*Place[Msg](at, i) = msg
			return nil
		}
		if at := w.Tell(h, by); at != nil {
			*Place[Msg](at, 0) = msg
			return nil
		}
	}
	return TellOtherwise(w, h, by, &msg)
}

// TellOtherwise is Begin and Push of a notice that neither Join nor Tell took: its house belongs
// to another worker, something is in the way, it begins an envelope, no stack is at hand, the
// mailbox is full, or the actor foreign. The error is ErrMailboxFull, ErrStopped or
// ErrOtherSystem.
//
//alloc:none
func TellOtherwise[Msg any](w *Engine, h *House, by *Handler, msg *Msg) error {
	mail := by.bare.envelope // of nobody's handler it panics before anything is counted
	invariant.Point("worker.owner")
	own := h.owner.Load() == w
	if own {
		if at := w.tellSlowly(h, by); at != nil {
			*Place[Msg](at, 0) = *msg
			return nil
		}
	}
	o := &w.out
	if own || o.by != by || o.to != h || h.flags.Has(flags.Singles) || w.crowded(h) {
		s := w.Begin(by)
		*Message[Msg](s) = *msg
		if own {
			return w.refuse(h, s)
		}
		if mail == nil || w.foreign(h) {
			return w.Push(h, s)
		}
		s.to = h
		if w.crowded(h) {
			return w.refuse(h, s)
		}
		w.enclose(h, s)
		o.by = by
		o.calls++
		return nil
	}
	o.calls++
	if o.entries == 0 {
		e := envelopeOf(stackOf(w.Shard.Take(mail.kind)))
		e.to = h
		w.enclose(h, &e.Stack)
		o.by = by
	}
	*entry[Msg](envelopeOf(o.newest), o.entries) = *msg
	if o.entries++; o.entries == mail.envelope.max {
		w.sendOut()
	}
	return nil
}
