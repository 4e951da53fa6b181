package turns

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/self"
)

// Begin notes that the calling goroutine runs turns until End.
func Begin() *Turner { return all.enter(self.ID()) }

// End ends what Begin began. Any goroutine may call it, once.
func (t *Turner) End() { all.leave(t) }

// Running reports whether the caller runs a turn, of whichever system in this process.
func Running() bool { return all.has(self.ID()) }

var all crowd

// crowd is a set of goroutines: hashed into buckets of a cache line, so that asking for one
// that isn't there reads one line that seldom changes. Any goroutine may call it, about
// itself.
type crowd struct {
	buckets [crowdBuckets][crowdSlots]Turner
	strays  atomic.Int32 // goroutines that stand in another bucket than their hash says
}

// Turner is a goroutine's place among those that run turns; nil is one that found none left.
type Turner struct{ id atomic.Uintptr } // 0: free

const (
	crowdSlots   = 8
	crowdBits    = 6
	crowdBuckets = 1 << crowdBits
)

// home returns the bucket of id, which may be an address: Fibonacci hashing.
func (c *crowd) home(id uintptr) int {
	return int(uint64(id) * 0x9e3779b97f4a7c15 >> (64 - crowdBits))
}

// enter adds id and returns its place, for leave; nil if there is none left, with 512
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

// leave takes out what enter put in.
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
