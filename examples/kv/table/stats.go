package table

// Stats says what a table holds and what it costs.
type Stats struct {
	Keys          int    // as Len
	Deadlines     int    // keys that have one
	Expired       uint64 // entries deleted because their time had come, ever
	LiveBytes     int    // what the entries need: keys, values, fields, 16 bytes each
	ArenaBytes    int    // what the segments hold, of which LiveBytes are used
	IndexBytes    int
	DeadlineBytes int
	NestBytes     int // the indexes of large hashes
}

// Stats returns the present state. It costs nothing.
//
//alloc:none
func (t *Table) Stats() Stats {
	return Stats{
		Keys:          t.index.count,
		Deadlines:     t.deadlines.count,
		Expired:       t.expired,
		LiveBytes:     t.live,
		ArenaBytes:    t.arena.bytes,
		IndexBytes:    t.index.bytes(),
		DeadlineBytes: t.deadlines.bytes(),
		NestBytes:     t.nests.bytes,
	}
}

// Bytes returns the memory that the table holds, short of its
// own few kilobytes.
//
//alloc:none
func (t *Table) Bytes() int { return t.arena.bytes + t.overhead() }

// Used is Bytes without what the arena has free: it follows each entry that comes
// and goes at once. What a deleted hash held counts until it is reaped.
//
//alloc:none
func (t *Table) Used() int { return t.live + t.overhead() }

func (t *Table) overhead() int { return t.index.bytes() + t.deadlines.bytes() + t.nests.bytes }
