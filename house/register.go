package house

import (
	"math/bits"

	"github.com/stackhouse-go/stackhouse/stack"
)

// register is the houses of a system that haven't stopped, side by side, which the
// collector likes better than a chain of them. It is made of chunks, so that growing moves
// none, and keeps the room of those that have stopped for others: 9 bytes for each house
// of the time when there were most, and 8 more if its actor's factory is its own.
type register struct {
	chunks []*chunk
	open   *chunk // the first of those that have free slots
	houses int
}

// chunkSize makes a chunk 512 bytes long, the longest that the collector needs no header for.
const chunkSize = 59

// allFree is chunk.free of a chunk without houses.
const allFree = 1<<chunkSize - 1

type chunk struct {
	free  uint64 // bit i: slot i is free
	first uint32 // the number of its first slot
	next  *chunk // the next one with free slots
	// of all actors in it; nil: each has its own, or there are none
	make   stack.Factory
	each   *[chunkSize]stack.Factory // non-nil if make is nil and there are any
	houses [chunkSize]*stack.House   // of its slots; nil: free
}

// count returns how many houses there are.
func (r *register) count() int { return r.houses }

// add gives h a slot.
func (r *register) add(h *stack.House, make stack.Factory) {
	c := r.open
	if c == nil {
		c = r.grow()
	}
	i := bits.TrailingZeros64(c.free)
	if c.make == nil || !c.make.Is(make) {
		c.keep(i, make)
	}
	if c.free &= c.free - 1; c.free == 0 {
		r.open, c.next = c.next, nil
	}
	h.Slot = c.first + uint32(i)
	c.houses[i] = h
	r.houses++
}

// grow adds a chunk. Its first word to be written holds no pointer: where a page is new, and a
// collection is under way, to write a pointer reads what was there, and the page is mapped twice.
//
//go:noinline
func (r *register) grow() *chunk {
	c := new(chunk)
	c.free = allFree
	c.first = uint32(len(r.chunks) * chunkSize)
	r.chunks = append(r.chunks, c)
	r.open = c
	return c
}

// keep notes the factory of slot i, which the others don't share.
//
//go:noinline
func (c *chunk) keep(i int, make stack.Factory) {
	if c.free == allFree {
		c.make = make
		return
	}
	if c.each == nil {
		c.each = new([chunkSize]stack.Factory)
		for j, h := range c.houses {
			if h != nil {
				c.each[j] = c.make
			}
		}
		c.make = nil
	}
	c.each[i] = make
}

// factory returns what h makes its actor with.
func (r *register) factory(h *stack.House) stack.Factory {
	c, i := r.place(h)
	if c.each != nil {
		return c.each[i]
	}
	return c.make
}

// remove frees the slot of h.
func (r *register) remove(h *stack.House) {
	c, i := r.place(h)
	c.houses[i] = nil
	if c.each != nil {
		c.each[i] = nil
	}
	if c.free == 0 {
		c.next, r.open = r.open, c
	}
	if c.free |= 1 << i; c.free == allFree {
		c.make, c.each = nil, nil
	}
	r.houses--
}

// place returns where h stands.
func (r *register) place(h *stack.House) (c *chunk, i int) {
	return r.chunks[h.Slot/chunkSize], int(h.Slot % chunkSize)
}

// last returns the houses of the last slots, at most limit; mostly those that came last.
func (r *register) last(limit int) (all []*stack.House) {
	for k := len(r.chunks) - 1; k >= 0; k-- {
		for i := chunkSize - 1; i >= 0; i-- {
			if len(all) == limit {
				return all
			}
			if h := r.chunks[k].houses[i]; h != nil {
				all = append(all, h)
			}
		}
	}
	return all
}
