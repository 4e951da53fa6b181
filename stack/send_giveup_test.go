package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// idler never answers.
type idler struct{ ended int }

type idlerStack struct {
	AskStack[int, int]
	f Future[struct{}]
}

func (*idler) idle(s *idlerStack) Yield {
	s.Alarm(s.f.Promise(), 1e15, 0)
	return Suspend(s, (*idler).woken)
}

func (*idler) woken(*idlerStack) Yield { panic("nobody waits for it") }

func (a *idler) Begins(Running) error       { return nil }
func (a *idler) Ended(_ Running, err error) { a.ended++ }

// Ten of 10,000 asks that wait are given up. These ten stand on the chain, and one message is on
// its way for all of them. Each message ends one of them, and looks at no other ask.
func TestGivenUpInTimeOfTheGivenUp(t *testing.T) {
	h := newHand(t, 1)
	a := &idler{}
	by := newAsk((*idler).idle, a)
	k := settleOn(h, 0, a)
	var calls []*Call
	for range 10_000 {
		c := h.guests.Call(k, by)
		h.guests.Send(c)
		if len(calls)%100 == 0 {
			h.settle() // so that the mailbox has room for the next
		}
		calls = append(calls, c)
	}
	h.settle()
	require.Equal(t, 10_000, k.Waiting())
	for i := range 10 {
		require.True(t, h.guests.giveUp(calls[i*1000]))
	}
	chained := 0
	for o := k.annex.Load().givenUp.Load(); o != nil; o = *o.Link() {
		chained++
	}
	require.Equal(t, 10, chained)
	require.Nil(t, k.inbox.Load().next, "one message")
	before := h.workers[0].handled
	h.settle()
	require.Equal(t, 10, a.ended)
	require.Equal(t, 9_990, k.Waiting())
	require.EqualValues(t, 10, h.workers[0].handled-before)
	k.Stop(&h.guests)
	h.settle()
	for i, c := range calls {
		if i%1000 != 0 {
			require.NoError(t, h.guests.Finish(c))
			h.guests.Done(c)
		}
	}
	require.Equal(t, 10_000, a.ended)
}

// A guest gives up an ask that waits in an actor whose worker has left, because the context of
// Shutdown had ended: the ask waits for ever, as its actor does, and the guest goes on.
func TestGivenUpBehindWhoHasLeft(t *testing.T) {
	h, a, k, c := askedOfWhoHasLeft(t)
	require.True(t, h.guests.giveUp(c))
	require.Zero(t, a.ended)
	require.Nil(t, k.annex.Load().givenUp.Load())
}

// An answer to an actor whose worker has left, because the context of Shutdown had ended, isn't
// recycled: the worker may still be about to give the call up, to which the promise refers.
func TestAnswerBehindWhoHasLeft(t *testing.T) {
	for _, ended := range []bool{false, true} {
		h := makeHand(2)
		a := &idler{}
		by := newAsk((*idler).idle, a)
		asker, callee := settleOn(h, 0, a), settleOn(h, 1, a)
		c := stackOf(h.workers[0].Shard.Take(by.kind))
		c.to, c.back = callee, asker
		asker.rooms().buried.Store(ended)
		h.workers[0].Leave()
		c.lane = Replies
		c.send()
		require.Equal(t, !ended, c.Taken(), "the actor has ended: %v", ended)
	}
}

// A guest that gives a call up after the call's worker has left doesn't read the call's stack: that
// worker may still use it. The race detector tells.
func TestGivenUpBehindWhoIsAtIt(t *testing.T) {
	h, _, _, c := askedOfWhoHasLeft(t)
	s, done := c.asked, make(chan struct{})
	go func() {
		h.guests.giveUp(c)
		close(done)
	}()
	s.state = s.state + 0
	<-done
}

// askedOfWhoHasLeft returns a guest's ask that waits in an actor whose worker has left.
func askedOfWhoHasLeft(t *testing.T) (*hand, *idler, *House, *Call) {
	h := makeHand(1)
	a := &idler{}
	by := newAsk((*idler).idle, a)
	k := settleOn(h, 0, a)
	c := h.guests.Call(k, by)
	require.NoError(t, h.guests.Send(c))
	h.settle()
	h.workers[0].Leave()
	return h, a, k, c
}
