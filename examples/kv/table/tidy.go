package table

// A class whose sizes went out of fashion is left with segments that hold a few
// entries each, and no other class can use them. So segments are emptied: the
// entries of a sparse one move to others of its class, then it is dropped.
//
// One segment leaves at a time. Each changing call either asks one class, in
// turn, whether it is loose, or moves some blocks of the leaving segment. Moves
// cost at most three blocks copied for each one gained, as a segment that is
// more than 3/4 full is not chosen; and since a loose class is at most 2/3 full
// one that is not must exist.
const (
	tidyBlocks   = 16   // blocks looked at in a call
	tidyBytes    = 4096 // no further block is moved after so many bytes
	tidySegments = 4    // segments that a call considers
)

// tidy does a call's share.
//
//alloc:none
func (t *Table) tidy() {
	a := &t.arena
	if a.leaving == 0 {
		a.choose()
		return
	}
	moved := 0
	for range tidyBlocks {
		if a.leaving == 0 || moved >= tidyBytes {
			return
		}
		moved += t.move()
	}
}

// choose asks the next class for a segment that can leave.
func (a *arena) choose() {
	if a.asked++; a.asked > classMax || a.classes[a.asked].size == 0 {
		a.asked = 1
	}
	if k := &a.classes[a.asked]; k.loose() {
		a.chooseFrom(k)
	}
}

// chooseFrom looks at the sparse end of the list, for a segment whose blocks fit
// into the others. What it passes over goes to the full end.
func (a *arena) chooseFrom(k *class) {
	for range tidySegments {
		n := k.last
		if n == 0 {
			return
		}
		s := &a.segments[n]
		a.unlink(k, n)
		switch live := int(s.live) * int(k.size); {
		case live == 0:
			a.release(n)
			return
		case live*4 <= len(s.mem)*3 && len(s.mem) <= k.total-k.live:
			a.leaving, a.leavingAt = n, 0
			return
		}
		a.linkFirst(k, n)
	}
}

// move moves the next block of the leaving segment, if it is in use, and returns
// the bytes copied. Nothing is taken from the segment meanwhile, so all its blocks
// in use are ahead, and the last one to be freed, here or by its owner, ends it.
//
//alloc:none
func (t *Table) move() int {
	a := &t.arena
	s := &a.segments[a.leaving]
	k := &a.classes[s.class]
	if k.first == 0 { // others took the room
		a.linkFirst(k, a.leaving)
		a.leaving = 0
		return 0
	}
	from := uint64(a.leaving)<<32 | uint64(a.leavingAt)
	a.leavingAt += k.size
	b := a.block(from)
	if b.isFree() {
		return 0
	}
	to := a.takeClass(int(s.class))
	n := copy(a.block(to), b[:b.size()])
	t.replace(t.indexOf(b).locate(t.hasher.hash(b.key()), from), to)
	return n
}
