package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// outbox is what a visit has for one house of another worker, and has not sent yet. Each
// crossing moves the cache lines of the inbox between the two, so many messages share one.
// They leave in the order in which they were put in:
//
//	first     if a stack is the only one, and nothing else is on its way to that house (it isn't
//	          rung for): so its worker can begin, unless it is parked, see wakeLater. An ask
//	          or an answer leaves at once, small notices at the end of the step
//	full      when one more stack than outboxMax comes, or an envelope is full
//	turned    when the visit sends something to another house of another worker
//	outside   before a guest gets its answer, or a goroutine its job, so that messages that
//	          they send come behind
//	ended     at the end of the visit
//
// Messages of visits don't wait in it between visits, other messages not between turns.
type outbox struct {
	to      *House // nil: empty
	newest  *Stack // chained by next to the oldest
	oldest  *Stack
	n       int      // stacks
	calls   int      // places that they take in the mailbox, which doesn't count them yet
	by      *Handler // its next notice goes into newest or, behind that, a new envelope; or nil
	entries int      // notices in newest, if it is an envelope with room; otherwise 0
}

// outboxMax is how many stacks share a crossing at most: enough to make its price small, and few
// enough that the other worker doesn't run dry while a long visit goes on.
const outboxMax = 16

// sendLater puts s into the outbox for h, which belongs to another worker.
//
//alloc:none
func (w *Engine) sendLater(h *House, s *Stack) {
	w.addOut(h, s)
	w.sendFirst()
}

// addOut is sendLater that leaves s in the outbox.
func (w *Engine) addOut(h *House, s *Stack) {
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

// seal closes newest, if it is an envelope with room: nothing joins it any more.
func (o *outbox) seal() {
	if o.entries > 0 {
		envelopeOf(o.newest).word.Store(uint32(o.entries) | envelopeClosed)
	}
	o.by, o.entries = nil, 0
}

// sendFirst empties the outbox if it has one stack and nothing else is on its way to the house.
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

// sendCall is sendLater for a call. It refuses the call if h has no room, has stopped, or is of
// another system.
//
//alloc:none
func (w *Engine) sendCall(h *House, s *Stack) error {
	if s.by.counts != 0 && w.crowded(h) || w.foreign(h) {
		return w.refuse(h, s)
	}
	w.Squeeze(h, s)
	return nil
}

// TellOtherwise is Begin and Push of any notice. Whoever tells often tries Join and Tell first,
// which are faster and don't take one whose house belongs to another worker, for which mail must be
// drained first, or which begins an envelope, nor one without a free stack in the shard, to a full
// mailbox, or to an actor of another system. The error is ErrMailboxFull,
// ErrStopped or ErrOtherSystem. Only who runs w's turn calls it.
//
//alloc:none
func TellOtherwise[Msg any](w *Engine, h *House, by *Handler, msg *Msg) error {
	mail := by.bare.envelope // if by is nil this panics before anything is counted
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
		w.addOut(h, s)
		o.by = by
		o.calls++
		return nil
	}
	o.calls++
	if o.entries == 0 {
		e := envelopeOf(stackOf(w.Shard.Take(mail.kind)))
		e.to = h
		w.addOut(h, &e.Stack)
		o.by = by
	}
	*entry[Msg](envelopeOf(o.newest), o.entries) = *msg
	if o.entries++; o.entries == mail.envelope.max {
		w.sendOut()
	}
	return nil
}
