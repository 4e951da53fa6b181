package table

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// fewer makes long tests shorter where each step costs more.
func fewer(n int) int {
	if housetest.Slow {
		return max(n/8, 1)
	}
	return n
}

// check verifies all invariants and returns the first that is broken.
func (t *Table) check() error {
	for _, f := range []func() error{t.index.check, t.checkEntries, t.checkNests, t.checkArena, t.checkDeadlines, t.checkMemory} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// entries lists the locations of all entries.
func (t *Table) entries() []uint64 { return t.index.entries() }

func (x *index) entries() (list []uint64) {
	for _, slots := range [][]slot{x.main, x.old} {
		for _, s := range slots {
			if s.at != 0 && s.at != gone {
				list = append(list, s.at)
			}
		}
	}
	return list
}

func (x *index) check() error {
	inMain, inOld := 0, 0
	for _, s := range x.main {
		if s.at == gone {
			return fmt.Errorf("a mark in the main array")
		}
		if s.at != 0 {
			inMain++
		}
	}
	for i, s := range x.old {
		if s.at == 0 || s.at == gone {
			continue
		}
		inOld++
		if i < x.next {
			return fmt.Errorf("old slot %d is taken, next is %d", i, x.next)
		}
	}
	switch {
	case inOld != x.oldCount || inMain+inOld != x.count:
		return fmt.Errorf("count %d (old %d), found %d and %d", x.count, x.oldCount, inMain, inOld)
	case x.limit != len(x.main)*3/4 || x.count > x.limit:
		return fmt.Errorf("count %d, limit %d, slots %d", x.count, x.limit, len(x.main))
	case len(x.main) < x.mainMin || len(x.main)&(len(x.main)-1) != 0:
		return fmt.Errorf("%d slots", len(x.main))
	}
	return nil
}

// checkIn verifies the entries of an index, and returns the bytes that they need.
func (t *Table) checkIn(x *index, seen map[uint64]bool, nest uint32) (live int, err error) {
	for _, at := range x.entries() {
		b := t.arena.block(at)
		if seen[at] {
			return 0, fmt.Errorf("location %#x in the index twice", at)
		}
		seen[at] = true
		if b.isFree() {
			return 0, fmt.Errorf("location %#x is free", at)
		}
		if b.size() > t.arena.capacity(at) {
			return 0, fmt.Errorf("location %#x: %d bytes in a block of %d", at, b.size(), t.arena.capacity(at))
		}
		if nest != 0 != (b.kind() == field) || nest != 0 && b.deadline() != uint64(nest) {
			return 0, fmt.Errorf("location %#x is of kind %d in nest %d", at, b.kind(), nest)
		}
		s, _ := t.findIn(x, b.key(), t.hasher.hash(b.key()))
		if s == nil || s.at != at {
			return 0, fmt.Errorf("key %q isn't found at %#x", b.key(), at)
		}
		live += b.size()
	}
	return live, nil
}

// deadNests lists those that are not reaped yet.
func (t *Table) deadNests() map[uint32]bool {
	dead := map[uint32]bool{}
	for n := t.nests.dead; n != 0; n = t.nests.all[n].next {
		dead[n] = true
	}
	return dead
}

// checkNests verifies that each large hash has a nest of its own, and the others
// are dead or spare.
func (t *Table) checkNests() error {
	used, bytes := t.deadNests(), 0
	for _, at := range t.entries() {
		b := t.arena.block(at)
		if b.kind() != Indexed {
			continue
		}
		n := nestOf(b)
		if used[n] || n == 0 {
			return fmt.Errorf("nest %d is used twice", n)
		}
		used[n] = true
		x := &t.nests.all[n].index
		if err := x.check(); err != nil {
			return fmt.Errorf("nest %d: %w", n, err)
		}
		if x.count == 0 {
			return fmt.Errorf("nest %d is empty", n)
		}
	}
	for n := range used {
		bytes += t.nests.all[n].index.bytes()
	}
	for n := t.nests.spare; n != 0; n = t.nests.all[n].next {
		if used[n] {
			return fmt.Errorf("nest %d is spare", n)
		}
		used[n] = true
	}
	if len(used) != len(t.nests.all)-1 || bytes != t.nests.bytes {
		return fmt.Errorf("%d nests, found %d; %d bytes, found %d", len(t.nests.all)-1, len(used), t.nests.bytes, bytes)
	}
	return nil
}

func (t *Table) checkEntries() error {
	seen := map[uint64]bool{}
	live, err := t.checkIn(&t.index, seen, 0)
	for n := range t.nests.all {
		if err != nil {
			return err
		}
		var more int
		if dead := t.deadNests(); !dead[uint32(n)] {
			more, err = t.checkIn(&t.nests.all[n].index, seen, uint32(n))
		} else {
			for _, at := range t.nests.all[n].index.entries() {
				more += t.arena.block(at).size()
			}
		}
		live += more
	}
	if err != nil || live != t.live {
		return fmt.Errorf("live %d, found %d; %w", t.live, live, err)
	}
	return nil
}

func (t *Table) checkArena() error {
	a := &t.arena
	blocks, bytes := 0, 0
	var sums [classMax + 1]class
	listed := map[uint32]bool{}
	for c := range a.classes {
		prev := uint32(0)
		for n := a.classes[c].first; n != 0; n = a.segments[n].next {
			if s := &a.segments[n]; int(s.class) != c || s.prev != prev || listed[n] || !s.room() {
				return fmt.Errorf("segment %d is in the list of class %d: %+v", n, c, s)
			}
			listed[n] = true
			prev = n
		}
		if a.classes[c].last != prev {
			return fmt.Errorf("class %d ends with %d, found %d", c, a.classes[c].last, prev)
		}
	}
	for i := range a.segments {
		n, s := uint32(i), &a.segments[i]
		bytes += len(s.mem)
		switch s.class {
		case 0:
			continue
		case classLarge:
			blocks++
			continue
		}
		if s.room() != (listed[n] || n == a.leaving) {
			return fmt.Errorf("segment %d: room %v, listed %v, leaving %d", n, s.room(), listed[n], a.leaving)
		}
		k := &sums[s.class]
		size := classSize(int(s.class))
		free := 0
		for f := s.freed; f != 0; free++ {
			b := a.block(uint64(n)<<32 | uint64(f-1))
			if !b.isFree() || int(f-1)%size != 0 || f-1 >= s.carved {
				return fmt.Errorf("segment %d: bad free block at %d", n, f-1)
			}
			f = uint32(load32(b))
		}
		if int(s.carved) != (free+int(s.live))*size || int(s.carved) > len(s.mem) || len(s.mem)%size != 0 {
			return fmt.Errorf("segment %d: carved %d of %d, %d live, %d free of %d bytes", n, s.carved, len(s.mem), s.live, free, size)
		}
		blocks += int(s.live)
		k.segments++
		k.total += len(s.mem)
		k.live += int(s.live) * size
	}
	for c := range sums {
		if k, s := &a.classes[c], &sums[c]; k.segments != s.segments || k.total != s.total || k.live != s.live {
			return fmt.Errorf("class %d: %+v, found %+v", c, k, s)
		}
	}
	entries := t.Len()
	for n := range t.nests.all {
		entries += len(t.nests.all[n].index.entries())
	}
	if blocks != entries || bytes != a.bytes {
		return fmt.Errorf("%d blocks for %d entries, %d bytes, found %d", blocks, entries, a.bytes, bytes)
	}
	return nil
}

func (t *Table) checkDeadlines() error {
	d := &t.deadlines
	for i := range uint64(d.count) {
		if got := t.arena.block(d.at(i).entry).deadline(); got != i+1 || d.at(i).when == 0 {
			return fmt.Errorf("deadline %d: %+v, entry has %d", i, *d.at(i), got)
		}
	}
	having := 0
	for _, at := range t.entries() {
		if t.arena.block(at).deadline() != 0 {
			having++
		}
	}
	if having != d.count {
		return fmt.Errorf("%d deadlines, %d entries have one", d.count, having)
	}
	return nil
}
