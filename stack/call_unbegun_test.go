package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// doubter asks an actor three times, and notes how each ask ended and whether it was Unbegun.
type doubter struct {
	of      *House
	by      *Handler
	errs    []error
	unbegun int
}

type doubterStack struct {
	NoticeStack[int]
	f [3]Future[int]
}

func (d *doubter) ask(s *doubterStack) Yield {
	for i := range s.f {
		c := s.Bind(s.f[i].Promise(), d.by, 0)
		s.Engine().Push(d.of, c)
	}
	return Suspend(s, (*doubter).answered)
}

func (d *doubter) answered(s *doubterStack) Yield {
	for i := range s.f {
		_, err := s.f[i].Get()
		d.errs = append(d.errs, err)
		if Unbegun(s.f[i].Promise()) {
			d.unbegun++
		}
	}
	return s.Return()
}

var doubterAsk = newNotice((*doubter).ask)

// doubts has a doubter ask, calls then, and has the doubter wait for the answers and stop.
func (h *hand) doubts(d *doubter, then func()) {
	asker := settleOn(h, 0, d)
	tell(h, asker, doubterAsk, 0)
	h.turn(0)
	then()
	h.settle()
	asker.Stop(&h.guests)
	h.settle()
}

// stopped is how three asks end whose actor has stopped.
var stopped = []error{fault.ErrStopped, fault.ErrStopped, fault.ErrStopped}

// Calls that an actor drops after its stop, because its mailbox is too small, never began.
func TestUnbegunInAFullMailbox(t *testing.T) {
	h := newHand(t, 2)
	k, make := NewHouse(func() *keeper { return &keeper{} })
	k.Mailbox(MailboxRules{Max: 2, Full: DropOldest})
	h.drivers[1].Register(k, make, h.workers[1])
	d := &doubter{of: k, by: keeperAsk}
	h.doubts(d, func() { h.workers[1].stop(k) })
	require.Equal(t, stopped, d.errs)
	require.Equal(t, 3, d.unbegun)
}

// Asks of an actor whose worker has left never began: their sender ends them.
func TestUnbegunWhereTheWorkerHasLeft(t *testing.T) {
	h := newHand(t, 2)
	k := settleOn(h, 1, &keeper{})
	h.workers[1].Leave()
	d := &doubter{of: k, by: keeperAsk}
	h.doubts(d, func() {})
	require.Equal(t, stopped, d.errs)
	require.Equal(t, 3, d.unbegun)
}

// A call that was forwarded has begun, even if the worker of the onward call has left.
func TestBegunAndForwarded(t *testing.T) {
	for _, left := range []bool{false, true} {
		h := newHand(t, 3)
		k := settleOn(h, 2, &keeper{})
		if left {
			h.workers[2].Leave()
		} else {
			k.Stop(&h.guests)
			h.settle()
		}
		on := settleOn(h, 1, &forwarder{to: k})
		d := &doubter{of: on, by: forwarderAsk}
		h.doubts(d, func() {})
		require.Equal(t, stopped, d.errs)
		require.Zero(t, d.unbegun, "left: %v", left)
	}
}

// forwarder forwards the asks that it gets.
type forwarder struct{ to *House }

func (f *forwarder) ask(s *AskStack[int, int]) Yield {
	c, y := Of(s).Forward(keeperAsk)
	c.Aim(f.to)
	return y
}

var forwarderAsk = newAsk((*forwarder).ask)
