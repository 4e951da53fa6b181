package table

// Expire makes a key expire at a time, or never if that is 0, and reports whether
// it was there. A time not after now deletes it at once.
//
//alloc:none
func (t *Table) Expire(key []byte, at, now int64) bool {
	h := t.hasher.hash(key)
	s, b := t.reach(key, h, now)
	switch {
	case s == nil:
	case at != 0 && at <= now:
		t.drop(h, s.at)
	default:
		t.schedule(s.at, b, at)
	}
	t.upkeep()
	return s != nil
}

// ExpireAt returns when a key expires, 0 if never, and whether it is there.
//
//alloc:none
func (t *Table) ExpireAt(key []byte, now int64) (at int64, ok bool) {
	s, b := t.reach(key, t.hasher.hash(key), now)
	if s == nil {
		return 0, false
	}
	return t.when(b), true
}

// Persist makes a key stay for ever and reports whether it would have expired.
//
//alloc:none
func (t *Table) Persist(key []byte, now int64) bool {
	s, b := t.reach(key, t.hasher.hash(key), now)
	had := s != nil && b.deadline() != 0
	if had {
		t.schedule(s.at, b, 0)
	}
	t.upkeep()
	return had
}

// ExpireSome looks at the next n deadlines, or at all if there are fewer, and
// deletes the entries whose time has come. Two rounds of calls that have looked at
// as many deadlines as there are have looked at each of them. An owner calls it
// from a timer, and again at once while a good part of those looked at had
// expired. It does housekeeping even if nothing expires.
//
//alloc:none
func (t *Table) ExpireSome(n int, now int64) (looked, expired int) {
	n = min(n, t.deadlines.count)
	for looked < n {
		looked++
		d := t.deadlines.look()
		if d.when > now {
			continue
		}
		expired++
		t.expire(t.hasher.hash(t.arena.block(d.entry).key()), d.entry)
		t.upkeep()
	}
	if expired == 0 {
		t.upkeep()
	}
	return looked, expired
}

// expire deletes an entry whose time has come.
//
//alloc:none
func (t *Table) expire(h, at uint64) {
	t.drop(h, at)
	t.expired++
}

// when returns the deadline of an entry, 0 if it has none.
func (t *Table) when(b block) int64 {
	d := b.deadline()
	if d == 0 {
		return 0
	}
	return t.deadlines.at(d - 1).when
}

func (t *Table) past(b block, now int64) bool {
	when := t.when(b)
	return when != 0 && when <= now
}

// schedule gives the entry b, at a location, a deadline, or takes it away with 0.
//
//alloc:none
func (t *Table) schedule(at uint64, b block, when int64) {
	switch d := b.deadline(); {
	case d == 0 && when == 0:
	case d == 0:
		b.setDeadline(1 + t.deadlines.add(when, at))
	case when == 0:
		t.unschedule(d - 1)
		b.setDeadline(0)
	default:
		t.deadlines.at(d - 1).when = when
	}
}

// unschedule takes out the deadline at position i. The caller writes to the entry
// that had it, afterwards.
func (t *Table) unschedule(i uint64) {
	t.arena.block(t.deadlines.remove(i)).setDeadline(1 + i)
}
