package house

import "github.com/stackhouse-go/stackhouse/stack"

// register is the houses of a system that haven't stopped, side by side, which the
// collector likes better than a chain of them. It is made of chunks, so that growing moves
// none, and keeps the room of those that have stopped for others: 12 bytes for each house
// of the time when there were most.
type register struct {
	chunks []*chunk
	count  int // houses
	used   int // slots that have been taken. Invariant: count of them are, the others are chained
	free   int // 1 + the first of that chain; 0: there is none
}

const chunkSize = 512

type chunk struct {
	houses [chunkSize]*stack.House // nil: the slot is free
	next   [chunkSize]uint32       // free slots: as register.free
}

// add gives h a slot.
func (r *register) add(h *stack.House) {
	slot := r.free - 1
	if slot >= 0 {
		r.free = int(r.chunk(slot).next[slot%chunkSize])
	} else {
		slot = r.used
		r.used++
		if slot == len(r.chunks)*chunkSize {
			r.chunks = append(r.chunks, new(chunk))
		}
	}
	h.Slot = uint32(slot)
	r.chunk(slot).houses[slot%chunkSize] = h
	r.count++
}

// remove frees the slot of h.
func (r *register) remove(h *stack.House) {
	slot := int(h.Slot)
	c := r.chunk(slot)
	c.houses[slot%chunkSize] = nil
	c.next[slot%chunkSize] = uint32(r.free)
	r.free = slot + 1
	r.count--
}

func (r *register) chunk(slot int) *chunk { return r.chunks[slot/chunkSize] }

// last returns the houses of the last slots, at most limit; mostly those that came last.
func (r *register) last(limit int) (all []*stack.House) {
	for slot := r.used - 1; slot >= 0 && len(all) < limit; slot-- {
		if h := r.chunk(slot).houses[slot%chunkSize]; h != nil {
			all = append(all, h)
		}
	}
	return all
}
