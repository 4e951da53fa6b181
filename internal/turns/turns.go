package turns

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/self"
)

// Begin notes that the calling goroutine runs turns, until End of the result.
func Begin() *Turner { return all.enter(self.ID()) }

// End ends Begin. Any goroutine may call it, once.
func (t *Turner) End() { all.leave(t) }

// Running reports whether the calling goroutine runs turns, of any system in this process.
func Running() bool { return all.has(self.ID()) }

var all crowd

// crowd is a set of goroutines, hashed into buckets of a cache line. So a look for a goroutine
// that isn't there reads one line, which seldom changes. Any goroutine may call the methods, about
// itself.
type crowd struct {
	buckets [crowdBuckets][crowdSlots]Turner
	strays  atomic.Int32 // goroutines that stand in another bucket than the one of their hash
}

// Turner is the place in the crowd of a goroutine that runs turns; nil: there was no place left.
type Turner struct{ id atomic.Uintptr } // 0: free

const (
	crowdSlots   = 8
	crowdBits    = 6
	crowdBuckets = 1 << crowdBits
)

// home returns the bucket of id by Fibonacci hashing, as id may be an address.
func (c *crowd) home(id uintptr) int {
	return int(uint64(id) * 0x9e3779b97f4a7c15 >> (64 - crowdBits))
}

// enter adds id and returns its place, for leave; nil if no place is left, with 512
// goroutines that run turns.
func (c *crowd) enter(id uintptr) *Turner {
	home := c.home(id)
	for i := range crowdBuckets {
		bucket := &c.buckets[(home+i)%crowdBuckets]
		for j := range bucket {
			if t := &bucket[j]; t.id.Load() == 0 && t.id.CompareAndSwap(0, id) {
				if i > 0 {
					c.strays.Add(1)
				}
				return t
			}
		}
	}
	return nil
}

// leave frees the place t.
func (c *crowd) leave(t *Turner) {
	if t == nil {
		return
	}
	if c.strays.Load() != 0 && !c.inHome(t.id.Load()) {
		c.strays.Add(-1)
	}
	t.id.Store(0)
}

// has reports whether id is in the crowd.
func (c *crowd) has(id uintptr) bool {
	return c.inHome(id) || (c.strays.Load() != 0 && c.anywhere(id))
}

func (c *crowd) inHome(id uintptr) bool {
	bucket := &c.buckets[c.home(id)]
	for i := range bucket {
		if bucket[i].id.Load() == id {
			return true
		}
	}
	return false
}

//go:noinline
func (c *crowd) anywhere(id uintptr) bool {
	for b := range c.buckets {
		for i := range c.buckets[b] {
			if c.buckets[b][i].id.Load() == id {
				return true
			}
		}
	}
	return false
}
