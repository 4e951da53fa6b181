package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

// sampled is of how many cheap operations one is timed.
const sampled = 64

// began is the zero of the clock.
var began = time.Now()

// now returns the clock, ns. A read costs about as much as a cheap operation.
func now() int64 { return int64(time.Since(began)) }

// round is one run of a scenario's drivers: stacks or goroutines that do one
// operation after the other until the time is up, and then leave.
type round struct {
	until int64 // when drivers leave, by now
	warm  bool  // nobody looks at the figures

	ops     atomic.Uint64
	drivers atomic.Int64 // that haven't left
	ended   atomic.Int64 // when a driver left last
	failure atomic.Pointer[error]
}

// over reports whether it is time to leave.
func (r *round) over(at int64) bool { return at >= r.until || r.failure.Load() != nil }

// leave ends one driver, which did so many operations. What it wrote before can
// be read when all have left.
func (r *round) leave(ops uint64) {
	r.ops.Add(ops)
	r.ended.Store(now())
	r.drivers.Add(-1)
}

// fail ends one driver and the round.
func (r *round) fail(err error) {
	r.failure.CompareAndSwap(nil, &err)
	r.leave(0)
}

// grace is how long after its end a round may still have drivers.
const grace = 30 * time.Second

// wait blocks until all drivers have left, or one has failed. It polls, because
// that allocates nothing, and seldom, because it disturbs.
func (r *round) wait() error {
	for r.drivers.Load() > 0 && r.failure.Load() == nil {
		left := time.Duration(r.until - now())
		if left < -grace {
			return fmt.Errorf("%d drivers haven't ended", r.drivers.Load())
		}
		time.Sleep(min(max(left, 200*time.Microsecond), 100*time.Millisecond))
	}
	if err := r.failure.Load(); err != nil {
		return *err
	}
	return nil
}
