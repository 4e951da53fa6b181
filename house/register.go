package house

import "github.com/stackhouse-go/stackhouse/stack"

// register is the houses of a system that haven't stopped, side by side, which the
// collector likes better than a chain of them. It is made of chunks, so that growing moves
// none, and keeps the room of those that have stopped for others: 20 bytes for each house
// of the time when there were most.
type register struct {
	chunks []*chunk
	used   int // slots that have been taken
	free   int // how many of them are free. Invariant: free <= used
}

const chunkSize = 512

type chunk struct {
	houses [chunkSize]*stack.House  // of its slots; nil: free
	make   [chunkSize]stack.Factory // of the actors in them
	free   [chunkSize]uint32        // a part of the stack of free slots
}

// count returns how many houses there are.
func (r *register) count() int { return r.used - r.free }

// add gives h a slot.
func (r *register) add(h *stack.House, make stack.Factory) {
	slot := r.used
	if r.free > 0 {
		r.free--
		slot = int(r.chunk(r.free).free[r.free%chunkSize])
	} else {
		if slot == len(r.chunks)*chunkSize {
			r.chunks = append(r.chunks, new(chunk))
		}
		r.used++
	}
	h.Slot = uint32(slot)
	c := r.chunk(slot)
	c.houses[slot%chunkSize], c.make[slot%chunkSize] = h, make
}

// factory returns what h makes its actor with.
func (r *register) factory(h *stack.House) stack.Factory {
	return r.chunk(int(h.Slot)).make[h.Slot%chunkSize]
}

// remove frees the slot of h.
func (r *register) remove(h *stack.House) {
	slot := int(h.Slot)
	c := r.chunk(slot)
	c.houses[slot%chunkSize], c.make[slot%chunkSize] = nil, nil
	r.chunk(r.free).free[r.free%chunkSize] = h.Slot
	r.free++
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
