package pool

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"weak"
)

// longs is the slabs of more than SlabMax bytes that were released last, for the next call that
// takes as many bytes. Fresh memory of that size costs more than most uses of it: the system clears
// its pages, and collections come sooner. These slabs have no home, and the collector frees them
// when it runs. If they were pinned they would pin as much memory as was ever in use at once,
// whatever the process's limit.
var longs struct {
	mu   sync.Mutex
	free []freeLong // in the order of their release; longsMax at most
}

type freeLong struct {
	size int
	slab weak.Pointer[slab]
}

const (
	// longsMax is how many released slabs are known. A take may look at all of them.
	longsMax = 128
	// longSizes is how many different Sizes there are from each power of two to the next.
	longSizes = 16
)

// longSize returns the Size of n bytes, where n is above SlabMax.
func longSize(n int) int {
	step := bits.Len(uint(n-1)) - bits.Len(longSizes)
	return ((n-1)>>step + 1) << step
}

// takeLong returns n bytes, where n is above SlabMax.
//
//go:noinline
func takeLong(n int) Bytes {
	if uint64(n) > math.MaxUint32 {
		panic("pool: a run of bytes must be below 4 GiB")
	}
	size := longSize(n)
	b := findLong(size)
	if b == nil {
		b = &slab{data: make([]byte, min(uint64(size), math.MaxUint32))}
	}
	b.gen++
	return b.view(n)
}

// findLong takes the slab of that size that was released last off longs; nil: there is none.
func findLong(size int) *slab {
	longs.mu.Lock()
	defer longs.mu.Unlock()
	for i := len(longs.free) - 1; i >= 0; i-- {
		if f := longs.free[i]; f.size == size {
			longs.free = slices.Delete(longs.free, i, i+1)
			if b := f.slab.Value(); b != nil { // else the collector has freed it
				return b
			}
		}
	}
	return nil
}

// putLong adds b, which was released, to longs.
func (b *slab) putLong() {
	b.gen++
	b.next = nil // it may be in a Carrier's chain
	longs.mu.Lock()
	defer longs.mu.Unlock()
	if len(longs.free) == longsMax {
		longs.free = slices.Delete(longs.free, 0, 1)
	}
	longs.free = append(longs.free, freeLong{longSize(len(b.data)), weak.Make(b)})
}
