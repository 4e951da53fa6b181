package rendezvous

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// Cell is one place to wait at, for one goroutine at a time. Make makes it; after Reset it may be
// used again.
type Cell struct {
	word   atomic.Uint32
	signal chan struct{} // one slot, empty except between done and the goroutine's receive
	timer  *time.Timer   // of Block's limit; stopped otherwise
	behind *Cell         // in a Line
	call   func()        // in place of the signal
}

const (
	waiting uint32 = iota
	awake
	done
	gone
)

// Make makes c, which is zero.
func (c *Cell) Make() {
	c.signal, c.timer = make(chan struct{}, 1), time.NewTimer(time.Hour)
	c.timer.Stop()
}

// Call makes c, which is zero, one at which nobody waits: in place of a signal f is called, by
// whoever finishes it, on its goroutine.
func (c *Cell) Call(f func()) { c.call = f }

// Reset makes a free c waiting.
func (c *Cell) Reset() { c.word.Store(waiting) }

// StayAwake is the transition waiting -> awake, by the goroutine, before a worker may answer.
func (c *Cell) StayAwake() { c.word.Store(awake) }

// Waits is the transition awake -> waiting, by the goroutine. False: the answer is there, and no
// signal will come.
func (c *Cell) Waits() bool {
	invariant.Point("guest.waits")
	return c.word.CompareAndSwap(awake, waiting)
}

// Block waits for the answer's signal, the end of ctx, or the end of limit, ns; 0: there is no
// limit. If it returns an error, which says what ended, the goroutine calls Leave.
func (c *Cell) Block(ctx context.Context, limit int64) (err error) {
	var expired <-chan time.Time
	if limit != 0 {
		c.timer.Reset(time.Duration(limit))
		defer c.timer.Stop()
		expired = c.timer.C
	}
	invariant.Await("guest.wait", patience{c, ctx}, patience.over)
	select {
	case <-c.signal:
	case <-ctx.Done():
		err = fault.OfContext(ctx.Err())
	case <-expired:
		err = fault.ErrTimeout
	}
	return err
}

// Await runs the turns of a system that has no threads until over reports true, ctx ends, or limit,
// ns by the system's clock, has passed; 0: as long as it likes. nil: the goroutine blocks.
type Await func(ctx context.Context, over func() bool, limit int64)

// Block is c.Block, in a system whose goroutines wait by a.
func (a Await) Block(c *Cell, ctx context.Context, limit int64) error {
	if a == nil {
		return c.Block(ctx, limit)
	}
	a(ctx, c.Signalled, limit)
	select {
	case <-c.signal:
		return nil
	default:
	}
	if err := ctx.Err(); err != nil {
		return fault.OfContext(err)
	}
	return fault.ErrTimeout
}

// patience is what Block waits for, without its limit.
type patience struct {
	c   *Cell
	ctx context.Context
}

func (p patience) over() bool { return p.c.Signalled() || p.ctx.Err() != nil }

// Leave is the transition waiting -> gone, by the goroutine. False: the answer came first, and the
// goroutine calls Take.
func (c *Cell) Leave() bool { return c.word.CompareAndSwap(waiting, gone) }

// Take waits for the signal and takes it.
func (c *Cell) Take() {
	invariant.Await("guest.take", c, (*Cell).Signalled)
	<-c.signal
}

// Signalled reports whether the signal is there: Take needn't wait.
func (c *Cell) Signalled() bool { return len(c.signal) > 0 }

// silent reports whether there is room for a signal: there always is, unless there is a bug.
func (c *Cell) silent() bool { return len(c.signal) == 0 }

// Ready reports whether the answer is there. Only the goroutine may ask.
func (c *Cell) Ready() bool {
	invariant.Point("guest.ready")
	return c.word.Load() == done
}

// Gone reports whether the goroutine has given up.
func (c *Cell) Gone() bool {
	invariant.Point("guest.abandoned")
	return c.word.Load() == gone
}

// Finish is the transition waiting, awake -> done, by the worker, which has written the answer.
// False: the goroutine is gone, and the worker frees.
func (c *Cell) Finish() bool {
	call := c.call // once it is done the goroutine may free c
	for {
		invariant.Point("guest.done")
		old := c.word.Load()
		if old == gone {
			return false
		}
		invariant.Point("guest.answer")
		if c.word.CompareAndSwap(old, done) {
			if call != nil {
				call()
			} else if old == waiting {
				invariant.Await("guest.signal", c, (*Cell).silent)
				c.signal <- struct{}{}
			}
			return true
		}
	}
}
