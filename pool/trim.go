package pool

const (
	// TrimEvery is how often a worker calls Trim, in nanoseconds.
	TrimEvery = 30e9
	// trimKeep is how many objects each pool keeps beyond what was needed: a burst starts without
	// a miss.
	trimKeep = 10
)

// Trim drops all but 10 of the free objects of each kind that weren't needed since the last Trim:
// what is left are as many as were out at once at some moment since then, and 10. It returns the
// number of objects that it left to the collector. The owner calls it every TrimEvery.
func (s *Shard) Trim() (dropped int) {
	s.collect()
	for _, l := range s.lists {
		if l != &noList {
			dropped += l.trim()
		}
	}
	return dropped
}

// trim has all that is free be spare, but for what was before and is dropped. It looks at no more
// than that and 10 others.
func (l *list) trim() (dropped int) {
	kept := &l.spare
	for n := 0; n < trimKeep && *kept != nil; n++ {
		kept = &(*kept).next
	}
	dropped = count(*kept)
	l.made -= dropped
	*kept, l.head = l.head, nil
	return dropped
}

func count(o *Object) (n int) {
	for ; o != nil; o = o.next {
		n++
	}
	return n
}

func (l *list) free() int { return count(l.head) + count(l.spare) }

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
		n += l.made
	}
	return n
}

// Outstanding returns the number of objects at home here that are taken or on
// their way back. At rest it is 0. Only the owner may call it.
func (s *Shard) Outstanding() (n int) {
	s.collect()
	for _, l := range s.lists {
		n += l.made - l.free()
	}
	return n
}
