package house

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
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
	// costs CPU time. 0: 20 µs. Negative: park at once. Not all workers spin longer
	// than 5 µs at a time: who would be the last parks then, so that a system at rest
	// leaves a CPU to those who have work for it. A worker alone is the last. One that has
	// looked in vain parks at once the next time, and up to 15 times if that goes on. It
	// also looks on, instead of parking, for a timer that is due within Spin.
	Spin time.Duration
	// WakeForGuests has a guest that asks a parked worker wake it. Otherwise the guest
	// runs the worker's turns on its own goroutine until its answer is there, which
	// takes less than a microsecond instead of tens, and no CPU but the guest's. Steps
	// that were queued before its own run on it too, so no step may wait for what an
	// asking goroutine holds or will do. LockThreads and CPUs imply WakeForGuests.
	WakeForGuests bool
	// LockThreads gives each worker an OS thread that runs nothing else: for actors
	// that call libraries which keep state in the thread, and for profiles by thread.
	// Nobody runs the turns of another worker, as actors may rely on their thread: neither
	// guests, see WakeForGuests, nor workers that have sent to a parked one. It costs wake-ups:
	// what else runs on the processor of a worker that parks or is preempted must go
	// to another thread and back; most of all where the poller waits on a channel, as
	// on other systems than Linux. A step that calls runtime.Goexit
	// ends the thread; its worker goes on on another.
	LockThreads bool
	// CPUs binds the thread of worker i to CPU CPUs[i%len(CPUs)], numbered as the
	// operating system does; it implies LockThreads. Start fails if the process may
	// not use one of them, and on other systems than Linux. Two workers on one CPU
	// wait for each other, and so does whoever else was given it. Processes that a
	// step starts inherit its CPU. Empty: threads run where the operating system
	// puts them.
	CPUs []int
	// SpareProcs is how many processors of the Go scheduler the goroutines beside the
	// workers get: Start raises GOMAXPROCS, never lowers it, to workers and spare ones
	// together, so that a worker in a system call need not be robbed of its own. It
	// does so only if the environment doesn't set GOMAXPROCS. 0: a fourth of the
	// CPUs, at least 1. Negative: GOMAXPROCS is left alone.
	SpareProcs int
	// OffloadMax is how many goroutines run offloaded functions at most. 0: 64.
	OffloadMax int
	// OffloadQueue is how many more offloaded functions may wait for one. 0: 1,024.
	OffloadQueue int
	// Logger gets failures of actors, at a limited rate. nil: slog.Default().
	Logger *slog.Logger

	// Clock is monotonic time in nanoseconds. nil: the machine's. Simulations set it.
	Clock func() int64
	// Manual leaves the workers to the caller, who calls Turn; offloaded functions
	// run inline; nothing is said of threads and processors. Simulations set it.
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
	for _, cpu := range c.CPUs {
		if cpu < 0 {
			return c, fmt.Errorf("house: Config.CPUs has a negative number")
		}
	}
	c.CPUs = slices.Clone(c.CPUs) // the workers' from now on
	c.LockThreads = c.LockThreads || len(c.CPUs) > 0
	c.WakeForGuests = c.WakeForGuests || c.LockThreads
	orInt(&c.Workers, max(2, cpus))
	orInt(&c.SpareProcs, max(1, cpus/4))
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

// raiseProcs is Config.SpareProcs.
func raiseProcs(workers, spare int) {
	if spare < 0 || os.Getenv("GOMAXPROCS") != "" {
		return
	}
	if want := workers + spare; want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
}
