package copied

import "sync/atomic"

// Value is read without a lock, and copied when it changes, by whichever goroutine changes it. The
// zero Value holds nil.
type Value[T any] struct{ now atomic.Pointer[T] }

// Load returns the value of this moment, which nobody may write to.
//
//alloc:none
func (c *Value[T]) Load() *T { return c.now.Load() }

// Change swaps in what f makes of the value. f returns its argument if nothing changes;
// it is called again if somebody else was faster.
func (c *Value[T]) Change(f func(*T) *T) {
	for {
		old := c.now.Load()
		if next := f(old); next == old || c.now.CompareAndSwap(old, next) {
			return
		}
	}
}
