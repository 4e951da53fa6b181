package table

// Stats says what a table holds and what it costs.
type Stats struct {
	Keys          int    // as Len
	Deadlines     int    // keys that have one
	Expired       uint64 // entries deleted because their time had come, ever
	LiveBytes     int    // what the entries need: keys, values, 16 bytes each
	ArenaBytes    int    // what the segments hold, of which LiveBytes are used
	IndexBytes    int
	DeadlineBytes int
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
	}
}

// Bytes returns the memory that the table keeps from the collector, short of its
// own few kilobytes.
//
//alloc:none
func (t *Table) Bytes() int { return t.arena.bytes + t.index.bytes() + t.deadlines.bytes() }
