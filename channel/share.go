package channel

import "slices"

// share is a site's part of Config.RequestsMax. While it is used up connections with more to ask
// aren't read; they have their turn in the order in which they came to that.
//
// Invariant: if somebody waits and there is room, somebody was roused and is on the way to look.
type share struct {
	max, used int // requests in flight, without a result
	waiting   []sharer
	first     int    // waiting[:first] have had their turn
	roused    sharer // nil: nobody is on the way
}

// sharer is a conn of any types.
type sharer interface{ resume() }

// begun counts a request that begins, ended one that has its result.
func (s *share) begun() { s.used++ }

func (s *share) ended() {
	s.used--
	s.rouse()
}

// full reports whether c can't begin another request: others, too, may come first.
func (s *share) full(c sharer) bool { return s.room(c) <= 0 }

// room is how many requests c may begin.
func (s *share) room(c sharer) int {
	if s.roused != c && (s.roused != nil || s.first < len(s.waiting)) {
		return 0
	}
	return s.max - s.used
}

// wait has c resume when it can. It must not be waiting.
func (s *share) wait(c sharer) {
	if s.first > 32 && 2*s.first > len(s.waiting) {
		n := copy(s.waiting, s.waiting[s.first:])
		clear(s.waiting[n:])
		s.waiting, s.first = s.waiting[:n], 0
	}
	s.waiting = append(s.waiting, c)
	s.rouse()
}

// rouse has the first that waits go on, if there is room and nobody is about to use it.
func (s *share) rouse() {
	if s.roused != nil || s.used >= s.max || s.first == len(s.waiting) {
		return
	}
	s.roused = s.waiting[s.first]
	s.waiting[s.first] = nil
	s.first++
	s.roused.resume()
}

// looked ends the turn of c, if it has it.
func (s *share) looked(c sharer) {
	if s.roused == c {
		s.roused = nil
		s.rouse()
	}
}

// leave forgets c, which closes, and may be one that waits.
func (s *share) leave(c sharer, waits bool) {
	if waits {
		i := s.first + slices.Index(s.waiting[s.first:], c)
		copy(s.waiting[s.first+1:i+1], s.waiting[s.first:i])
		s.waiting[s.first] = nil
		s.first++
	}
	s.looked(c)
}
