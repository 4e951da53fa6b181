package stack

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/self"
)

// A blocking call made in a step would wait for a worker that waits for it. So the
// goroutines of this process that run turns are known: a worker's own, from Enter to
// Exit, and a guest while it borrows turns.

// Enter notes that the calling goroutine runs turns of w until Exit.
func (w *Worker) Enter() { w.turner = turning.enter(self.ID()) }

// Exit ends what Enter began.
func (w *Worker) Exit() { turning.leave(w.turner) }

// OnWorker reports whether the caller is a step, of whichever system in this process.
func OnWorker() bool { return turning.has(self.ID()) }

var turning crowd

// crowd is a set of goroutines: hashed into buckets of a cache line, so that asking for one
// that isn't there reads one line that seldom changes. Any goroutine may call it, about
// itself.
type crowd struct {
	buckets [crowdBuckets][crowdSlots]turner
	strays  atomic.Int32 // goroutines that stand in another bucket than their hash says
}

// turner is a goroutine's place in a crowd; 0: free.
type turner struct{ atomic.Uintptr }

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
func (c *crowd) enter(id uintptr) *turner {
	home := c.home(id)
	for i := range crowdBuckets {
		bucket := &c.buckets[(home+i)%crowdBuckets]
		for j := range bucket {
			if t := &bucket[j]; t.Load() == 0 && t.CompareAndSwap(0, id) {
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
func (c *crowd) leave(t *turner) {
	if t == nil {
		return
	}
	if c.strays.Load() != 0 && !c.inHome(t.Load()) {
		c.strays.Add(-1)
	}
	t.Store(0)
}

// has reports whether id is in the crowd.
func (c *crowd) has(id uintptr) bool {
	return c.inHome(id) || (c.strays.Load() != 0 && c.anywhere(id))
}

func (c *crowd) inHome(id uintptr) bool {
	bucket := &c.buckets[c.home(id)]
	for i := range bucket {
		if bucket[i].Load() == id {
			return true
		}
	}
	return false
}

//go:noinline
func (c *crowd) anywhere(id uintptr) bool {
	for b := range c.buckets {
		for i := range c.buckets[b] {
			if c.buckets[b][i].Load() == id {
				return true
			}
		}
	}
	return false
}
