package channel

// share is a site's part of Config.RequestsMax. While it is used up connections with more to ask
// aren't read; they have their turn in the order in which they came to that.
//
// Invariant: if somebody waits and there is room, somebody was roused and is on the way to look.
type share struct {
	max, used int // requests in flight, without a result
	line      line
	roused    sharer // nil: nobody is on the way
}

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
	if s.roused != c && (s.roused != nil || s.line.len() > 0) {
		return 0
	}
	return s.max - s.used
}

// wait has c resume when it can. It must not be waiting.
func (s *share) wait(c sharer) {
	s.line.add(c)
	s.rouse()
}

// rouse has the first that waits go on, if there is room and nobody is about to use it.
func (s *share) rouse() {
	if s.roused != nil || s.used >= s.max || s.line.len() == 0 {
		return
	}
	s.roused = s.line.take()
	s.roused.resume()
}

// looked ends the turn of c, if it has it.
func (s *share) looked(c sharer) {
	if s.roused == c {
		s.roused = nil
		s.rouse()
	}
}
