//go:build explore

package stack

// gives has a worker give h to another worker, once, between two turns, as soon as h is ready and
// when returns true.
func (s *stage) gives(h *House, from, to int, when func() bool) {
	l, given, before := s.loops[from], false, s.loops[from].between
	l.between = func() {
		if before != nil {
			before()
		}
		w := l.w
		w.TakeRungs()
		if given || w.cold.tail == nil || w.cold.tail != h || !when() {
			return
		}
		h.givenAt = 0 // it may be given again at once
		given = w.HandOver(s.loops[to].w, 1) == 1
	}
}

func always() bool { return true }

// A house with a message in its lane moves, while a guest and a step of its new owner send to it.
func exploreHandOver(s *stage) {
	s.workers(2)
	l, h := s.hears(0)
	s.say(h, 0, 0)
	s.gives(h, 0, 1, always)
	source := settleOn(s.hand, 1, &writer{})
	tell(s.hand, source, writerWrite, func(w *Engine) {
		pass(w, h, 1, 0)
		pass(w, h, 1, 1)
	})
	s.other("guest", func() { s.say(h, 2, 0) })
	s.start(func() bool { return l.all == 4 })
	s.After(func() { s.heard(l, 1, 2, 1) })
}

// A house moves there and back while a guest rings for it.
func exploreHandBack(s *stage) {
	s.workers(2)
	l, h := s.hears(0)
	s.say(h, 0, 0)
	s.gives(h, 0, 1, always)
	s.gives(h, 1, 0, always)
	s.other("guest", func() {
		s.say(h, 1, 0)
		s.say(h, 1, 1)
	})
	s.start(func() bool { return l.all == 3 })
	s.After(func() { s.heard(l, 1, 2) })
}

// Two workers each give a house to a third worker, which parks.
func exploreTwoGifts(s *stage) {
	s.workers(3)
	l, h := s.hears(0)
	m, i := s.hears(1)
	s.say(h, 0, 0)
	s.say(i, 0, 0)
	s.gives(h, 0, 2, always)
	s.gives(i, 1, 2, always)
	s.start(func() bool { return l.all == 1 && m.all == 1 })
	s.After(func() {
		s.heard(l, 1)
		s.heard(m, 1)
	})
}

// A house moves that waits for an answer, which an actor of its former worker gives.
func exploreHandOverAsker(s *stage) {
	s.workers(2)
	_, callee := s.hears(0)
	asks := &inquirer{to: callee}
	h := s.inquires(0, asks)
	tell(s.hand, h, inquirerTold, 0)
	s.gives(h, 0, 1, func() bool { return h.Waiting() == 1 })
	s.other("guest", func() { tell(s.hand, h, inquirerTold, 0) })
	s.start(func() bool { return asks.answers == 2 })
	s.After(func() {
		if asks.answers != 2 || asks.err != nil {
			s.Fail("%d answers, the last with error %v", asks.answers, asks.err)
		}
	})
}

// A worker leaves while it is given a house: it takes the house before, or the house stays.
func exploreGiveToWhoLeaves(s *stage) {
	s.workers(2)
	l, h := s.hears(0)
	s.say(h, 0, 0)
	s.gives(h, 0, 1, always)
	left := false
	s.Go("worker 1", func() {
		s.loops[1].leave()
		left = true
	})
	s.Go("worker 0", func() { s.loops[0].run(func() bool { return l.all == 1 && left }) })
	s.After(func() { s.heard(l, 1) })
}

// Stay is called while a house is being given away: afterwards the owner doesn't change.
func exploreStay(s *stage) {
	s.workers(2)
	l, h := s.hears(0)
	s.say(h, 0, 0)
	s.gives(h, 0, 1, always)
	s.gives(h, 1, 0, always)
	s.other("guest", func() {
		h.Stay()
		owner := h.Owner()
		s.say(h, 1, 0)
		s.After(func() {
			if h.Owner() != owner {
				s.Fail("a house that stays has moved")
			}
		})
	})
	s.start(func() bool { return l.all == 2 })
	s.After(func() { s.heard(l, 1, 1) })
}
