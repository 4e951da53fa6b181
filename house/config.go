package house

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/path"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// Config is a System's settings. The zero Config is a good one. What the fields do in detail, and
// when to change them, docs/guide/config.md says.
type Config struct {
	// Name is the system's, in the paths of its actors: letters, digits and any of -_. Empty:
	// "stackhouse".
	Name string
	// Advertise is where others reach the system, as in "10.0.0.7:7400": paths that are given to
	// them begin with it. Nothing listens there because of that. Empty: nobody reaches it.
	Advertise string
	// Extensions is what all actors may use, by name: see core.Extension. New copies the map.
	Extensions map[string]any
	// Workers is the number of loops, 1,024 at most. 0: as many as the CPUs that affinity and
	// cgroup quota leave to the process, at least 2.
	Workers int
	// Budget is how many messages a visit to an actor handles at most before the next ready
	// actor's turn. 0: 32. Less is fairer, more is faster for actors with long queues.
	Budget int
	// TurnTime is how long a turn runs actors before the worker looks at timers, the network and
	// other workers again, as it does after 256 messages. 0: 200 µs. Negative: those alone count.
	TurnTime time.Duration
	// SlowStep is how long a step may take before the Logger and Stats.SlowSteps hear of it, with
	// worker, actor and step. 0: 100 ms. Negative: never. A step that never ends isn't found.
	SlowStep time.Duration
	// AskTimeout is the deadline of asks that inherit none. 0: 5 s.
	AskTimeout time.Duration
	// MailboxMax is how many messages may wait for an actor that is spawned without a mailbox of
	// its own. 0: 1,024. Negative: any number. One more is refused with ErrMailboxFull.
	MailboxMax int
	// Spin is how long a worker that has nothing to do looks for work before it parks: to be woken
	// takes some 30 µs, to spin takes CPU time. 0: 20 µs. Negative: it parks at once.
	Spin time.Duration
	// Nap is how long the network doesn't end the sleep of a worker that it keeps busy: so that
	// finds several events at once. 0: 20 µs. Negative: never. Messages and timers end a nap.
	Nap time.Duration
	// ShareAfter is how long an actor with messages waits before its worker gives actors to one
	// that has nothing to do. 0: 500 µs. Negative: actors stay where they were born, as do those
	// that were spawned on a worker by hand, and all with LockThreads or CPUs.
	ShareAfter time.Duration
	// WakeForGuests has a guest that asks a parked worker wake it. Otherwise the guest runs the
	// worker's turns on its own goroutine until its answer is there, so no step may wait for
	// what an asking goroutine holds or will do. LockThreads and CPUs imply it.
	WakeForGuests bool
	// LockThreads gives each worker an OS thread that runs nothing else: for actors that call
	// libraries which keep state in the thread, and for profiles by thread. It costs wake-ups.
	LockThreads bool
	// CPUs binds the thread of worker i to CPU CPUs[i%len(CPUs)], and implies LockThreads. Start
	// fails if the process may not use one of them, and on other systems than Linux. Empty:
	// threads run where the operating system puts them.
	CPUs []int
	// SpareProcs is how many processors of the Go scheduler the goroutines beside the workers get:
	// Start raises GOMAXPROCS by them, unless the environment sets it. 0: a fourth of the CPUs,
	// at least 1. Negative: GOMAXPROCS is left alone.
	SpareProcs int
	// Supervise says what becomes of actors at the top of the tree that fail. nil: they restart,
	// at once 5 times a minute, and then behind a hold of 1 to 30 s.
	Supervise *supervision.Strategy
	// OffloadMax is how many goroutines run offloaded functions at most. 0: 64.
	OffloadMax int
	// OffloadQueue is how many more offloaded functions may wait for one. 0: 1,024.
	OffloadQueue int
	// ShutdownTimeout is how long Shutdown takes at most if its context has no deadline. 0: 3
	// minutes. Negative: as long as it takes.
	ShutdownTimeout time.Duration
	// Logger gets failures of actors, slow steps, and notices that nobody handled, each at a
	// limited rate. Its handler must not call runtime.Goexit. nil: slog.Default().
	Logger *slog.Logger

	// Clock is monotonic time in nanoseconds. nil: the machine's. Simulations set it.
	Clock func() int64
	// Manual leaves the workers to the caller, who calls Turn, in which offloaded functions run,
	// too; nothing is said of threads and processors. Simulations set it.
	Manual bool
	// OffloadTime says how long an offloaded function of a Manual system takes: it is called
	// twice for each, for the time until it runs, and until its result goes home. nil: it takes
	// no time. Simulations set it.
	OffloadTime func() time.Duration
	// Trace, if set, is told of each message before it is handled: the worker's index, the
	// actor's number, the step to come and the number of the ask. Simulations set it.
	Trace func(worker int, actor uint64, step string, ask uint64)
}

// workersMax is how many workers a system has at most: some for each CPU of the largest machines.
const workersMax = 1024

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
	c.CPUs = slices.Clone(c.CPUs) // the workers' from now on
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

// raiseProcs is Config.SpareProcs.
func raiseProcs(workers, spare int) {
	if spare < 0 || os.Getenv("GOMAXPROCS") != "" {
		return
	}
	if want := workers + spare; want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
}
