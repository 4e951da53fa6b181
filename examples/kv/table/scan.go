package table

import "math/bits"

// Scan calls fn for about n entries, those that expired left out, and returns the cursor for the
// next call; the first is 0, and after the last call it is 0. What is in the table from the first
// call to the last is seen, at least once; what comes or goes meanwhile may be. Key and value are
// valid, and must not be written to, during fn (the value of a hash says nothing), which must not
// change the table. A call visits at most 10n homes.
//
// The cursor counts through the homes with its bits reversed, as SCAN of Redis
// does (Pieter Noordhuis's method): a home in an array is then followed by all
// homes that it splits into in a larger one, so that a cursor stays good while the
// index is resized.
func (t *Table) Scan(cursor uint64, n int, now int64, fn func(key, value []byte, kind Kind)) (next uint64) {
	return t.scan(&t.index, cursor, n, func(b block) bool {
		if t.past(b, now) {
			return false
		}
		fn(b.key(), b.value(), b.kind())
		return true
	})
}

// scan is Scan for an index; fn reports whether it took the entry.
func (t *Table) scan(x *index, cursor uint64, n int, fn func(b block) bool) (next uint64) {
	small, large := x.old, x.main
	if len(small) > len(large) {
		small, large = large, small
	}
	n = max(n, 1)
	seen := 0
	for homes := 0; seen < n && homes < 10*n; {
		mask := uint64(len(large) - 1)
		split := uint64(0) // the bits by which a home of small splits in large
		if small != nil {
			split = mask &^ uint64(len(small)-1)
			seen += t.visit(small, cursor, fn)
		}
		for {
			seen += t.visit(large, cursor, fn)
			homes++
			cursor = bits.Reverse64(bits.Reverse64(cursor|^mask) + 1)
			if cursor&split == 0 {
				break
			}
		}
		if cursor == 0 {
			break
		}
	}
	return cursor
}

// visit calls fn for the entries at one home. They are in the run of taken slots
// that starts there.
func (t *Table) visit(slots []slot, home uint64, fn func(b block) bool) (seen int) {
	mask := uint64(len(slots) - 1)
	for i := home; slots[i&mask].at != 0; i++ {
		s := &slots[i&mask]
		if (s.hash^home)&mask != 0 || s.at == gone {
			continue
		}
		if fn(t.arena.block(s.at)) {
			seen++
		}
	}
	return seen
}

// Slots returns how many places the index has. From one call of Scan to the next nothing is seen
// twice unless that became less.
func (t *Table) Slots() int { return len(t.index.main) }

// FieldSlots is Slots for ScanFields, and tells which hash it is that key holds: one that takes
// its place is another. Of a small hash, or none, both are 0.
func (t *Table) FieldSlots(key []byte, now int64) (hash uint64, slots int) {
	s, b, err := t.reachHash(key, t.hasher.hash(key), now)
	if err != nil || s == nil || b.kind() != Indexed {
		return 0, 0
	}
	n := &t.nests.all[nestOf(b)]
	return n.serial, len(n.index.main)
}
