//go:build explore

package stack

import (
	"context"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// A guest borrows the turn of a worker. Meanwhile the network wakes the worker, which wants its
// turn back.
func exploreBorrow(s *stage) {
	s.workers(1)
	_, h := s.hears(0)
	s.other("guest", func() {
		s.asks(h, 1)
		s.asks(h, 2)
	})
	s.other("network", func() {
		s.Point("network.event")
		s.loops[0].event = true
	})
	s.start(s.alone)
}

// Two guests ask the same house: the one that doesn't get the turn waits for its answer.
func exploreBorrowOfTwo(s *stage) {
	s.workers(1)
	_, h := s.hears(0)
	for i := range 2 {
		s.other(guestNames[i], func() { s.asks(h, i) })
	}
	s.start(s.alone)
}

// One guest borrows a turn, another has the worker woken.
func exploreBorrowOrWake(s *stage) {
	s.workers(1)
	_, a := s.hears(0)
	l, b := s.hears(0)
	s.other("guest 0", func() { s.asks(a, 1) })
	s.other("guest 1", func() { s.say(b, 1, 0) })
	s.start(func() bool { return s.alone() && l.all == 1 })
}

// A guest asks, in a turn that it may have borrowed, an actor that asks one of another worker. That
// worker is woken at once, because nobody would come back to wake it later.
func exploreSendOn(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	middle := s.inquires(0, &inquirer{to: h})
	s.loops[0].w.Assists = true
	s.other("guest", func() {
		c := s.hand.guests.Call(middle, inquirerAsked)
		*Request[words, int](c.Stack()) = words{0, 3}
		if err := s.hand.guests.Wait(&guestContext{Context: context.Background(), c: c}, c); err != nil {
			s.Fail("the ask failed: %v", err)
		}
		s.answered(c, 3)
	})
	s.start(s.alone)
}

// As before, but the guest gives up as soon as it would have to wait: the answer comes later, and
// finds the call gone.
func exploreImpatient(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	asks := &inquirer{to: h}
	middle := s.inquires(0, asks)
	p := &guestContext{Context: context.Background(), brief: true}
	c := s.hand.guests.Call(middle, inquirerAsked)
	*Request[words, int](c.Stack()) = words{0, 3}
	p.c = c
	s.other("guest", func() {
		switch err := s.hand.guests.Wait(p, c); err {
		case nil:
			s.answered(c, 3)
		case fault.ErrCancelled:
		default:
			s.Fail("the ask failed: %v", err)
		}
	})
	s.settled(func() bool { return s.alone() && middle.Waiting() == 0 && middle.inbox.Load() == nil })
}

// A worker that has sent to a parked one runs that worker's turn, now or in its own next turn; or,
// if it has no time, wakes it. It gets the answer. Meanwhile the network wakes the parked worker.
func exploreAssist(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	asks := &inquirer{to: h}
	source := s.inquires(0, asks)
	s.loops[0].w.Assists = true
	s.loops[1].w.Assists = true
	switch s.Choose(3) {
	case 1:
		s.loops[0].hurries = true
	case 2:
		s.loops[0].keeps = true
	}
	tell(s.hand, source, inquirerTold, 0)
	s.other("network", func() {
		s.Point("network.event")
		s.loops[1].event = true
	})
	s.start(func() bool { return s.alone() && asks.answers == 1 })
	s.After(func() { s.got(asks, nil) })
}

// A guest and a worker want the turn of the same parked worker: the worker at once, or in its own
// next turn.
func exploreRivals(s *stage) {
	s.workers(2)
	_, h := s.hears(1)
	asks := &inquirer{to: h}
	source := s.inquires(0, asks)
	s.loops[0].w.Assists = true
	s.loops[0].keeps = s.Choose(2) == 1
	tell(s.hand, source, inquirerTold, 0)
	s.other("guest", func() { s.asks(h, 1) })
	s.start(func() bool { return s.alone() && asks.answers == 1 })
	s.After(func() { s.got(asks, nil) })
}
