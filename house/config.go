package house

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/path"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// Config is a System's settings. The zero Config is a good one. docs/guide/config.md says what the
// fields do in detail, and when to change them.
type Config struct {
	// Name is the system's name in the paths of its actors: letters, digits and any of -_. Empty:
	// "stackhouse".
	Name string
	// Advertise is the address at which other systems reach this one, as in "10.0.0.7:7400", for
	// the paths that they get. Nothing listens there because of it. Empty: they can't reach it.
	Advertise string
	// Extensions are values that all actors may use, by name: see core.Extension. New copies the
	// map.
	Extensions map[string]any
	// Workers is the number of workers, at most 1,024. 0: as many as the CPUs that affinity and
	// cgroup quota leave to the process, at least 2.
	Workers int
	// Budget is how many messages a visit to an actor handles at most before the next ready actor
	// has its turn. 0: 32. Less is fairer; more is faster for actors with long queues.
	Budget int
	// TurnTime is how long a turn runs actors before the worker looks at timers, the network and
	// other workers. It also looks after 256 messages. 0: 200 µs. Negative: only after 256
	// messages.
	TurnTime time.Duration
	// SlowStep is how long a step may take before the Logger gets a line with worker, actor and
	// step, and Stats.SlowSteps counts it. 0: 100 ms. Negative: never. A step must end to be found.
	SlowStep time.Duration
	// AskTimeout is the deadline of asks that inherit none, counted from the ask. 0: 5 s.
	AskTimeout time.Duration
	// MailboxMax is how many messages may wait for an actor without a core.Mailbox of its own, at
	// most 524,288. One more is refused with ErrMailboxFull. 0: 1,024. Negative: any number.
	MailboxMax int
	// Spin is how long a worker with nothing to do looks for work before it parks: a wake-up takes
	// some 30 µs, spinning takes CPU time. 0: 20 µs. Negative: it parks at once.
	Spin time.Duration
	// BusyPoll is how long a worker that has connections, and nothing to do, looks at the network
	// again and again before it parks: who is answered sooner than that needs no wake-up, at either
	// end if both do it. It takes all of a processor, and is for workers that have one of their own.
	// Goroutines that ask such a worker can't run its turns. 0: it parks, or naps.
	BusyPoll time.Duration
	// Nap is how long a worker that the network keeps busy sleeps through network events, to find
	// several at once. Messages and timers end a nap. 0: 20 µs. Negative: it doesn't nap, nor does
	// one that polls by BusyPoll.
	Nap time.Duration
	// ShareAfter is how long a ready actor waits before its worker gives actors to an idle worker.
	// 0: 500 µs. Negative: never, as with LockThreads or CPUs. Actors that were spawned on a Worker
	// stay there in any case.
	ShareAfter time.Duration
	// WakeForGuests means that a guest's ask wakes a parked worker. Otherwise the guest runs the
	// worker's turns until its answer is there, so no step may wait for what an asking goroutine
	// holds or will do. LockThreads and CPUs imply WakeForGuests.
	WakeForGuests bool
	// LockThreads gives each worker an OS thread that runs nothing else: for actors that call
	// libraries with state in the thread, and for profiles by thread. Wake-ups take longer.
	LockThreads bool
	// CPUs binds the thread of worker i to CPU CPUs[i%len(CPUs)], and implies LockThreads. Linux
	// only: elsewhere, or if the process may not use one of the CPUs, Start fails. Empty: the
	// operating system places threads.
	CPUs []int
	// SpareProcs is how many processors of the Go scheduler other goroutines get: Start raises
	// GOMAXPROCS to Workers plus SpareProcs, unless the environment sets it. 0: a fourth of the
	// CPUs, at least 1. Negative: Start leaves GOMAXPROCS alone.
	SpareProcs int
	// Supervise says what becomes of actors at the top of the tree that fail. nil: they restart, at
	// once up to 5 times a minute, then after a hold of 1 to 30 s.
	Supervise *supervision.Strategy
	// OffloadMax is how many goroutines run core.Offload's functions at most. 0: 64.
	OffloadMax int
	// OffloadQueue is how many more of these functions may wait for a goroutine. 0: 1,024.
	OffloadQueue int
	// ShutdownTimeout is how long Shutdown takes at most if its context has no deadline. 0: 3
	// minutes. Negative: no limit.
	ShutdownTimeout time.Duration
	// Logger gets failures of actors, slow steps, limits that are reached, notices that nobody
	// handled, and connections whose TLS or other stages have failed, at a limited rate each. Its
	// handler must not call runtime.Goexit. nil: slog.Default().
	Logger *slog.Logger

	// Clock returns monotonic time in nanoseconds. nil: the machine's. Simulations set it.
	Clock func() int64
	// Manual starts no loops: the caller calls Worker.Turn, in which offloaded functions run too.
	// Settings of threads and processors are ignored. Simulations set it.
	Manual bool
	// Await is how a goroutine waits for an answer from a Manual system: it calls Turn until over
	// reports true, ctx ends, or limit, ns by Clock, has passed; 0: as long as it likes. One
	// goroutine at a time may wait. nil: it blocks, and another one calls Turn. Simulations set it.
	Await func(ctx context.Context, over func() bool, limit int64)
	// Network takes the place of the machine's network in a Manual system. nil: it has none.
	// Simulations set it.
	Network netio.World
	// OffloadTime returns how long an offloaded function of a Manual system takes. It is called
	// twice for each: for the time until it runs, and until its result is sent. nil: no time.
	// Simulations set it.
	OffloadTime func() time.Duration
	// Trace is called before each message is handled, with the worker's index, the actor's number,
	// the name of the next step and the number of the ask. nil: no calls. Simulations set it.
	Trace func(worker int, actor uint64, step string, ask uint64)
}

// workersMax is the largest Config.Workers: a few for each CPU of the largest machines.
const workersMax = 1024

// cpus is read before any System raises GOMAXPROCS: the runtime's default honours affinity and
// cgroup quota.
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
	if c.Workers > workersMax {
		return c, fmt.Errorf("house: Config.Workers is %d, at most %d are possible", c.Workers, workersMax)
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
	c.CPUs = slices.Clone(c.CPUs) // read by the workers from now on
	c.Extensions = maps.Clone(c.Extensions)
	c.LockThreads = c.LockThreads || len(c.CPUs) > 0
	c.WakeForGuests = c.WakeForGuests || c.LockThreads
	if c.Name == "" {
		c.Name = "stackhouse"
	}
	if _, err := path.NewOrigin(c.Name, c.Advertise); err != nil {
		return c, fmt.Errorf("house: Config.Name and Advertise: %w", err)
	}
	orInt(&c.Workers, max(2, cpus))
	orInt(&c.SpareProcs, max(1, cpus/4))
	orInt(&c.Budget, 32)
	orInt(&c.MailboxMax, 1024)
	if c.MailboxMax > stack.MailboxTop {
		return c, fmt.Errorf("house: Config.MailboxMax is more than %d; for any number it is negative", stack.MailboxTop)
	}
	orInt(&c.OffloadMax, 64)
	orInt(&c.OffloadQueue, 1024)
	if c.AskTimeout == 0 {
		c.AskTimeout = 5 * time.Second
	}
	if c.ShareAfter == 0 {
		c.ShareAfter = 500 * time.Microsecond
	}
	if c.Workers == 1 || c.LockThreads {
		c.ShareAfter = -1
	}
	if c.Spin == 0 {
		c.Spin = 20 * time.Microsecond
	}
	if c.Nap == 0 {
		c.Nap = 20 * time.Microsecond
	}
	if c.TurnTime == 0 {
		c.TurnTime = 200 * time.Microsecond
	}
	if c.SlowStep == 0 {
		c.SlowStep = 100 * time.Millisecond
	}
	if c.ShutdownTimeout == 0 {
		c.ShutdownTimeout = 3 * time.Minute
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

// raiseProcs raises GOMAXPROCS as Config.SpareProcs says.
func raiseProcs(workers, spare int) {
	if spare < 0 || os.Getenv("GOMAXPROCS") != "" {
		return
	}
	if want := workers + spare; want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
}
