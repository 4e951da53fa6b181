package table

// weighed is how many fields of a large hash Weigh looks at.
const weighed = 64

// Weigh returns about how many bytes a key and what it holds take, and whether it
// is there.
//
//alloc:none
func (t *Table) Weigh(key []byte, now int64) (bytes int, ok bool) {
	s, b := t.reach(key, t.hasher.hash(key), now)
	if s == nil {
		return 0, false
	}
	bytes = t.arena.capacity(s.at) + slotBytes*4/3
	if b.deadline() != 0 {
		bytes += deadlineBytes
	}
	if b.kind() != Indexed {
		return bytes, true
	}
	f := t.fieldsOf(b)
	n, seen, sum := f.Len(), 0, 0
	for ; seen < weighed && f.Len() > 0; seen++ {
		name, value, _ := f.Next()
		sum += classSize(classOf(headerBytes + len(name) + len(value)))
	}
	bytes += t.nests.all[nestOf(b)].index.bytes()
	if seen > 0 {
		bytes += sum * n / seen
	}
	return bytes, true
}

// Random returns a key that r, which the caller draws, picks, or false if there is
// none. Each is as likely as another, unless nearly all of the index is empty or expired: see pick.
//
//alloc:none
func (t *Table) Random(r uint64, now int64) (key []byte, ok bool) {
	b := t.pick(&t.index, r, func(b block) bool { return !t.past(b, now) })
	if b == nil {
		return nil, false
	}
	return b.key(), true
}

// picksMax is how many slots pick draws before it takes the next entry: in an index that is a
// tenth full one in a million picks comes to that.
const picksMax = 128

// pick returns an entry of an index that fits, or nil. It draws slots until one has such an
// entry. If none of many has, it takes the next one, which prefers entries behind gaps.
func (t *Table) pick(x *index, r uint64, fits func(b block) bool) block {
	if x.count == 0 {
		return nil
	}
	for range picksMax {
		at := x.drawn(r).at
		if at != 0 && at != gone {
			if b := t.arena.block(at); fits(b) {
				return b
			}
		}
		r = scramble(r)
	}
	return t.next(x, r, fits)
}

// drawn returns the slot that r says, of all that x has.
func (x *index) drawn(r uint64) *slot {
	slots := x.main
	if n := uint64(len(x.main) + len(x.old)); x.old != nil && (r>>32)*n>>32 >= uint64(len(x.main)) {
		slots = x.old
	}
	return &slots[r&uint64(len(slots)-1)]
}

// scramble is the output function of Steele, Lea and Flood's SplitMix64.
func scramble(r uint64) uint64 {
	r += 0x9e3779b97f4a7c15
	r = (r ^ r>>30) * 0xbf58476d1ce4e5b9
	r = (r ^ r>>27) * 0x94d049bb133111eb
	return r ^ r>>31
}

// next returns the next entry that fits, from the slot that r says on, or nil.
func (t *Table) next(x *index, r uint64, fits func(b block) bool) block {
	first, second := x.main, x.old
	if n := uint64(len(first) + len(second)); second != nil && (r>>32)*n>>32 >= uint64(len(first)) {
		first, second = second, first
	}
	for _, slots := range [2][]slot{first, second} {
		mask := uint64(len(slots) - 1)
		for i := range uint64(len(slots)) {
			at := slots[(r+i)&mask].at
			if at == 0 || at == gone {
				continue
			}
			if b := t.arena.block(at); fits(b) {
				return b
			}
		}
	}
	return nil
}

// RandomField returns a field that r, which the caller draws, picks of the hash that
// key holds, or nil if there is none.
func (t *Table) RandomField(key []byte, r uint64, now int64) (name, value []byte) {
	s, b, _ := t.reachHash(key, t.hasher.hash(key), now)
	if s == nil {
		return nil, nil
	}
	if b.kind() == Indexed {
		if b = t.pick(&t.nests.all[nestOf(b)].index, r, func(block) bool { return true }); b == nil {
			return nil, nil
		}
		return b.key(), b.value()
	}
	f := t.fieldsOf(b)
	for range 1 + r%uint64(f.Len()) {
		name, value, _ = f.Next()
	}
	return name, value
}
