package rendezvous

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// Line is the cells of goroutines that wait for one thing, newest first. The zero Line is empty.
// Any goroutine may call its methods. Each cell that leaves the line by a method is told so or, if
// its goroutine is gone, handed to free.
type Line struct{ newest atomic.Pointer[Cell] }

// Join adds c, whose goroutine is about to Block.
func (l *Line) Join(c *Cell) {
	for {
		invariant.Point("room.wait")
		old := l.newest.Load()
		c.behind = old
		if l.newest.CompareAndSwap(old, c) {
			return
		}
	}
}

// Sweep takes out the cells whose goroutines are gone. The others are out of the line for a moment:
// the caller then does what follows a Join.
func (l *Line) Sweep(free func(*Cell)) {
	for c := l.newest.Swap(nil); c != nil; {
		next := c.behind
		if c.Gone() {
			c.behind = nil
			free(c)
		} else {
			l.Join(c)
		}
		c = next
	}
}

// Finish empties the line, and has all goroutines go on.
func (l *Line) Finish(free func(*Cell)) {
	for c := l.newest.Swap(nil); c != nil; {
		next := c.behind
		c.behind = nil // before its signal: then c is the goroutine's
		if !c.Finish() {
			free(c)
		}
		c = next
	}
}
