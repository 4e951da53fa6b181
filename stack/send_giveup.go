package stack

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/command"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// This file is how a call learns that its asker has given up: the asker's time ran out, it ended,
// or the guest has gone. The call's giveup.Word says so. The asker's side pushes a chained call
// onto a chain of its house, annex.givenUp. Whoever pushes the first call there sends the house a
// system message, command.GivenUp. The owner that gets the message takes one call from the chain,
// and ends the call if it is suspended. If others are left it sends the message again, so that each
// counts as a message: as long as the chain isn't empty one message is on its way.
//
// A call that was forwarded is handled by another actor. The side that gives it up stores this,
// then reads where the call is (Stack.place). The side that forwards it stores the place, then the
// word is read before the onward call begins. The one that comes second sees the other's store. So
// either the call is chained at the house where the onward call has begun, as its state says, or
// the onward call doesn't begin.
//
// A batch with a given-up member isn't ended, nor is a stack that has begun a kept job: see
// Stack.kept.

// abandon lets go of the call for which p, which is taken out of its table, waits, if there is one.
// The answer will find no promise.
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
		stackOf(p.Owner).lend(c, c.id)
		c.cancelled.Chain()
		c.chain(w)
	}
}

// chain pushes s, whose word is chained, onto the chain of the house where it is handled. w is the
// worker whose turn the caller runs; nil: the caller is a guest.
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

// ringGivenUp sends h the message command.GivenUp; w is as in chain.
func (h *House) ringGivenUp(w *Engine) {
	if m := (control{verb: command.GivenUp}); w != nil {
		w.command(h, m)
	} else {
		h.sendSystem(h.Owner().Guests, m)
	}
}

// heed handles command.GivenUp: it takes one call from the chain of h, which isn't empty, in a turn
// of the owner w. If w is nil the owner has left, and the caller holds the house's rung bit.
func heed(w *Engine, h *House) {
	first := &h.annex.Load().givenUp
	var o, next *pool.Object
	for taken := false; !taken; {
		invariant.Point("giveup.first")
		o = first.Load()
		next = *o.Link() // o stays where it is: nobody else takes calls
		invariant.Point("giveup.take")
		taken = first.CompareAndSwap(o, next)
	}
	if next != nil {
		h.ringGivenUp(w)
	}
	c := stackOf(o)
	s, ends := c, false
	if w != nil { // otherwise the stack belongs, or has belonged, to another worker
		if c.state == forwarded {
			s = c.next
		}
		ends = s.state == suspended // then it is so until giveUp: it isn't on its way home
	}
	invariant.Point("giveup.taken")
	switch {
	case !c.cancelled.Heed():
		pool.Send(o)
	case ends:
		if r := h.Remote(); r != nil {
			r.Forget(h, s)
		}
		w.giveUp(h, s)
	}
}

// giveUp ends a suspended stack whose asker gave up, and reports true. All such stacks come here:
// by heed, by an answer, or when a connection ends. A stack that has begun a kept job goes on as if
// it were wanted; then giveUp reports false.
func (w *Engine) giveUp(h *House, s *Stack) bool {
	if s.kept {
		return false
	}
	w.Count.Add(count.Cancelled, 1)
	s.err = fault.ErrCancelled
	w.end(h, s)
	return true
}

// lateOutside is late for an answer to an actor whose worker has left. If the actor isn't gone,
// which happens only if a shutdown was cut short, its worker may be about to give the call up. Then
// the stack isn't put, but left to the garbage collector.
func (s *Stack) lateOutside() {
	if s.back.annex.Load().buried.Load() {
		s.late()
		return
	}
	s.cancelled.Answer()
}

// late puts a call whose answer came home when nobody waited, unless it is chained.
func (s *Stack) late() {
	invariant.Point("giveup.late")
	if !s.cancelled.Answer() {
		pool.Send(&s.Object)
	}
}
