package table

// index finds the locations of entries by their hashes: open addressing with
// linear probing in an array of at most 3/4 load. To resize it, a second array is
// made and every changing call moves a few slots (migrate), while lookups
// search both.
//
// The old array only loses slots, by a mark that keeps the probe chains of
// others whole; it is gone soon. The main array closes its gaps (remove), so it
// needs no marks and never degrades.
type index struct {
	main []slot
	old  []slot // nil unless resizing
	next int    // the slots of old before this one have moved

	memory   *memory
	count    int // entries in both
	limit    int // Invariant: count <= limit = 3/4 len(main)
	mainMin  int
	oldCount int // entries in old
}

// slot refers to one entry. That the whole hash is here spares looking at the
// arena while slots move, and at entries that don't match.
type slot struct {
	hash uint64
	at   uint64 // 0: empty; gone: was taken out of the old array
}

const gone = ^uint64(0)

const slotBytes = 16

// migrateSlots is how far migrate goes in a call.
//
// Invariant: the old array is empty before the main one is full. Growing from S
// slots, S/16 calls later there are at most 3S/4 + S/16 entries, of 6S/4.
// Shrinking from S to S/4 starts below S/8 entries, and S/16 calls later there
// are at most S/8 + S/16 of 3S/16, the limit.
const migrateSlots = 16

func (x *index) init(mainMin int, m *memory) {
	x.mainMin, x.memory = mainMin, m
	x.reset()
}

// reset forgets everything.
func (x *index) reset() {
	*x = index{mainMin: x.mainMin, memory: x.memory}
	x.replace(x.mainMin)
}

// drop gives back both arrays.
func (x *index) drop() {
	x.memory.putSlots(x.main)
	x.memory.putSlots(x.old)
}

// replace makes a main array of n slots.
//
//go:noinline
func (x *index) replace(n int) {
	x.main = x.memory.slots(n)
	x.limit = n / 4 * 3
}

// insert adds an entry that is not there.
//
//alloc:none
func (x *index) insert(h, at uint64) {
	if x.count == x.limit {
		x.resize(2 * len(x.main))
	}
	place(x.main, h, at)
	x.count++
}

// place writes to the first empty slot.
func place(slots []slot, h, at uint64) {
	mask := uint64(len(slots) - 1)
	i := h & mask
	for slots[i&mask].at != 0 {
		i++
	}
	slots[i&mask] = slot{h, at}
}

// locate returns the slot of an entry that is there.
func (x *index) locate(h, at uint64) *slot {
	if i := search(x.main, h, at); i >= 0 {
		return &x.main[i]
	}
	return &x.old[search(x.old, h, at)]
}

// search returns where the entry is, or -1.
func search(slots []slot, h, at uint64) int {
	mask := uint64(len(slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch slots[i&mask].at {
		case at:
			return int(i)
		case 0:
			return -1
		}
	}
}

// remove takes out an entry that is there.
//
//alloc:none
func (x *index) remove(h, at uint64) {
	x.count--
	if i := search(x.main, h, at); i >= 0 {
		closeGap(x.main, uint64(i))
		return
	}
	x.old[search(x.old, h, at)].at = gone
	x.oldCount--
}

// closeGap empties slot i. Each slot of the run behind it that may stand in the
// gap, because its home is not between, is moved there and leaves the next gap.
func closeGap(slots []slot, i uint64) {
	mask := uint64(len(slots) - 1)
	for j := (i + 1) & mask; slots[j&mask].at != 0; j = (j + 1) & mask {
		if home := slots[j&mask].hash; (j-home)&mask >= (j-i)&mask {
			slots[i&mask] = slots[j&mask]
			i = j
		}
	}
	slots[i&mask] = slot{}
}

// upkeep does a call's share of resizing. Memory follows a mass deletion by
// a fourth at a time.
//
//alloc:none
func (x *index) upkeep() {
	switch {
	case x.old != nil:
		x.migrate()
	case x.count < len(x.main)/8 && len(x.main) > x.mainMin:
		x.resize(max(len(x.main)/4, x.mainMin))
	}
}

//go:noinline
func (x *index) resize(n int) {
	if x.old != nil {
		panic("table: index full while it is resized")
	}
	x.old, x.oldCount, x.next = x.main, x.count, 0
	x.replace(n)
}

//alloc:none
func (x *index) migrate() {
	end := min(x.next+migrateSlots, len(x.old))
	for i := x.next; i < end; i++ {
		s := &x.old[i]
		if s.at == 0 || s.at == gone {
			continue
		}
		place(x.main, s.hash, s.at)
		s.at = gone
		x.oldCount--
	}
	x.next = end
	if x.oldCount == 0 {
		x.memory.putSlots(x.old)
		x.old = nil
	}
}

func (x *index) bytes() int { return (len(x.main) + len(x.old)) * slotBytes }
