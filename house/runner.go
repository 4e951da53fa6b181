package house

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/internal/self"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// runner is one goroutine of an OffloadPool. It is
//
//	given   it has a job, or goes to look for one in the queue
//	at work its job runs
//	idle    it waits in the pool's list for a job, or for a wake-up without one, which ends it
//	        unless jobs are queued by then
//	ended   no longer among the pool's runners
//
// In a Manual system it is no goroutine, and moves when its time has come: given -> at work,
// where the function runs sooner or later, and then home, from where it goes on with what is
// queued, or ends.
type runner struct {
	pool *OffloadPool
	wake chan struct{} // of one: a wake-up never blocks
	self uintptr       // its goroutine's identity, while a job is at work

	// Under the pool's lock; the job is the runner's while it works.
	job     *stack.Stack
	context *jobContext // of the job at work; nil: none is
	call    uint64      // of the breaker

	spare *jobContext // at which nobody has looked

	// In a Manual system.
	at  int64 // when it moves next
	ran bool  // the function of the job at work has
}

// start starts a runner with a job. The caller holds the lock.
func (p *OffloadPool) start(job *stack.Stack) {
	r := &runner{pool: p, wake: make(chan struct{}, 1), job: job, at: p.clock()}
	p.runners = append(p.runners, r)
	if !p.manual {
		go r.run()
	}
}

// move has the runners of a Manual system move whose time has come, and returns how often they did.
func (s *System) move(now int64) (n int) {
	for _, p := range s.pools() {
		for r := p.first(); p.manual && r != nil && r.at <= now; r = p.first() {
			r.move()
			n++
		}
	}
	return n
}

// first returns who moves first; nil: there is none.
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

// move takes a job, runs its function, or sends it home and takes the next one that is queued.
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

// perform runs the function of its job on the goroutine that runs the turn, whose turns others
// follow.
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
		if !r.rest() && p.n == 0 { // what came since the wake-up was queued for it
			break
		}
	}
	r.end()
	p.mu.Unlock()
	return false
}

// rest waits for a job. It reports false if there was a wake-up without one. The caller
// holds the lock.
func (r *runner) rest() bool {
	p := r.pool
	p.idle = append(p.idle, r)
	p.mu.Unlock()
	<-r.wake
	p.mu.Lock()
	return r.job != nil
}

// begin has the pool count the job as running, or says why it isn't run. The caller holds the
// lock.
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

// work does the job and sends it home, also if it calls runtime.Goexit.
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
	defer job.GoHome() // also behind a runtime.Goexit of the breaker's judge
	defer p.mu.Unlock()
	if b := p.config.Breaker; b != nil {
		b.End(p.clock(), r.call, err)
	}
}

// runsHere reports whether the caller is a job of p at work.
func (p *OffloadPool) runsHere() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := self.ID()
	return slices.ContainsFunc(p.runners, func(r *runner) bool { return r.context != nil && r.self == id })
}

// stop ends the context of the job at work, as the pool is closed.
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
