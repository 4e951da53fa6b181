package pool

const (
	// TrimEvery is how often a worker calls Trim, in nanoseconds.
	TrimEvery = 30e9
	// trimKeep is how many objects each list keeps beyond those that were needed, for a burst to
	// begin with.
	trimKeep = 10
)

// Trim drops the free objects of each kind that weren't needed since the last Trim, all but 10.
// There remain as many as were out at once at some moment since then, and 10. It returns how many
// objects it left to the collector. The owner calls it every TrimEvery.
func (s *Shard) Trim() (dropped int) {
	s.collect()
	for _, l := range s.lists {
		if l != &noList {
			dropped += l.trim()
		}
	}
	return dropped
}

// trim drops the spare objects, all but trimKeep, and makes the free ones spare. It walks over the
// spare ones only.
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
	Free int    // objects at home; Made - Free are taken or on their way home
}

// Usage returns the state of each pool that was ever used, with what came home so far. Only the
// owner may call it.
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
