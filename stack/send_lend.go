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
//	job   carries them from its begin until its function has ended
//	call  is lent them once its asker lets go of it, if others may still read its request, until it
//	      is cleared: when the asker gives the call up; or when the asker puts the answer, if that
//	      is held by a job, or by a call that was given up, to which the request was handed on; and
//	      in that case it is lent the answers, too, that the asker puts before
//
// The asker of a stack that is held lends in its turn, so all are held up to the first asker. To a
// call no answers are lent that were asked for later: so there is no circle.

// carry makes the carrier to hold s, the answers to what it asked before id and, if s is a batch,
// its members. The requests of a fan are copies of its own, and refer to no answers.
func (s *Stack) carry(to *pool.Carrier, id uint64) {
	shard := &s.Engine().Shard
	s.holdIn(to, shard)
	for p := s.bound; p != nil && s.by.fan.next == nil; p = p.Next {
		if p.State == future.Done && p.Call != nil && p.ID < id {
			to.Keep(shard, p.Call)
		}
	}
	if s.by.class == classBatch {
		for m := BatchOf(s).members.first; m != nil; m = m.next {
			m.holdIn(to, shard)
		}
	}
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
		s.carry(c.lent(), id)
		c.borrows = true
	}
}

// stillRead returns the first promise, from p on, that was asked behind id and whose answer others
// hold: they may read its request. nil: there is none.
func stillRead(p *future.Promise, id uint64) *future.Promise {
	for ; p != nil; p = p.Next {
		if p.State == future.Done && p.Call != nil && p.ID > id && stackOf(p.Call).by.ask.refers && !p.Call.Alone() {
			break
		}
	}
	return p
}

// lendAll lends what s has to the answers of p and the promises bound before it, if others hold
// them. They are promises of s, and id is 0; or those of a fan that s asked by id.
func (s *Stack) lendAll(p *future.Promise, id uint64) {
	for p = stillRead(p, 0); p != nil; p = stillRead(p.Next, 0) {
		s.lend(stackOf(p.Call), cmp.Or(id, p.ID))
	}
}

// lendBefore lends what is needed before c, the answer to what s asked by id, is put as its future
// is asked again: to c what s has, if others hold c; and c to the answers of later asks that others
// hold, as their requests may refer to it.
func (s *Stack) lendBefore(c *Stack, id uint64) {
	if !c.Alone() {
		s.lend(c, id)
	} else if c.borrows {
		c.lent().Release() // nobody reads its request any more
	}
	for p := stillRead(s.bound, id); p != nil; p = stillRead(p.Next, id) {
		stackOf(p.Call).lent().Keep(&s.Engine().Shard, &c.Object)
		stackOf(p.Call).borrows = true
	}
}
