package wire

import (
	"cmp"
	"math"
	"math/bits"
	"reflect"
	"strconv"
)

// Budget says how much memory a message may ask for, by its length. Values that are small as bytes
// and large as Go has them need more than the zero Budget allows: a dozen maps of one entry each,
// many nil slices, elements with many fields of which the other end knows few.
type Budget struct {
	Factor int // bytes of memory for each byte; 0: 16, as a slice of empty strings takes
	Least  int // bytes that any message may ask for, beside; 0: 4 KiB
}

// Of returns the budget of a message of n bytes.
func (b Budget) Of(n int) int {
	factor, least := cmp.Or(b.Factor, 16), cmp.Or(b.Least, 4<<10)
	if high, low := bits.Mul64(uint64(factor), uint64(n)); high == 0 && low <= uint64(math.MaxInt-least) {
		return least + int(low)
	}
	return math.MaxInt
}

// SetBudget says how many bytes of memory all that is read from now on may ask for.
func (r *Reader) SetBudget(bytes int) { r.budget = max(bytes, 0) }

// Budget returns how many bytes of memory may still be asked for.
func (r *Reader) Budget() int { return r.budget }

// spend takes n bytes of memory from the budget, or fails.
//
//alloc:none
func (r *Reader) spend(n int) bool {
	if n > r.budget {
		r.Fail(ErrBudget)
		return false
	}
	r.budget -= n
	return true
}

// spendEach is spend for n elements of size bytes.
//
//alloc:none
func (r *Reader) spendEach(n int, size uintptr) bool {
	if size > 0 && uintptr(n) > uintptr(r.budget)/size {
		r.Fail(ErrBudget)
		return false
	}
	return r.spend(n * int(size))
}

const (
	// mapLeast is the memory of a map without entries, in bytes, about.
	mapLeast = 96
	// A key or value of more than mapInline bytes has a malloc of its own.
	mapInline = 128
)

// spendMap is spend for a map of type t with n entries, made for that many: about what Go's map
// takes.
func (r *Reader) spendMap(n int, t reflect.Type) bool {
	slot, apart, align := uintptr(0), uintptr(0), uintptr(1)
	for _, of := range [...]reflect.Type{t.Key(), t.Elem()} {
		size, to := of.Size(), uintptr(of.Align())
		if size > mapInline {
			apart += size
			size, to = pointerSize, pointerSize
		}
		slot += size
		align = max(align, to)
	}
	slot = (slot+align-1)&^(align-1) + 1          // and a byte of the map's own
	once := int(t.Key().Size() + t.Elem().Size()) // where an entry is read
	return r.spend(mapLeast) && r.spend(once) && r.spendEach(mapSlots(n), slot) && r.spendEach(n, apart)
}

const pointerSize = strconv.IntSize / 8

// mapSlots returns how many slots a map of n entries has: a power of two, of which 7 of 8 are
// filled at most.
func mapSlots(n int) int {
	if n == 0 {
		return 0
	}
	return max(8, 1<<bits.Len(uint(n+(n+6)/7-1)))
}
