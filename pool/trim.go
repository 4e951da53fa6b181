package pool

const (
	// TrimEvery is how often a worker calls Trim, in nanoseconds. Well over
	// trimUnused, so that two calls suffice to find a pool unused.
	TrimEvery = 60e9
	// trimUnused is how long all free objects of a pool must have been unused for it
	// to shrink, in nanoseconds.
	trimUnused = 30e9
	// trimKeep is how many objects a shrunk pool keeps: a burst starts without a miss.
	trimKeep = 10
)

// Trim drops all but 10 of the free objects of each kind of which none was taken
// or put for 30 s, as far as the calls of Trim can tell. It returns the number of
// objects that it left to the collector. The time now is in nanoseconds; the
// owner calls it every TrimEvery.
func (s *Shard) Trim(now int64) (dropped int) {
	s.collect()
	for _, l := range s.lists {
		if l != &noList {
			dropped += l.trim(now)
		}
	}
	return dropped
}

func (l *list) trim(now int64) (dropped int) {
	if l.head == nil || l.head != l.seen || l.head.gen != l.seenGen {
		l.usedAt = now
	} else if now-l.usedAt >= trimUnused {
		dropped = l.shrink()
	}
	if l.seen = l.head; l.seen != nil {
		l.seenGen = l.seen.gen
	}
	return dropped
}

// shrink keeps the first trimKeep objects of the list, and returns how many it dropped.
func (l *list) shrink() (dropped int) {
	last := l.head
	for range trimKeep - 1 {
		if last = last.next; last == nil {
			return 0
		}
	}
	for o := last.next; o != nil; o = o.next {
		dropped++
	}
	last.next = nil
	l.made -= dropped
	return dropped
}

func (l *list) free() (n int) {
	for o := l.head; o != nil; o = o.next {
		n++
	}
	return n
}

// Usage is the state of one kind's pool at one shard.
type Usage struct {
	Name string // the kind's
	Made int    // objects that exist and are at home here
	Free int    // objects at hand; Made - Free are taken or on their way home
}

// Usage returns the state of each pool that was ever used, after collecting what
// came home. Only the owner may call it.
func (s *Shard) Usage() []Usage {
	s.collect()
	var all []Usage
	for _, l := range s.lists {
		if l != &noList {
			all = append(all, Usage{Name: l.kind.name, Made: l.made, Free: l.free()})
		}
	}
	return all
}

// Made returns the number of objects of all kinds that exist and are at home here.
// Only the owner may call it.
func (s *Shard) Made() (n int) {
	for _, l := range s.lists {
		if l != &noList {
			n += l.made
		}
	}
	return n
}

// Outstanding returns the number of objects at home here that are taken or on
// their way back. At rest it is 0. Only the owner may call it.
func (s *Shard) Outstanding() (n int) {
	s.collect()
	for _, l := range s.lists {
		if l != &noList {
			n += l.made - l.free()
		}
	}
	return n
}
