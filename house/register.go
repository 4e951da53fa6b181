package house

import (
	"math/bits"

	"github.com/stackhouse-go/stackhouse/stack"
)

// register is the houses of a system that haven't stopped. They stand side by side in chunks, which
// is less work for the garbage collector than a chain, and growing moves none of them. The slots of
// stopped houses are used again. It takes 9 bytes for each house of the time when there were most,
// and 8 more for each whose actor has a factory of its own.
type register struct {
	chunks []*chunk
	open   *chunk // the first chunk with free slots
	houses int
}

// chunkSize makes a chunk 512 bytes long, the longest object for which the garbage collector needs
// no header.
const chunkSize = 59

// allFree is the value of chunk.free in a chunk without houses.
const allFree = 1<<chunkSize - 1

type chunk struct {
	free  uint64 // bit i: slot i is free
	first uint32 // the number of its first slot
	next  *chunk // the next chunk with free slots
	// the factory of all actors in it; nil: see each, or there are none
	make   stack.Factory
	each   *[chunkSize]stack.Factory // by slot; nil if make is set, or there are no houses
	houses [chunkSize]*stack.House   // by slot; nil: free
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

// grow adds a chunk. The first word that it writes holds no pointer: during a collection writing a
// pointer reads the old value first, and in a new page that maps the page twice.
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

// keep notes the factory of slot i, which isn't that of the other slots.
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

// factory returns the factory of h.
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

// place returns the chunk and the slot of h.
func (r *register) place(h *stack.House) (c *chunk, i int) {
	return r.chunks[h.Slot/chunkSize], int(h.Slot % chunkSize)
}

// last returns the houses of the last slots, at most limit: mostly those that were spawned last.
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
