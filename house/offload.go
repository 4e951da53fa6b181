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

// OffloadConfig is the settings of an OffloadPool. All but the Name may be zero.
type OffloadConfig struct {
	// Name tells pools of a system apart, in statistics and errors. It must be new.
	Name string
	// Goroutines is how many functions run at a time at most. 0: 64. Goroutines start when they
	// are needed; those that weren't for half a minute end, but for two.
	Goroutines int
	// Queue is how many more functions may wait for a goroutine. 0: 1,024. Negative: none.
	// Beyond that the answer is ErrOverloaded.
	Queue int
	// Timeout is how long askers wait at most, for the queue and the function together, if they
	// inherit no earlier deadline. 0: as long as for any answer, Config.AskTimeout.
	Timeout time.Duration
	// Breaker, if not nil, refuses functions while too many have failed: a *core.Breaker of this
	// pool alone, which calls it under its lock. What is refused at once isn't queued; what was
	// queued before is refused when a goroutine takes it.
	Breaker Breaker
}

// Breaker is a circuit breaker, as a pool calls it; *core.Breaker is one. Times are the system's
// clock, ns.
type Breaker interface {
	// Refuses returns why a call that came now would be refused; nil: it might not be.
	Refuses(now int64) error
	// Begin lets a call through or says why not.
	Begin(now int64) (call uint64, err error)
	// End tells how the call ended that Begin let through.
	End(now int64, call uint64, err error)
	// String returns its state in a word.
	String() string
}

// OffloadPool runs functions that may block on goroutines of its own, for core.OffloadTo. It
// belongs to the system that made it, whose Shutdown closes it; then it refuses with
// ErrStopped. Its name is for people: actors get the pool by a field, like a port.
//
// A job, an offloaded function with its input, is
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
	queue   []*stack.Stack // a ring; cap fixed
	head, n int            // Invariant: n > 0 only if no runner is idle
	runners []*runner      // all that haven't ended
	idle    []*runner      // the last one came last
	unused  int            // the least that were idle since the last trim
	closed  bool
	ended   chan struct{} // closed: the pool is, and no runner is left
	count   OffloadStats
}

// OffloadStats is what a pool counted since it was made, and what it does now. Each function that
// was offloaded is counted when it ends, in one of Done to Stopped.
type OffloadStats struct {
	Name       string
	Goroutines int    // that wait or work
	Running    int    // functions at work
	Queued     int    // functions that wait for a goroutine
	Breaker    string // its state; "" if there is none

	Done    uint64 // returned a result
	Failed  uint64 // returned an error, panicked or called runtime.Goexit
	Skipped uint64 // weren't run, as nobody waited any more when their turn came
	Refused uint64 // the queue was full
	Broken  uint64 // refused by the breaker
	Stopped uint64 // weren't run, as the system shut down
}

// runnersKept is how many idle goroutines a pool keeps for ever: a start costs more than a wake-up.
const runnersKept = 2

// NewOffloadPool makes a pool of the system's. In a Manual system turns run the functions: see
// Config.Manual.
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

// OffloadStats returns the statistics of all pools, that of core.Offload first, named "default".
func (s *System) OffloadStats() (all []OffloadStats) {
	for _, p := range s.pools() {
		all = append(all, p.Stats())
	}
	return all
}

// pools returns all pools there are: what is behind them is written to, but not they.
func (s *System) pools() []*OffloadPool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.offloads
}

// trimOffloads ends the goroutines of all pools that aren't needed.
func (s *System) trimOffloads() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.offloads {
		p.trim()
	}
}

// Name returns the pool's name.
func (p *OffloadPool) Name() string { return p.config.Name }

// Stats returns what the pool counted. Any goroutine may call it.
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

// Limit returns the pool's Timeout, in ns: the runtime's business.
func (p *OffloadPool) Limit() int64 { return int64(p.config.Timeout) }

// Submit takes a job or says why not: the runtime's business, on the asker's worker.
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

// refuses returns why the pool takes no job now.
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

// makeRoom takes the job out of a full queue that waits longest, if nobody waits for it, and
// returns it and why.
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

// pop takes the job out of the queue, which has one, that waits longest.
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

// close ends the contexts of running functions and sends queued ones home. The
// channel ended is closed when all have returned.
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

// left returns the error of a pool that was closed and hasn't ended: err, and of how many
// functions.
func (p *OffloadPool) left(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.count.Running; n > 0 {
		return abandoned{fmt.Errorf("house: %d offloaded functions haven't returned, of pool %q: %w", n, p.config.Name, err)}
	}
	return nil
}
