package table

import "encoding/binary"

// nests are the indexes of large hashes. The fields of such a hash are entries of
// the table's arena as others are, of kind field and with the number of the nest
// where a key has its deadline; the value of the hash's own entry is that number.
type nests struct {
	all   []nest // by number; number 0 is never used
	spare uint32 // a number not in use; they are linked by next
	bytes int    // Invariant: the sum of index.bytes over all nests in use
	taken uint64 // how often one was taken

	memory *memory

	dead   uint32 // hashes that were deleted; the first is being reaped
	reaped int    // slots of the first that are done
}

type nest struct {
	index  index
	next   uint32
	serial uint64 // of its present use
}

const (
	nestSlots  = 8 // of the smallest index
	nestNumber = 8 // bytes of a nest's number as a value

	// reapSlots is how much of a deleted hash a changing call takes home.
	reapSlots = 64
)

func (n *nests) reset() {
	clear(n.all)
	*n = nests{all: append(n.all[:0], nest{}), memory: n.memory, taken: n.taken}
}

// take returns the number of an empty nest.
//
//go:noinline
func (n *nests) take() uint32 {
	number := n.spare
	if number == 0 {
		number = uint32(len(n.all))
		n.all = append(n.all, nest{})
	} else {
		n.spare = n.all[number].next
	}
	x := &n.all[number]
	n.taken++
	x.next, x.serial = 0, n.taken
	x.index.init(nestSlots, n.memory)
	n.bytes += x.index.bytes()
	return number
}

// nestOf returns the number of the nest of a large hash.
func nestOf(b block) uint32 { return uint32(binary.LittleEndian.Uint64(b.value())) }

// indexOf returns the index that finds an entry.
func (t *Table) indexOf(b block) *index {
	if b.kind() == field {
		return &t.nests.all[b.deadline()].index
	}
	return &t.index
}

// bury makes a nest one that will be reaped.
func (t *Table) bury(number uint32) {
	n := &t.nests
	if n.dead == 0 {
		n.dead, n.reaped = number, 0
		return
	}
	first := &n.all[n.dead] // it is under way
	n.all[number].next = first.next
	first.next = number
}

// Reap frees what deleted hashes held, n slots of their indexes at most, and
// reports whether there is more. Every changing call does a little of it.
//
//alloc:none
func (t *Table) Reap(n int) (more bool) {
	for n > 0 && t.nests.dead != 0 {
		x := &t.nests.all[t.nests.dead].index
		slots, i := x.main, t.nests.reaped
		if i >= len(slots) {
			slots, i = x.old, i-len(slots)
		}
		for ; n > 0 && i < len(slots); i++ {
			n--
			t.nests.reaped++
			if s := &slots[i]; s.at != 0 && s.at != gone {
				t.live -= t.arena.block(s.at).size()
				t.arena.put(s.at)
				s.at = gone // those behind it are still found, as segments are emptied
			}
		}
		if t.nests.reaped == len(x.main)+len(x.old) {
			t.nests.release()
		}
	}
	return t.nests.dead != 0
}

// release drops the index of the nest that was reaped.
func (n *nests) release() {
	number := n.dead
	x := &n.all[number]
	n.bytes -= x.index.bytes()
	n.dead, n.reaped = x.next, 0
	x.index.drop()
	*x = nest{next: n.spare}
	n.spare = number
}

// setIn gives a field of a nest a value, and reports whether it is new.
//
//alloc:none
func (t *Table) setIn(number uint32, name, value []byte) (added bool) {
	x := &t.nests.all[number].index
	before := x.bytes()
	h := t.hasher.hash(name)
	s, b := t.findIn(x, name, h)
	_, b = t.write(x, s, b, h, name, value, field)
	b.setDeadline(uint64(number))
	x.upkeep()
	t.nests.bytes += x.bytes() - before
	return s == nil
}

// deleteIn deletes a field of a nest, and reports whether it was there.
//
//alloc:none
func (t *Table) deleteIn(number uint32, name []byte) bool {
	x := &t.nests.all[number].index
	before := x.bytes()
	h := t.hasher.hash(name)
	s, b := t.findIn(x, name, h)
	if s == nil {
		return false
	}
	t.live -= b.size()
	at := s.at
	x.remove(h, at)
	t.arena.put(at)
	x.upkeep()
	t.nests.bytes += x.bytes() - before
	return true
}

// unpack makes a nest of the fields of a packed hash, whose entry then refers to it.
//
//go:noinline
func (t *Table) unpack(s *slot, b block, h uint64) uint32 {
	number := t.nests.take()
	p := packed(b.value())
	for off := packedHead; off < len(p); {
		var name, value []byte
		name, value, off = p.at(off)
		t.setIn(number, name, value)
	}
	binary.LittleEndian.PutUint64(t.resize(s, b, h, b.key(), nestNumber, Indexed), uint64(number))
	return number
}
