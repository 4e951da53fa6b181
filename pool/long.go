package pool

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"weak"
)

// longs is the last slabs of more than SlabMax bytes that were let go of, for whoever takes as many
// bytes next, as fresh memory of that size costs more than what is done with it: pages that the
// system clears, and collections. They are at home nowhere, and the collector takes those that are
// here when it runs: what pinned them would pin as much as the largest bytes that there ever were,
// whatever limit of memory the process has.
var longs struct {
	mu   sync.Mutex
	free []freeLong // the last is the last that was let go of; longsMax at most
}

type freeLong struct {
	size int
	slab weak.Pointer[slab]
}

const (
	// longsMax is how many free ones are known. Each take looks at all.
	longsMax = 128
	// longSizes is how many Sizes there are from each power of two to the next.
	longSizes = 16
)

// longSize returns the Size of n bytes, more than SlabMax.
func longSize(n int) int {
	step := bits.Len(uint(n-1)) - bits.Len(longSizes)
	return ((n-1)>>step + 1) << step
}

// takeLong returns n bytes, more than SlabMax.
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

// findLong takes the last of that size off longs; nil: there is none.
func findLong(size int) *slab {
	longs.mu.Lock()
	defer longs.mu.Unlock()
	for i := len(longs.free) - 1; i >= 0; i-- {
		if f := longs.free[i]; f.size == size {
			longs.free = slices.Delete(longs.free, i, i+1)
			if b := f.slab.Value(); b != nil { // else it is the collector's
				return b
			}
		}
	}
	return nil
}

// putLong adds b, which was let go of, to longs.
func (b *slab) putLong() {
	b.gen++
	b.next = nil // a Carrier's
	longs.mu.Lock()
	defer longs.mu.Unlock()
	if len(longs.free) == longsMax {
		longs.free = slices.Delete(longs.free, 0, 1)
	}
	longs.free = append(longs.free, freeLong{longSize(len(b.data)), weak.Make(b)})
}
