package house

import (
	"context"
	"fmt"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
)

// offload runs functions that may block on at most limit goroutines, started
// when they are needed. A goroutine ends when the queue is empty.
type offload struct {
	ctx    context.Context
	cancel context.CancelFunc
	clock  func() int64
	inline bool

	mu      sync.Mutex
	queue   []*stack.Stack // a ring; cap fixed
	head, n int
	running int
	limit   int
	closed  bool
	ended   sync.WaitGroup
}

func (o *offload) init(c Config) {
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.clock, o.inline, o.limit = c.Clock, c.Manual, c.OffloadMax
	o.queue = make([]*stack.Stack, c.OffloadQueue)
}

// submit queues a job; false: the queue is full or the system has shut down.
func (o *offload) submit(job *stack.Stack) bool {
	if o.inline {
		job.Work(o.ctx, o.clock())
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.n == len(o.queue) {
		return false
	}
	o.queue[(o.head+o.n)%len(o.queue)] = job
	o.n++
	if o.running < o.limit {
		o.running++
		o.ended.Add(1)
		go o.work()
	}
	return true
}

func (o *offload) next() *stack.Stack {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 {
		o.running--
		return nil
	}
	job := o.queue[o.head]
	o.queue[o.head] = nil
	o.head = (o.head + 1) % len(o.queue)
	o.n--
	return job
}

func (o *offload) work() {
	finished := false
	defer func() {
		if finished {
			o.ended.Done()
		} else {
			go o.work() // a function called runtime.Goexit
		}
	}()
	for job := o.next(); job != nil; job = o.next() {
		job.Work(o.ctx, o.clock())
	}
	finished = true
}

// close ends the context of running functions, refuses queued ones and waits
// until all have returned or ctx ends.
func (o *offload) close(ctx context.Context) error {
	o.mu.Lock()
	o.closed = true
	for ; o.n > 0; o.n-- {
		o.queue[o.head].Abort(stack.ErrStopped)
		o.queue[o.head] = nil
		o.head = (o.head + 1) % len(o.queue)
	}
	o.mu.Unlock()
	o.cancel()
	ended := make(chan struct{})
	go func() { o.ended.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	if n := o.atWork(); n > 0 {
		return fmt.Errorf("house: %d offloaded functions haven't returned: %w", n, ctx.Err())
	}
	return nil
}

func (o *offload) atWork() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running
}
