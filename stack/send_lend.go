package stack

import (
	"cmp"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/pool"
)

// This file is how the bytes that a request, or the input of a job, refers to stay as they are for
// as long as somebody may read them. Nobody can tell from a slice whose bytes it has: they may be
// the asker's own (Bytes, Copy), those of its request, which belong to its asker or its connection,
// or those of an answer that it got. So the asker's stack is held with its answers: it ends and is
// put as ever, but isn't cleared before the reader has ended (pool.Object.Hold).
//
//	job   carries them from its begin
//	call  is lent them once its asker lets go of it, if others may still read its request, until it
//	      is cleared: when the asker gives the call up; or when the asker puts the answer, if that
//	      is held by a job, or by a call that was given up, to which the request was handed on
//
// The asker of a stack that is held lends in its turn, so all are held up to the first asker. To a
// call no answers are lent that were asked for later: so there is no circle.

// carry returns a carrier that holds s, the answers to what it asked before id and, if s is a
// batch, its members. Jobs among the answers release what they carry, as their functions have
// ended. Otherwise each job of s would hold the one before, and all would hold s.
func (s *Stack) carry(id uint64) (all pool.Carrier) {
	shard := &s.Engine().Shard
	s.holdIn(&all, shard)
	for p := s.bound; p != nil; p = p.Next {
		if p.State != future.Done || p.Call == nil || p.ID >= id {
			continue
		}
		if c := stackOf(p.Call); c.by.job.onGiveUp != nil {
			c.carried.Release()
		}
		all.Keep(shard, p.Call)
	}
	if s.by.class == classBatch {
		for m := BatchOf(s).members.first; m != nil; m = m.next {
			m.holdIn(&all, shard)
		}
	}
	return all
}

// holdIn makes the carrier to hold s and, if s is an onward call, also the calls that were
// forwarded, to which the bytes that s carries will move.
func (s *Stack) holdIn(to *pool.Carrier, shard *pool.Shard) {
	to.Keep(shard, &s.Object)
	if r := s.relay(); r != nil {
		r.call.holdIn(to, shard)
	}
}

// lend lends c what s has, but for answers to what s asked from id on.
func (s *Stack) lend(c *Stack, id uint64) {
	if c.by.ask.refers {
		all := s.carry(id)
		c.lent().Join(&all)
	}
}

// lendHeld lends what s has to the answer of p, if others hold that. p is a promise of s, and id 0;
// or of a fan that s asked by id.
func (s *Stack) lendHeld(p *future.Promise, id uint64) {
	if p.State == future.Done && p.Call != nil && !p.Call.Alone() {
		s.lend(stackOf(p.Call), cmp.Or(id, p.ID))
	}
}

// lendAll is lendHeld of p and the promises bound before it.
func (s *Stack) lendAll(p *future.Promise, id uint64) {
	for ; p != nil && p.Bound; p = p.Next {
		s.lendHeld(p, id)
	}
}
