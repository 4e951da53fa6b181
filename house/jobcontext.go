package house

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack"
)

// jobContext is the context of a job. Most functions never use theirs, so it becomes a real context
// only when a method is called (look), and otherwise serves the next job. Its states, and what may
// be called then:
//
//	free     no job is at work, and nobody has looked: begin
//	begun    a job is at work: look, end, stop
//	stopped  a job is at work, and the pool was closed: look, end
//	looked   a real context stands behind it, which end and stop end. It is never used again, as
//	         whoever has it may keep it
type jobContext struct {
	clock func() int64

	mu      sync.Mutex
	job     *stack.Stack // at work; nil: none is
	stopped bool
	real    context.Context // nil: nobody has looked

	// Written once, before real.
	cancel   context.CancelFunc
	deadline int64  // on the system's clock, ns; 0: none
	givenUp  func() // for the asker's worker
}

// begin makes it the context of a job. It reports false if it has become a real context.
func (c *jobContext) begin(job *stack.Stack) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real != nil {
		return false
	}
	c.job = job
	return true
}

// end ends it. It is called before the job goes home.
func (c *jobContext) end() {
	c.mu.Lock()
	c.job = nil
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// stop ends it because the pool is closed; the job may have ended meanwhile.
func (c *jobContext) stop() {
	c.mu.Lock()
	c.stopped = true
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// look returns the real context.
func (c *jobContext) look() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		c.become()
	}
	return c.real
}

// become makes the real context. The caller holds the lock.
func (c *jobContext) become() {
	if c.job == nil || c.stopped {
		c.becomeOver()
		return
	}
	if at := c.job.Deadline(); at != 0 && at != math.MaxInt64 {
		c.deadline = at
		c.real, c.cancel = context.WithDeadline(context.Background(), time.Now().Add(time.Duration(at-c.clock())))
	} else {
		c.real, c.cancel = context.WithCancel(context.Background())
	}
	c.givenUp = c.giveUp
	c.job.OnGivenUp(&c.givenUp)
}

func (c *jobContext) becomeOver() {
	if invariant.Enabled && c.job == nil {
		panic("house: the context of an offloaded function is used first behind the function's end")
	}
	c.real, c.cancel = context.WithCancel(context.Background())
	c.cancel()
}

// giveUp ends the context because the asker has given up; if its deadline has passed, the real
// context ends by itself, with its own error.
func (c *jobContext) giveUp() {
	if c.deadline == 0 || c.clock() < c.deadline {
		c.cancel()
	}
}

// Deadline returns when the asker stops waiting, as a wall-clock time.
func (c *jobContext) Deadline() (time.Time, bool) { return c.look().Deadline() }

// Done returns the channel that is closed when the asker gives up, the function has returned or the
// system shuts down.
func (c *jobContext) Done() <-chan struct{} { return c.look().Done() }

// Err returns why the context ended; nil if it hasn't.
func (c *jobContext) Err() error { return c.look().Err() }

// Value serves package context only, so that contexts derived from this one end with it: it has no
// values of its own.
func (c *jobContext) Value(key any) any { return c.look().Value(key) }
