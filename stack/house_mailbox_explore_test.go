//go:build explore

package stack

import (
	"context"

	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// bounds gives the house of a new listener of worker 0 a mailbox.
func (s *stage) bounds(m MailboxRules) (*listener, *House) {
	l := &listener{}
	h, make := NewHouse(func() *listener { return l })
	h.Mailbox(m)
	s.drivers[0].Register(h, make, s.hand.workers[0])
	return l, h
}

// fills sends notices as a guest, in envelopes or in stacks of their own, and counts those that
// are accepted. No more may wait than most.
func (s *stage) fills(h *House, from, all, most int, by *Handler, accepted *int) {
	n := 0
	for range all {
		if err := Tell(&s.hand.guests, h, by, &words{from, n}); err == nil {
			n++
			*accepted++
		} else if err != fault.ErrMailboxFull {
			s.Fail("a notice failed: %v", err)
		}
		if in := h.inMail(); in > most {
			s.Fail("%d calls wait, more than %d", in, most)
		}
	}
}

// Two guests fill a mailbox for two messages while the worker empties it: accepted messages are
// handled.
func exploreFull(s *stage) {
	s.workers(1)
	l, h := s.bounds(MailboxRules{Max: 2})
	accepted := [2]int{}
	for from := range 2 {
		s.other(guestNames[from], func() { s.fills(h, from, 2+from, 2, listenLong, &accepted[from]) })
	}
	s.start(func() bool { return s.alone() && l.all == accepted[0]+accepted[1] })
	s.After(func() { s.heard(l, accepted[0], accepted[1]) })
}

// The same with a mailbox for one message that drops the oldest: accepted messages are handled or
// dropped.
func exploreDropOldest(s *stage) {
	s.workers(1)
	l, h := s.bounds(MailboxRules{Max: 1, Full: DropOldest})
	w := s.hand.workers[0]
	w.Trace = func(*House, *Stack) {
		if h.calls.head != nil {
			s.Fail("more than one call was left in the lane")
		}
	}
	accepted := [2]int{}
	gone := func() int { return l.all + int(tallied(w, count.Full)) }
	for from := range 2 {
		s.other(guestNames[from], func() { s.fills(h, from, 2, 2, listenLong, &accepted[from]) })
	}
	s.start(func() bool { return s.alone() && gone() == accepted[0]+accepted[1] })
	s.After(func() {
		if n := gone(); n != accepted[0]+accepted[1] {
			s.Fail("%d notices were handled or dropped, want %v", n, accepted)
		}
	})
}

// Two guests fill envelopes to an actor whose worker leaves: nothing stays counted.
func exploreFullLeft(s *stage) {
	s.workers(1)
	_, h := s.bounds(MailboxRules{Max: 6})
	s.doomed = append(s.doomed, h)
	for from := range 2 {
		s.other(guestNames[from], func() { s.tells(h, from, 3) })
	}
	s.leaves()
}

// After a stop was sent no further message is handled, however many wait.
func exploreStopAtOnce(s *stage) {
	s.workers(1)
	l, h := s.bounds(MailboxRules{Max: 8})
	for n := range 4 {
		s.say(h, 0, n)
	}
	told := -1
	s.other("stopper", func() {
		h.Stop(&s.hand.guests)
		told = l.all
	})
	s.start(func() bool { return s.alone() && h.Gone() })
	s.After(func() {
		if l.all > told+1 {
			s.Fail("%d messages were handled behind a stop", l.all-told)
		}
	})
}

// Two guests wait for room in a full mailbox for one message: all messages are handled.
func exploreRoom(s *stage) {
	s.workers(1)
	l, h := s.bounds(MailboxRules{Max: 1})
	s.say(h, 2, 0)
	for from := range 2 {
		s.other(guestNames[from], func() { s.waits(h, from, 1+from) })
	}
	s.start(func() bool { return s.alone() && l.all == 4 })
	s.After(func() { s.heard(l, 1, 2, 1) })
}

// A guest that waits for room gives up while it is signalled. Then it asks, perhaps by the same
// Call.
func exploreRoomGivenUp(s *stage) {
	s.workers(1)
	l, h := s.bounds(MailboxRules{Max: 1})
	_, other := s.hears(0)
	s.say(h, 1, 0)
	told := 1
	s.other("guest", func() {
		told += s.triesToTell(h)
		s.asks(other, 1)
	})
	s.start(func() bool { return s.alone() && l.all == told })
}

// One of two guests that wait for room gives up. The other is signalled when there is room all the
// same, even if it begins to wait while the first takes itself off the chain.
func exploreRoomSwept(s *stage) {
	s.workers(1)
	l, h := s.bounds(MailboxRules{Max: 1})
	s.say(h, 1, 0)
	told := 2
	s.other("guest 1", func() { told += s.triesToTell(h) })
	s.other("guest 2", func() { s.waits(h, 1, 1) })
	s.start(func() bool { return s.alone() && l.all == told })
}

// triesToTell sends a notice as a guest that gives up as soon as it would have to wait for room,
// and returns how many it has sent.
func (s *stage) triesToTell(h *House) int {
	c := s.hand.guests.signal() // the Call that TellWait takes, as a thread has a shard of its own
	s.hand.guests.Pools.Put(&c.Object)
	p := &guestContext{Context: context.Background(), c: c, brief: true}
	switch err := TellWait(p, &s.hand.guests, h, listenLong, &words{0, 0}); err {
	case nil:
		return 1
	case fault.ErrCancelled:
	default:
		s.Fail("a notice failed: %v", err)
	}
	return 0
}

// A guest that finds room, and is refused because others came first, takes back the place that it
// has counted. If that place makes the mailbox half empty, guests that wait for room are signalled.
func exploreRoomRefused(s *stage) {
	s.workers(1)
	l, h := s.bounds(MailboxRules{Max: 1})
	accepted := 0
	s.other("guest 1", func() { s.waits(h, 0, 2) })
	s.other("guest 2", func() { s.fills(h, 1, 1, 2, listenLong, &accepted) })
	s.start(func() bool { return s.alone() && l.all == 2+accepted })
}

// A guest waits for room in the mailbox of an actor that stops.
func exploreRoomStopped(s *stage) {
	s.workers(1)
	_, h := s.bounds(MailboxRules{Max: 1})
	s.other("guest", func() { s.waits(h, 0, 3) })
	s.other("stopper", func() { h.Stop(&s.hand.guests) })
	s.start(func() bool { return s.alone() && h.Gone() })
}

// waits sends notices as a guest that waits for room.
func (s *stage) waits(h *House, from, all int) {
	for n := range all {
		s.sent(TellWait(context.Background(), &s.hand.guests, h, listenLong, &words{from, n}))
	}
}
