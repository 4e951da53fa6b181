package house

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/internal/self"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// runner is one goroutine of an OffloadPool. Its states:
//
//	given   it has a job, or goes to look for one in the queue
//	at work its job runs
//	idle    it waits in the pool's list for a job, or for a wake-up without one, which ends it
//	        unless jobs are queued by then
//	ended   no longer among the pool's runners
//
// In a Manual system it is no goroutine, but makes one step whenever its time has come (move):
// given -> at work; then the function runs; then the job goes home, and the runner takes the next
// queued job or ends.
type runner struct {
	pool *OffloadPool
	wake chan struct{} // of one: a wake-up never blocks
	self uintptr       // identity of the goroutine that runs the job at work

	// Under the pool's lock; the job is the runner's while it works.
	job     *stack.Stack
	context *jobContext // of the job at work; nil: none is
	call    uint64      // the breaker's number of the job at work

	spare *jobContext // the context of the next job, if nobody has used it

	// In a Manual system.
	at  int64 // when it makes its next step
	ran bool  // the function of the job at work has run
}

// start starts a runner with a job. The caller holds the lock.
func (p *OffloadPool) start(job *stack.Stack) {
	r := &runner{pool: p, wake: make(chan struct{}, 1), job: job, at: p.clock()}
	p.runners = append(p.runners, r)
	if !p.manual {
		go r.run()
	}
}

// move has the runners of a Manual system make the steps that are due, and returns how many these
// were.
func (s *System) move(now int64) (n int) {
	for _, p := range s.pools() {
		for r := p.first(); p.manual && r != nil && r.at <= now; r = p.first() {
			r.move()
			n++
		}
	}
	return n
}

// first returns the runner whose step is due first; nil: there is none.
func (p *OffloadPool) first() (first *runner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.runners {
		if first == nil || r.at < first.at {
			first = r
		}
	}
	return first
}

// move makes one step: it takes a job, or runs its function, or sends the job home and takes the
// next queued one.
func (r *runner) move() {
	if r.context != nil && !r.ran {
		r.perform()
	} else {
		if r.ran {
			r.ran = false
			r.done()
		}
		if !r.take() {
			return
		}
	}
	r.at = r.pool.clock()
	if r.pool.takes != nil {
		r.at += int64(r.pool.takes())
	}
}

// perform runs the function of the job on the goroutine that runs the turn: r.self is its identity
// only meanwhile.
func (r *runner) perform() {
	r.self, r.ran = self.ID(), true
	defer func() { r.self = 0 }() // also behind runtime.Goexit
	r.job.Work(r.context)
}

// run does jobs until there are no more.
func (r *runner) run() {
	left := false
	r.self = self.ID()
	defer func() {
		if !left {
			go r.run() // a function called runtime.Goexit
		}
	}()
	for r.take() {
		r.work()
	}
	left = true
}

// take begins the next job. It reports false if the runner ends.
func (r *runner) take() bool {
	p := r.pool
	p.mu.Lock()
	for {
		if r.job == nil && p.n > 0 {
			r.job = p.pop()
		}
		if r.job != nil {
			err := r.begin()
			if err == nil {
				p.mu.Unlock()
				return true
			}
			job := r.job
			r.job = nil
			p.mu.Unlock()
			job.Abort(err)
			p.mu.Lock()
			continue
		}
		if p.manual || p.closed {
			break
		}
		if !r.rest() && p.n == 0 { // jobs that came since the wake-up were queued for it
			break
		}
	}
	r.end()
	p.mu.Unlock()
	return false
}

// rest waits for a job. It reports false after a wake-up without one. The caller holds the lock,
// which rest releases while it waits.
func (r *runner) rest() bool {
	p := r.pool
	p.idle = append(p.idle, r)
	p.mu.Unlock()
	<-r.wake
	p.mu.Lock()
	return r.job != nil
}

// begin counts the job as running and gives it its context, or returns why it isn't run. The caller
// holds the lock.
func (r *runner) begin() (err error) {
	p := r.pool
	if p.closed {
		p.count.Stopped++
		return fault.ErrStopped
	}
	now := p.clock()
	if err := r.job.Due(now); err != nil {
		p.count.Skipped++
		return err
	}
	if b := p.config.Breaker; b != nil {
		if r.call, err = b.Begin(now); err != nil {
			p.count.Broken++
			return err
		}
	}
	p.count.Running++
	if r.spare == nil || !r.spare.begin(r.job) {
		r.spare = &jobContext{clock: p.clock}
		r.spare.begin(r.job)
	}
	r.context = r.spare
	return nil
}

// work runs the job's function and sends the job home, even if the function calls runtime.Goexit.
func (r *runner) work() {
	defer r.done()
	r.job.Work(r.context)
}

func (r *runner) done() {
	r.context.end()
	p, job := r.pool, r.job
	err := job.Err()
	p.mu.Lock()
	r.job, r.context = nil, nil
	p.count.Running--
	if err == nil {
		p.count.Done++
	} else {
		p.count.Failed++
	}
	defer job.GoHome() // even if the breaker calls runtime.Goexit
	defer p.mu.Unlock()
	if b := p.config.Breaker; b != nil {
		b.End(p.clock(), r.call, err)
	}
}

// runsHere reports whether the caller is a function that p runs.
func (p *OffloadPool) runsHere() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := self.ID()
	return slices.ContainsFunc(p.runners, func(r *runner) bool { return r.context != nil && r.self == id })
}

// stop ends the context of the job at work, because the pool is closed.
func (r *runner) stop() {
	r.pool.mu.Lock()
	c := r.context
	r.pool.mu.Unlock()
	if c != nil {
		c.stop()
	}
}

// end takes the runner out of the pool. The caller holds the lock.
func (r *runner) end() {
	p := r.pool
	if i := slices.Index(p.runners, r); i >= 0 {
		p.runners = slices.Delete(p.runners, i, i+1)
	}
	if p.closed && len(p.runners) == 0 {
		close(p.ended)
	}
}
