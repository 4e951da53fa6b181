//go:build explore

package stack

import (
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// desk forwards the asks that it gets to another actor.
type desk struct {
	to *House
	by *Handler
}

func (d *desk) pass(s *AskStack[words, int]) Yield {
	c, y := s.Forward(d.by)
	*Request[words, int](c) = s.Req
	c.Aim(d.to)
	return y
}

var deskPass = newAsk((*desk).pass)

// desks has an actor of a worker forward to h, and a guest ask it for n.
func (s *stage) desks(worker int, h *House, n int) *Call {
	return s.calls(settleOn(s.hand, worker, &desk{h, listenAsk}), deskPass, n)
}

// dropped returns how many calls were dropped because their askers gave up.
func (s *stage) dropped() int { return s.counted(count.Cancelled) }

// counted returns what all workers have counted.
func (s *stage) counted(counter int) (n int) {
	for _, l := range s.loops {
		n += int(tallied(l.w, counter))
	}
	return n
}

// A guest gives up its ask, which is forwarded to an actor of another worker: the onward call is
// answered, or dropped.
func exploreForward(s *stage) {
	s.workers(2)
	l, h := s.hears(1)
	c := s.desks(0, h, 3)
	s.givesUp(c, 3)
	s.start(func() bool { return s.alone() && l.all+s.dropped() == 1 })
}

// An actor forwards to an actor whose worker leaves: that actor answers, or the sender does.
func exploreForwardLeft(s *stage) {
	s.workers(2)
	h := s.dooms()
	c := s.desks(1, h, 3)
	s.leaves()
	s.other("guest", func() {
		if err := s.ends(c, 3); err != nil && err != fault.ErrStopped {
			s.Fail("the ask failed: %v", err)
		}
	})
	s.Go("worker 1", func() { s.loops[1].run(s.alone) })
}

// An actor's ask is forwarded to another worker and back while its time runs out: the asker gets
// the reply or ErrTimeout, once.
func exploreForwardTimeout(s *stage) {
	s.workers(2)
	_, h := s.hears(0)
	asks := &inquirer{to: settleOn(s.hand, 1, &desk{h, listenAsk}), limit: 1000, by: deskPass}
	source := s.inquires(0, asks)
	tell(s.hand, source, inquirerTold, 0)
	s.other("time", func() {
		s.Point("time.passes")
		s.now += 5000
	})
	s.start(func() bool { return s.alone() && asks.answers == 1 })
	s.After(func() { s.got(asks, nil, fault.ErrTimeout) })
}
