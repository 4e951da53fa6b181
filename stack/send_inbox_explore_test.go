//go:build explore

package stack

import (
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// Two guests send to one house while its worker takes, drains, parks and is woken: each sender's
// messages are handled in order, and none is lost. A lost wake-up is a run in which
// nobody can go on.
func exploreInbox(s *stage) {
	s.workers(1)
	l, h := s.hears(0)
	for from := range 2 {
		s.other(guestNames[from], func() {
			s.say(h, from, 0)
			s.say(h, from, 1)
		})
	}
	s.start(func() bool { return l.all == 4 })
	s.After(func() { s.heard(l, 2, 2) })
}

var guestNames = [...]string{"guest 0", "guest 1", "guest 2"}

// Two guests ring for three houses of one worker, one of them for the same twice: no house
// falls off the chain, none stands on it twice.
func exploreRungs(s *stage) {
	s.workers(1)
	a, atA := s.hears(0)
	b, atB := s.hears(0)
	c, atC := s.hears(0)
	s.other("guest 0", func() {
		s.say(atA, 0, 0)
		s.say(atB, 0, 0)
		s.say(atA, 0, 1)
	})
	s.other("guest 1", func() {
		s.say(atC, 1, 0)
		s.say(atB, 1, 0)
	})
	s.start(func() bool { return a.all+b.all+c.all == 5 })
	s.After(func() {
		s.heard(a, 2, 0)
		s.heard(b, 1, 1)
		s.heard(c, 0, 1)
	})
}

// A worker and a guest send to a house of another worker, which parks: the worker by its outbox,
// with one message at once and two together.
func explorePark(s *stage) {
	s.workers(2)
	l, h := s.hears(1)
	source := settleOn(s.hand, 0, &writer{})
	tell(s.hand, source, writerWrite, func(w *Engine) {
		for n := range 3 {
			pass(w, h, 0, n)
		}
	})
	s.other("guest", func() { s.say(h, 1, 0) })
	s.start(func() bool { return l.all == 4 })
	s.After(func() { s.heard(l, 3, 1) })
}

// A guest stops an actor while another guest asks it: the ask is answered, by the actor or with
// ErrStopped, and the actor stops once.
func exploreStop(s *stage) {
	s.workers(1)
	h := s.dooms()
	s.other("guest", func() {
		s.say(h, 0, 0)
		s.served(s.begins(h, 1), 1)
	})
	s.other("stopper", func() { h.Stop(&s.hand.guests) })
	s.start(func() bool { return s.alone() && h.Gone() })
	s.After(func() {
		if n := s.drivers[0].gone; n != 1 {
			s.Fail("the actor has stopped %d times", n)
		}
	})
}

// served checks that a call was answered, by its actor or because the actor has stopped.
func (s *stage) served(c *Call, n int) {
	if err := s.ends(c, n); err != nil && err != fault.ErrStopped {
		s.Fail("the ask for %d failed: %v", n, err)
	}
}

// A worker whose houses have stopped leaves, while guests send to them: the ask is answered,
// perhaps by the guest that finds the closed mark, and all objects come home.
func exploreLeave(s *stage) {
	s.workers(1)
	s.stays = true
	a, b := s.dooms(), s.dooms()
	s.other("guest 0", func() { s.served(s.begins(a, 1), 1) })
	s.other("guest 1", func() {
		s.say(b, 0, 0)
		s.say(a, 0, 0)
	})
	s.leaves()
}

// A worker leaves while a step of another worker asks one of its houses.
func exploreRefuse(s *stage) {
	s.workers(2)
	h := s.dooms()
	asks := &inquirer{to: h}
	source := s.inquires(1, asks)
	tell(s.hand, source, inquirerTold, 0)
	s.leaves()
	s.other("guest", func() { s.say(h, 0, 0) })
	s.Go("worker 1", func() { s.loops[1].run(func() bool { return asks.answers == 1 }) })
	s.After(func() { s.got(asks, fault.ErrStopped) })
}

// leaves has the doomed houses stop, and worker 0 leave.
func (s *stage) leaves() {
	s.Go("worker 0", func() {
		for _, h := range s.doomed {
			if s.stays {
				break
			}
			invariant.Point("end.stop")
			h.Close()
		}
		s.loops[0].leave()
	})
}

// leave has the worker take a turn, and leave.
func (l *loop) leave() {
	l.turn()
	l.w.Leave()
	for l.turn() {
	}
}
