package house

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"
)

// Config is a System's settings. The zero Config is a good one.
type Config struct {
	// Workers is the number of loops. 0: the CPUs that affinity and cgroup quota
	// leave to the process, at least 2, so that an actor that blocks one by
	// mistake doesn't stop all.
	Workers int
	// Budget is how many messages a visit to an actor handles at most before the
	// next ready actor's turn. 0: 32. Less is fairer, more is faster for actors
	// with long queues.
	Budget int
	// AskTimeout is the deadline of asks that inherit none. 0: 5 s.
	AskTimeout time.Duration
	// Spin is how long a worker that has nothing to do looks for work before it
	// parks. A parked worker costs its waker some 30 µs to wake; a spinning one
	// costs CPU time. 0: 20 µs. Negative: park at once.
	Spin time.Duration
	// WakeForGuests has a guest that asks a parked worker wake it. Otherwise the guest
	// runs the worker's turns on its own goroutine until its answer is there, which
	// takes less than a microsecond instead of tens, and no CPU but the guest's.
	WakeForGuests bool
	// OffloadMax is how many goroutines run offloaded functions at most. 0: 64.
	OffloadMax int
	// OffloadQueue is how many more offloaded functions may wait for one. 0: 1,024.
	OffloadQueue int
	// Logger gets failures of actors, at a limited rate. nil: slog.Default().
	Logger *slog.Logger

	// Clock is monotonic time in nanoseconds. nil: the machine's. Simulations set it.
	Clock func() int64
	// Manual leaves the workers to the caller, who calls Turn; offloaded functions
	// run inline. Simulations set it.
	Manual bool
	// Trace, if set, is told of each message before it is handled: the worker's
	// index, the actor's number, the step to come and the number of the ask.
	// Simulations set it.
	Trace func(worker int, actor uint64, step string, ask uint64)
}

// cpus is read before anybody raises GOMAXPROCS: the runtime's default honours
// affinity and cgroup quota.
var cpus = runtime.GOMAXPROCS(0)

func (c Config) validate() (Config, error) {
	for _, f := range []struct {
		name  string
		value int
	}{{"Workers", c.Workers}, {"Budget", c.Budget}, {"OffloadMax", c.OffloadMax}, {"OffloadQueue", c.OffloadQueue}} {
		if f.value < 0 {
			return c, fmt.Errorf("house: Config.%s is negative", f.name)
		}
	}
	if c.AskTimeout < 0 {
		return c, fmt.Errorf("house: Config.AskTimeout is negative")
	}
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	orInt(&c.Workers, max(2, cpus))
	orInt(&c.Budget, 32)
	orInt(&c.OffloadMax, 64)
	orInt(&c.OffloadQueue, 1024)
	if c.AskTimeout == 0 {
		c.AskTimeout = 5 * time.Second
	}
	if c.Spin == 0 {
		c.Spin = 20 * time.Microsecond
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = machineClock
	}
	return c, nil
}

// began is the zero of the machine's clock.
var began = time.Now()

func machineClock() int64 { return int64(time.Since(began)) }

// spareProcs gives the goroutines beside the workers processors of their own, so
// that a loop in a system call need not be robbed of its. It does so once, and
// not if the environment says how many.
func spareProcs(workers int) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	if want := workers + max(1, cpus/4); want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
}
