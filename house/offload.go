package house

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// OffloadConfig is the settings of an OffloadPool. All fields but Name may be zero.
type OffloadConfig struct {
	// Name identifies the pool in statistics and errors. No other pool of the system may have it.
	Name string
	// Goroutines is how many functions run at a time at most. 0: 64. Goroutines start when they are
	// needed; those not needed for half a minute end, except for two.
	Goroutines int
	// Queue is how many more functions may wait for a goroutine; beyond that the answer is
	// ErrOverloaded. 0: 1,024. Negative: none.
	Queue int
	// Timeout is how long askers wait at most, for the queue and the function together, if they
	// inherit no earlier deadline. 0: Config.AskTimeout.
	Timeout time.Duration
	// Breaker refuses functions while too many have failed: a *core.Breaker for this pool alone,
	// which calls it under its lock. It is asked when a function is offloaded, and again when a
	// goroutine takes one that was queued. nil: none is refused.
	Breaker Breaker
}

// Breaker is a circuit breaker, as a pool calls it; *core.Breaker is one. Times are ns on the
// system's clock.
type Breaker interface {
	// Refuses returns the error with which a call would be refused now; nil: it may be let through.
	Refuses(now int64) error
	// Begin lets a call through and returns its number, or returns why not.
	Begin(now int64) (call uint64, err error)
	// End says how a call ended that Begin let through, once.
	End(now int64, call uint64, err error)
	// String returns the state's name.
	String() string
}

// OffloadPool runs functions that may block on goroutines of its own, for core.OffloadTo. It
// belongs to the system that made it, whose Shutdown closes it; then it refuses functions with
// ErrStopped. Its name is for people: actors keep the pool in a field, like a port.
//
// The states of a job, an offloaded function with its input:
//
//	refused   the pool is closed, the breaker open or the queue full
//	queued    no goroutine has time
//	handed    to a goroutine that had nothing to do, or was started for it
//	aborted   a goroutine took it, but nobody waits any more, or the breaker opened meanwhile;
//	          or the system shut down
//	at work   its context ends when its asker gives up or the system shuts down
//	home      sent to its asker, with the result or an error
type OffloadPool struct {
	config OffloadConfig
	clock  func() int64
	manual bool
	takes  func() time.Duration // Config.OffloadTime

	mu      sync.Mutex
	queue   []*stack.Stack // a ring of fixed size
	head, n int            // Invariant: n > 0 only if no runner is idle
	runners []*runner      // all that haven't ended
	idle    []*runner      // the last one became idle last
	unused  int            // the least length of idle since the last trim
	closed  bool
	ended   chan struct{} // closed when the pool is closed and no runner is left
	count   OffloadStats
}

// OffloadStats is what a pool counted since it was made, and its present state. Each offloaded
// function is counted when it ends, in one of Done to Stopped.
type OffloadStats struct {
	Name       string
	Goroutines int    // working or idle
	Running    int    // functions that run
	Queued     int    // functions that wait for a goroutine
	Breaker    string // the breaker's state; "" if there is none

	Done    uint64 // returned a result
	Failed  uint64 // returned an error, panicked or called runtime.Goexit
	Skipped uint64 // not run: nobody waited any more when their turn came
	Refused uint64 // not run: the queue was full
	Broken  uint64 // not run: the breaker refused them
	Stopped uint64 // not run: the system shut down
}

// runnersKept is how many idle goroutines a pool never ends: starting one takes longer than waking
// one.
const runnersKept = 2

// NewOffloadPool makes a pool of the system. The error says which setting makes no sense; it is
// ErrClosed once a shutdown has begun. In a Manual system turns run the functions: see
// Config.Manual. Any goroutine may call it.
func (s *System) NewOffloadPool(c OffloadConfig) (*OffloadPool, error) {
	switch {
	case c.Name == "":
		return nil, errors.New("house: an offload pool needs a Name")
	case c.Goroutines < 0 || c.Timeout < 0:
		return nil, fmt.Errorf("house: offload pool %q: Goroutines or Timeout is negative", c.Name)
	}
	p := newOffloadPool(c, s.config)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase >= draining {
		return nil, ErrClosed
	}
	if slices.ContainsFunc(s.offloads, func(o *OffloadPool) bool { return o.config.Name == c.Name }) {
		return nil, fmt.Errorf("house: there is an offload pool %q already", c.Name)
	}
	s.offloads = append(s.offloads, p)
	return p, nil
}

func newOffloadPool(c OffloadConfig, of Config) *OffloadPool {
	if c.Goroutines == 0 {
		c.Goroutines = 64
	}
	if c.Queue == 0 {
		c.Queue = 1024
	}
	return &OffloadPool{
		config: c,
		clock:  of.Clock,
		manual: of.Manual,
		takes:  of.OffloadTime,
		queue:  make([]*stack.Stack, max(0, c.Queue)),
		ended:  make(chan struct{}),
		count:  OffloadStats{Name: c.Name},
	}
}

// OffloadStats returns the statistics of all pools. The first is core.Offload's, named "default".
// Any goroutine may call it.
func (s *System) OffloadStats() (all []OffloadStats) {
	for _, p := range s.pools() {
		all = append(all, p.Stats())
	}
	return all
}

// pools returns all pools. The elements don't change, so the caller may read them without the lock.
func (s *System) pools() []*OffloadPool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offloads
}

// trimOffloads ends the goroutines that their pools don't need.
func (s *System) trimOffloads() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.offloads {
		p.trim()
	}
}

// Name returns the pool's name.
func (p *OffloadPool) Name() string { return p.config.Name }

// Stats returns the pool's statistics. Any goroutine may call it.
func (p *OffloadPool) Stats() OffloadStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.count
	st.Goroutines, st.Queued = len(p.runners), p.n
	if b := p.config.Breaker; b != nil {
		st.Breaker = b.String()
	}
	return st
}

// Limit returns the pool's Timeout, in ns. Only the runtime calls it.
func (p *OffloadPool) Limit() int64 { return int64(p.config.Timeout) }

// Submit takes a job, or returns why not. Only the runtime calls it, on the asker's worker.
func (p *OffloadPool) Submit(job *stack.Stack) error {
	p.mu.Lock()
	if err := p.refuses(); err != nil {
		p.mu.Unlock()
		return err
	}
	if last := len(p.idle) - 1; last >= 0 {
		r := p.idle[last]
		p.idle[last] = nil
		p.idle = p.idle[:last]
		p.unused = min(p.unused, last)
		r.job = job
		p.mu.Unlock()
		r.wake <- struct{}{}
		return nil
	}
	if len(p.runners) < p.config.Goroutines {
		p.start(job)
		p.mu.Unlock()
		return nil
	}
	dead, why := p.makeRoom()
	full := p.n == len(p.queue)
	if full {
		p.count.Refused++
	} else {
		p.queue[(p.head+p.n)%len(p.queue)] = job
		p.n++
	}
	p.mu.Unlock()
	if dead != nil {
		dead.Abort(why)
	}
	if full {
		return fault.ErrOverloaded
	}
	return nil
}

// refuses returns why the pool takes no job now; nil: it may. The caller holds the lock.
func (p *OffloadPool) refuses() error {
	if p.closed {
		p.count.Stopped++
		return fault.ErrStopped
	}
	if b := p.config.Breaker; b != nil {
		if err := b.Refuses(p.clock()); err != nil {
			p.count.Broken++
			return err
		}
	}
	return nil
}

// makeRoom takes the oldest job out of a full queue, if nobody waits for it any more, and returns
// it with the reason. The caller holds the lock.
func (p *OffloadPool) makeRoom() (dead *stack.Stack, why error) {
	if p.n < len(p.queue) || p.n == 0 {
		return nil, nil
	}
	if why = p.queue[p.head].Due(p.clock()); why == nil {
		return nil, nil
	}
	p.count.Skipped++
	return p.pop(), why
}

// pop takes the oldest job out of the queue, which isn't empty. The caller holds the lock.
func (p *OffloadPool) pop() *stack.Stack {
	job := p.queue[p.head]
	p.queue[p.head] = nil
	p.head = (p.head + 1) % len(p.queue)
	p.n--
	return job
}

// trim ends the goroutines that weren't needed since the last trim.
func (p *OffloadPool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := max(0, min(p.unused, len(p.idle)-runnersKept))
	for _, r := range p.idle[:n] { // those that have been idle for the longest
		r.wake <- struct{}{} // without a job
	}
	p.idle = slices.Delete(p.idle, 0, n)
	p.unused = len(p.idle)
}

// close ends the contexts of running functions and sends queued ones home. p.ended is closed when
// all functions have returned.
func (p *OffloadPool) close() {
	p.mu.Lock()
	p.closed = true
	var queued []*stack.Stack
	for p.n > 0 {
		queued = append(queued, p.pop())
		p.count.Stopped++
	}
	for _, r := range p.idle {
		r.wake <- struct{}{}
	}
	p.idle = nil
	running := slices.Clone(p.runners)
	if len(running) == 0 {
		close(p.ended)
	}
	p.mu.Unlock()
	for _, job := range queued {
		job.Abort(fault.ErrStopped)
	}
	for _, r := range running {
		r.stop()
	}
}

// left returns the error about the functions of a closed pool that haven't returned: their number,
// and err; nil if there are none.
func (p *OffloadPool) left(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.count.Running; n > 0 {
		return abandoned{fmt.Errorf("house: %d offloaded functions haven't returned, of pool %q: %w", n, p.config.Name, err)}
	}
	return nil
}
