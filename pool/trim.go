package pool

const (
	// TrimEvery is how often a worker calls Trim, in nanoseconds.
	TrimEvery = 60e9
	// trimUnused is how long a pool must have been unused to shrink, in nanoseconds.
	trimUnused = 30e9
	// trimKeep is how many objects a shrunk pool keeps: a burst starts without a miss.
	trimKeep = 10
)

// Trim drops all but 10 free objects of each kind that was not taken from for
// 30 s. It returns the number of objects that it left to the collector. now is
// in nanoseconds; call it every TrimEvery.
func (s *Shard) Trim(now int64) (dropped int) {
	s.collect()
	for _, l := range s.lists {
		if l != nil {
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

// shrink keeps the first trimKeep objects of the list.
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

// Usage is the state of one kind's pool.
type Usage struct {
	Name string
	Made int // objects that exist
	Free int // objects at hand; Made - Free are taken or on their way home
}

// Usage returns the state of each pool that was ever used, after collecting what
// came home. Only the owner may call it.
func (s *Shard) Usage() []Usage {
	s.collect()
	var all []Usage
	for _, l := range s.lists {
		if l != nil {
			all = append(all, Usage{Name: l.kind.name, Made: l.made, Free: l.free()})
		}
	}
	return all
}

// Made returns the number of objects that exist, of all kinds. Only the owner may call it.
func (s *Shard) Made() (n int) {
	for _, l := range s.lists {
		if l != nil {
			n += l.made
		}
	}
	return n
}

// Outstanding returns the number of objects that are taken or on their way
// home. At rest it is 0. Only the owner may call it.
func (s *Shard) Outstanding() (n int) {
	s.collect()
	for _, l := range s.lists {
		if l != nil {
			n += l.made - l.free()
		}
	}
	return n
}
