package table

import "runtime"

// Table maps keys to values, which are strings or hashes. One actor owns it and makes all calls.
// Keys and values are copied in; a value that comes out is the table's own memory, and goes with
// the table.
type Table struct {
	memory    *memory
	arena     arena
	index     index
	deadlines deadlines
	nests     nests

	hasher           hasher
	keyMax, valueMax int
	packedFields     int
	packedBytes      int

	live    int // Invariant: the sum of block.size over all entries, fields included
	expired uint64
}

// New returns an empty table. It panics if the Config makes no sense.
func New(c Config) *Table {
	c.validate()
	t := &Table{keyMax: c.KeyMax, valueMax: c.ValueMax, packedFields: c.PackedFields, packedBytes: c.PackedBytes}
	// Not the seed itself: if the server chose this store by the lower bits of
	// Hash(key, Seed), all keys here would share them and crowd the index.
	t.hasher = newHasher(mix(c.Seed^secret1, secret3))
	t.memory = newMemory()
	runtime.AddCleanup(t, (*memory).putAll, t.memory)
	t.arena.init(c.SegmentBytes, t.memory)
	t.index.init(c.IndexMin, t.memory)
	t.nests.memory = t.memory
	t.nests.reset()
	return t
}

// Get returns the string that key holds. It is valid until the next call that may
// change the table, and must not be written to. Get itself moves and frees nothing
// but an expired entry of this key, so several values may be looked up before they
// are used.
//
//alloc:none
func (t *Table) Get(key []byte, now int64) (value []byte, ok bool) {
	s, b := t.reach(key, t.hasher.hash(key), now)
	if s == nil || b.kind().IsHash() {
		return nil, false
	}
	return b.value(), true
}

// Look is Get for a key that may hold anything, and tells what. The value is
// that of a string; nil for a hash.
//
//alloc:none
func (t *Table) Look(key []byte, now int64) (value []byte, kind Kind, ok bool) {
	s, b := t.reach(key, t.hasher.hash(key), now)
	if s == nil {
		return nil, 0, false
	}
	if kind = b.kind(); kind.IsHash() {
		return nil, kind, true
	}
	return b.value(), kind, true
}

// Exists reports whether key has a value.
//
//alloc:none
func (t *Table) Exists(key []byte, now int64) bool {
	s, _ := t.reach(key, t.hasher.hash(key), now)
	return s != nil
}

// Delete deletes key and reports whether it was there.
//
//alloc:none
func (t *Table) Delete(key []byte, now int64) bool {
	h := t.hasher.hash(key)
	s, _ := t.reach(key, h, now)
	if s != nil {
		t.drop(h, s.at)
	}
	t.upkeep()
	return s != nil
}

// Len returns the number of keys, with those that expired and are not yet
// deleted.
func (t *Table) Len() int { return t.index.count }

// Clear deletes all keys at once and gives their memory back. It
// takes time for each segment, most of it not the caller's, none for a key.
func (t *Table) Clear() {
	t.memory.putAll()
	t.arena.reset()
	t.index.reset()
	t.deadlines.reset()
	t.nests.reset()
	t.live = 0
}

// reach returns the slot and the block of a key that has not expired, or nil. It
// deletes one that has.
//
//alloc:none
func (t *Table) reach(key []byte, h uint64, now int64) (*slot, block) {
	s, b := t.find(key, h)
	if s != nil && t.past(b, now) {
		t.expire(h, s.at)
		return nil, nil
	}
	return s, b
}

// find returns the slot and the block of a key, expired or not, or nil. The slot is
// valid until the index changes.
//
//alloc:none
func (t *Table) find(key []byte, h uint64) (*slot, block) { return t.findIn(&t.index, key, h) }

// findIn is find in an index.
//
//alloc:none
func (t *Table) findIn(x *index, key []byte, h uint64) (*slot, block) {
	if s, b := t.probe(x.main, key, h); s != nil || x.old == nil {
		return s, b
	}
	return t.probe(x.old, key, h)
}

//alloc:none
func (t *Table) probe(slots []slot, key []byte, h uint64) (*slot, block) {
	mask := uint64(len(slots) - 1)
	for i := h; ; i++ {
		s := &slots[i&mask]
		if s.at == 0 {
			return nil, nil
		}
		if s.hash != h || s.at == gone {
			continue
		}
		if b := t.arena.block(s.at); b.holds(key) {
			return s, b
		}
	}
}

// drop deletes an entry.
//
//alloc:none
func (t *Table) drop(h, at uint64) {
	b := t.arena.block(at)
	if d := b.deadline(); d != 0 {
		t.unschedule(d - 1)
	}
	if b.kind() == Indexed {
		t.bury(nestOf(b))
	}
	t.live -= b.size()
	t.index.remove(h, at)
	t.arena.put(at)
}

// upkeep does the share of housekeeping of one changing call, at its end: until
// then key and value may alias the table.
//
//alloc:none
func (t *Table) upkeep() {
	t.index.upkeep()
	t.tidy()
	if t.nests.dead != 0 {
		t.Reap(reapSlots)
	}
}
