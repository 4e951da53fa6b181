package measure

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Work is a workload of one library, ready to be done.
type Work struct {
	Do        func(n int) (done int, err error) // does about n operations; done is how many it were
	Close     func() error                      // after all; nil: nothing to do
	Latencies *Latencies                        // where Do records; nil: it doesn't
	Idle      bool                              // each operation leaves an actor behind, idle
	Retries   func() uint64                     // messages that met a full mailbox; nil: none can
}

// Make makes a Work.
type Make func() (*Work, error)

// Result is one measured run. Times are in ns.
type Result struct {
	Ops     int      `json:"ops"`
	Ns      int64    `json:"ns"`
	Mallocs *uint64  `json:"mallocs"` // of all goroutines; nil: not known
	P       [3]int64 `json:"p"`       // p50, p99, p99.9 of round trips; 0: not timed
	// of an idle actor, heap and goroutine stacks; 0: not measured
	Bytes   int64  `json:"bytes"`
	Retries uint64 `json:"retries"`
}

// Run makes a Work, does n operations to warm up, so that pools and queues are as large
// as they will be, and measures n more.
func Run(start Make, n int) (res Result, err error) {
	w, err := start()
	if err != nil {
		return res, err
	}
	if w.Close != nil {
		defer func() { err = errors.Join(err, w.Close()) }()
	}
	if _, err = w.Do(n); err != nil {
		return res, fmt.Errorf("warm-up: %w", err)
	}
	if w.Latencies != nil {
		w.Latencies.reset()
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	res.Ops, err = w.Do(n)
	res.Ns = int64(time.Since(began))
	runtime.ReadMemStats(&after)
	if err != nil {
		return res, err
	}
	mallocs := after.Mallocs - before.Mallocs
	res.Mallocs = &mallocs
	if w.Latencies != nil {
		res.P = w.Latencies.quantiles()
	}
	if w.Idle {
		res.Bytes = idle(&before, res.Ops)
	}
	if w.Retries != nil {
		res.Retries = w.Retries()
	}
	return res, nil
}

// idle returns what each of n actors holds that were made since before was read,
// after a collection.
func idle(before *runtime.MemStats, n int) int64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	used := func(m *runtime.MemStats) int64 { return int64(m.HeapAlloc + m.StackInuse) }
	return (used(&now) - used(before)) / int64(n)
}
