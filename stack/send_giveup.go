package stack

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// This file is how a call hears that its asker has given up: its time ran out, it ended, its
// guest has gone. What the call is then giveup.Word says; one that is chained stands on the chain
// of its house, annex.givenUp, and who is the first there sends the house a system message,
// verbGivenUp. The owner whom that has reached takes one call from the chain, and ends it if it is
// suspended. If others are left it sends the message again, so that they count as messages: there
// is one on its way as long as the chain isn't empty.
//
// A call that was forwarded is handled elsewhere. Who gives it up stores that, then looks where
// it is (Stack.place); who forwards it stores where, then the onward call is looked at before it
// begins. The one who comes second sees the other: it is on the chain of the house where the
// onward call has begun, as its state says, or nothing begins any more.
//
// Not ended is a batch with such a member, nor a stack that has begun a job that is kept: see
// Stack.kept.

// abandon lets go of what p, which is taken out of its table, waits for, if that is a call: its
// answer will find nobody.
func (w *Engine) abandon(p *future.Promise) {
	o := p.TakeCall()
	if o == nil {
		return
	}
	c := stackOf(o)
	invariant.Point("giveup.abandon")
	switch {
	case c.by.job.onGiveUp != nil:
		c.cancelled.GiveUp()
		c.tellGivenUp()
	case c.place().Load() != nil: // otherwise a router refused it
		c.cancelled.Chain()
		c.chain(w)
	}
}

// chain pushes s, which is chained, onto the chain of the house where it is handled, in a turn of
// w; nil: in nobody's.
func (s *Stack) chain(w *Engine) {
	invariant.Point("giveup.place")
	h := s.place().Load()
	for first := &h.rooms().givenUp; ; {
		invariant.Point("giveup.look")
		old := first.Load()
		*s.Link() = old
		invariant.Point("giveup.push")
		if first.CompareAndSwap(old, &s.Object) {
			if old == nil {
				h.ringGivenUp(w)
			}
			return
		}
	}
}

// ringGivenUp sends the message.
func (h *House) ringGivenUp(w *Engine) {
	if m := (control{verb: verbGivenUp}); w != nil {
		w.command(h, m)
	} else {
		h.sendSystem(h.Owner().Guests, m)
	}
}

// heed takes one call from the chain of h, where the message says that there is one, in a turn of
// its owner w; nil: that has left, and the caller has the house's inbox.
func heed(w *Engine, h *House) {
	first := &h.annex.Load().givenUp
	var o, next *pool.Object
	for taken := false; !taken; {
		invariant.Point("giveup.first")
		o = first.Load()
		next = *o.Link() // nobody else takes it
		invariant.Point("giveup.take")
		taken = first.CompareAndSwap(o, next)
	}
	if next != nil {
		h.ringGivenUp(w)
	}
	c := stackOf(o)
	s, ends := c, false
	if w != nil { // otherwise it is, or was, another's
		if c.state == forwarded {
			s = c.next
		}
		ends = s.state == suspended // if so it is until it ends here: its answer isn't on its way
	}
	invariant.Point("giveup.taken")
	switch {
	case !c.cancelled.Heed():
		pool.Send(o)
	case ends:
		w.giveUp(h, s)
	}
}

// giveUp ends a suspended stack whose asker gave up, and reports that it did. All such come here,
// by the ring, by an answer or as a connection ends: one that has begun a job that is kept goes
// on as if it were wanted.
func (w *Engine) giveUp(h *House, s *Stack) bool {
	if s.kept {
		return false
	}
	w.Count.Add(count.Cancelled, 1)
	s.err = fault.ErrCancelled
	w.end(h, s)
	return true
}

// lateOutside is late of an answer to an actor whose worker has left. If the actor hasn't ended,
// which only an abandoned shutdown leads to, that worker may be about to give the call up: then
// it is the collector's.
func (s *Stack) lateOutside() {
	if s.back.annex.Load().buried.Load() {
		s.late()
		return
	}
	s.cancelled.Answer()
}

// late puts a call whose answer came home to nobody, unless it is chained.
func (s *Stack) late() {
	invariant.Point("giveup.late")
	if !s.cancelled.Answer() {
		pool.Send(&s.Object)
	}
}
