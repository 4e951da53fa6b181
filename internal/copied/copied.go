package copied

import "sync/atomic"

// Value is read without a lock, and replaced by a copy when it changes. Any goroutine may read and
// change it. The zero Value holds nil.
type Value[T any] struct{ now atomic.Pointer[T] }

// Load returns the value of this moment, which must not be written to.
//
//alloc:none
func (c *Value[T]) Load() *T { return c.now.Load() }

// Change replaces the value by what f returns for it. If nothing is to change, f returns its
// argument. f is called again if another goroutine has changed the value meanwhile.
func (c *Value[T]) Change(f func(*T) *T) {
	for {
		old := c.now.Load()
		if next := f(old); next == old || c.now.CompareAndSwap(old, next) {
			return
		}
	}
}
