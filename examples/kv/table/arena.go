package table

import (
	"encoding/binary"
	"math"
)

// arena hands out blocks from segments. A segment has blocks of one size class,
// so that a block's neighbours need no looking at when it is freed; an entry too
// large for the classes has a segment of its own.
type arena struct {
	segments []segment // by number; number 0 is never used
	spare    uint32    // a number not in use; they are linked by next
	classes  [classMax + 1]class

	memory       *memory
	segmentBytes int
	blockMax     int // the largest block of a class
	bytes        int // Invariant: the sum of len(mem)

	leaving   uint32 // the segment that is being emptied, 0: none; in no list
	leavingAt uint32 // offset of its first block not looked at
	asked     int    // the class that was asked last whether it is loose
}

// segment is an array of blocks. Its first bytes, carved, have been blocks;
// what follows has not been touched.
type segment struct {
	mem        []byte
	freed      uint32 // 1 + offset of the block freed last, 0: none
	carved     uint32
	live       uint32 // blocks in use
	prev, next uint32 // in the list of its class, if it has room
	class      uint8  // 0: this number is not in use
}

func (s *segment) room() bool { return s.freed != 0 || int(s.carved) < len(s.mem) }

// class is what the segments of one size class have in common.
type class struct {
	size        uint32 // bytes of a block
	first, last uint32 // list of the segments with room: the fuller ones first, roughly
	segments    int
	total, live int // bytes of its segments, of its blocks in use
	slack       int // bytes that it may have free in any case
}

// firstSegment is the size of a class's first segment. Each further one is
// a fourth of what the class has, until that is a full one: a small table
// with many sizes stays small.
const firstSegment = 4096

// loose reports whether the class has segments to give up: more than a third of
// it is free, and more than the slack. So neither a new segment, a fourth or the
// smallest possible, nor some entries that come and go make it loose.
func (k *class) loose() bool {
	return k.segments > 1 && (k.total-k.live-k.slack)*3 > k.total
}

func (a *arena) init(segmentBytes int, m *memory) {
	a.memory = m
	a.segmentBytes = segmentBytes
	a.blockMax = segmentBytes / 4
	a.reset()
}

// reset forgets everything.
func (a *arena) reset() {
	clear(a.segments)
	a.segments = append(a.segments[:0], segment{})
	clear(a.classes[:])
	for c := 1; c <= classOf(a.blockMax); c++ {
		size := classSize(c)
		a.classes[c].size = uint32(size)
		a.classes[c].slack = max(min(firstSegment, a.segmentBytes), 2*size)
	}
	a.spare, a.leaving, a.leavingAt, a.asked, a.bytes = 0, 0, 0, 0, 0
}

// block returns what is at a location.
func (a *arena) block(at uint64) block { return a.segments[at>>32].mem[uint32(at):] }

// capacity returns how many bytes the block has.
func (a *arena) capacity(at uint64) int {
	s := &a.segments[at>>32]
	if s.class == classLarge {
		return len(s.mem)
	}
	return int(a.classes[s.class].size)
}

// suits reports whether the block is what an entry of need bytes should have.
func (a *arena) suits(at uint64, need int) bool {
	s := &a.segments[at>>32]
	if s.class == classLarge {
		return need > a.blockMax && need <= len(s.mem) && need >= len(s.mem)/2
	}
	return need <= a.blockMax && classOf(need) == int(s.class)
}

// take returns the location of a block of at least need bytes. The caller fills
// it at once.
//
//alloc:none
func (a *arena) take(need int) uint64 {
	if need > a.blockMax {
		return a.takeLarge(need)
	}
	return a.takeClass(classOf(need))
}

//alloc:none
func (a *arena) takeClass(c int) uint64 {
	k := &a.classes[c]
	if k.first == 0 {
		a.grow(c)
	}
	n := k.first
	s := &a.segments[n]
	offset := s.carved
	if s.freed != 0 {
		offset = s.freed - 1
		s.freed = binary.LittleEndian.Uint32(s.mem[offset:])
	} else {
		s.carved += k.size
	}
	s.live++
	k.live += int(k.size)
	if !s.room() {
		a.unlink(k, n)
	}
	return uint64(n)<<32 | uint64(offset)
}

//go:noinline
func (a *arena) takeLarge(need int) uint64 {
	step := a.blockMax / 8 // wastes an eighth at most, as the classes do on average
	return uint64(a.add(a.memory.take((need+step-1)/step*step), classLarge)) << 32
}

// grow gives class c a segment with room.
//
//go:noinline
func (a *arena) grow(c int) {
	k := &a.classes[c]
	bytes := min(max(k.total/4, firstSegment), a.segmentBytes)
	blocks := max(bytes/int(k.size), 1)
	n := a.add(a.memory.take(blocks*int(k.size)), uint8(c))
	k.segments++
	k.total += len(a.segments[n].mem)
	a.linkFirst(k, n)
}

// add gives memory a number.
func (a *arena) add(mem []byte, class uint8) uint32 {
	n := a.spare
	if n == 0 {
		if uint64(len(a.segments)) > math.MaxUint32 {
			panic("table: too many segments")
		}
		n = uint32(len(a.segments))
		a.segments = append(a.segments, segment{})
	} else {
		a.spare = a.segments[n].next
	}
	a.segments[n] = segment{mem: mem, class: class}
	a.bytes += len(mem)
	return n
}

// put frees a block. Its bytes but the first 16 stay as they are until it is
// taken again.
//
//alloc:none
func (a *arena) put(at uint64) {
	n, offset := uint32(at>>32), uint32(at)
	s := &a.segments[n]
	if s.class == classLarge {
		a.release(n)
		return
	}
	k := &a.classes[s.class]
	b := block(s.mem[offset:][:k.size])
	if b.isFree() {
		freedTwice()
	}
	if checked {
		poison(b)
	}
	if !s.room() { // so it isn't the leaving one, which always has room
		a.linkFirst(k, n)
	}
	binary.LittleEndian.PutUint32(b, s.freed)
	b.setFree()
	s.freed = offset + 1
	s.live--
	k.live -= int(k.size)
	if s.live == 0 {
		a.emptied(k, n)
	}
}

// emptied decides about a segment without a block in use. If it stays it is the
// last that its class takes from, and then from its start. For one that empties
// two may go, so those that stayed go too when the class has become loose.
func (a *arena) emptied(k *class, n uint32) {
	if n == a.leaving {
		a.leaving = 0
		a.release(n)
		return
	}
	a.unlink(k, n)
	s := &a.segments[n]
	s.freed, s.carved = 0, 0
	a.linkLast(k, n)
	for range 2 {
		if last := k.last; k.loose() && last != 0 && a.segments[last].live == 0 {
			a.unlink(k, last)
			a.release(last)
		}
	}
}

// release gives back a segment, which is in no list.
func (a *arena) release(n uint32) {
	s := &a.segments[n]
	a.bytes -= len(s.mem)
	if s.class != classLarge {
		k := &a.classes[s.class]
		k.segments--
		k.total -= len(s.mem)
	}
	a.memory.put(s.mem)
	*s = segment{next: a.spare}
	a.spare = n
}

func (a *arena) linkFirst(k *class, n uint32) {
	s := &a.segments[n]
	s.prev, s.next = 0, k.first
	if k.first != 0 {
		a.segments[k.first].prev = n
	} else {
		k.last = n
	}
	k.first = n
}

func (a *arena) linkLast(k *class, n uint32) {
	s := &a.segments[n]
	s.prev, s.next = k.last, 0
	if k.last != 0 {
		a.segments[k.last].next = n
	} else {
		k.first = n
	}
	k.last = n
}

func (a *arena) unlink(k *class, n uint32) {
	s := &a.segments[n]
	if s.prev != 0 {
		a.segments[s.prev].next = s.next
	} else {
		k.first = s.next
	}
	if s.next != 0 {
		a.segments[s.next].prev = s.prev
	} else {
		k.last = s.prev
	}
	s.prev, s.next = 0, 0
}

//go:noinline
func freedTwice() { panic("table: block freed twice") }

// poison makes a stale alias of a value show.
//
//go:noinline
func poison(b block) {
	b = b[min(headerBytes, len(b)):]
	for n := copy(b, "\xdb"); n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
