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

// Config is a System's settings. The zero Config is a good one.
type Config struct {
	// Name is the system's, in the paths of its actors: letters, digits and any of -_. Empty:
	// "stackhouse".
	Name string
	// Advertise is where others reach the system, as in "10.0.0.7:7400": paths that are given to
	// them begin with it. Nothing listens there because of that. Empty: nobody reaches it.
	Advertise string
	// Extensions is what all actors may use, by name: see core.Extension. New copies the map.
	Extensions map[string]any
	// Workers is the number of loops. 0: the CPUs that affinity and cgroup quota leave to the
	// process, at least 2, so that an actor that blocks one by mistake doesn't stop all. At most
	// 1,024: each has a thread when it blocks, and memory of its own.
	Workers int
	// Budget is how many messages a visit to an actor handles at most before the
	// next ready actor's turn. 0: 32. Less is fairer, more is faster for actors
	// with long queues. A visit isn't cut: one of quick steps goes on beyond the 256 messages of a
	// turn, and beyond TurnTime, and timers, the network and other workers wait for its end.
	Budget int
	// TurnTime is how long a turn runs actors before the worker looks at timers, the network and
	// other workers again; it also looks after 256 messages, behind the visit that they end in:
	// see Budget. 0: 200 µs, of which such a look takes a hundredth. Negative: the messages alone
	// count. Steps aren't interrupted, and the clock is read once for several: as many as take an
	// eighth of TurnTime together if they go on as they did, at most 64, and the rest of a visit.
	// Where that is less than 64, a visit to an actor handles no more either. docs/design/turn.md
	// has the bound on an actor's wait that follows.
	TurnTime time.Duration
	// SlowStep is how long a step may take before the Logger and Stats.SlowSteps hear of it, with
	// worker, actor and step. 0: 100 ms. Negative: never. A step that never ends is not found.
	// The clock is read once for several messages: Stats counts readings that found that much
	// time gone, not steps, and the line says of how many messages it was ("took" is theirs
	// together), and names the last of them, its actor and the first step for it: one message is
	// certain to be it, unless the operating system gave its processor to others. Each worker
	// writes ten lines a second at most, and says in "skipped" how many it left out before. Where
	// a goroutine runs a parked worker's turn, see WakeForGuests, nobody reads the clock behind
	// its end: a slow step is mostly missed there. Another worker that does so reads it, and
	// counts what it finds as its own.
	SlowStep time.Duration
	// AskTimeout is the deadline of asks that inherit none. 0: 5 s.
	AskTimeout time.Duration
	// MailboxMax is how many messages may wait for an actor, unless it is spawned with a mailbox
	// of its own. 0: 1,024. Negative: any number. One more is refused with ErrMailboxFull: see
	// core.Mailbox.
	MailboxMax int
	// Spin is how long a worker that has nothing to do looks for work before it
	// parks. A parked worker costs its waker some 30 µs to wake; a spinning one
	// costs CPU time. 0: 20 µs. Negative: park at once. Not all workers spin longer
	// than 5 µs at a time: who would be the last parks then, so that a system at rest
	// leaves a CPU to those who have work for it. A worker alone is the last. One that has
	// looked in vain parks at once the next time, and up to 15 times if that goes on. It
	// also looks on, instead of parking, for a timer that is due within Spin.
	Spin time.Duration
	// Nap is how long the network doesn't end the sleep of a worker that it keeps busy: one for
	// which it has had, of late, 20 events or more from one sleep to the next. What comes
	// meanwhile it finds all at once, and who sends it needn't wake anybody, which takes either
	// of them as long as a few events do. Network cards moderate their interrupts so. Messages
	// and timers end a nap. 0: 20 µs, to which the system adds what it takes to end a sleep, as
	// it does to a wake-up. Negative: never. Where a worker can't sleep that exactly it doesn't
	// nap: elsewhere than on Linux, and before 5.11 or wherever there is no epoll_pwait2.
	Nap time.Duration
	// ShareAfter is how long an actor with messages must have waited for its turn, with half of
	// that to be expected for the next one (or four times as long, whatever is to be expected),
	// before its worker gives actors to one that has nothing to do: half of those that wait. 0:
	// 500 µs, which is worth waking a thread. Negative: actors stay where they were born. Actors
	// with connections stay always, as do those that were spawned on a worker by hand, replicas,
	// those that have moved in the last 10 ms, those that have answers to take, and those that
	// wait for more than 64 answers. LockThreads and CPUs imply that all stay. Actors that talk
	// much may be separated: spawn both on one Worker to prevent that. A worker has nothing to do
	// when it is about to park, or has spun for 5 µs. Workers from index 64 on are given nothing.
	ShareAfter time.Duration
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
	// Supervise says what becomes of actors at the top of the tree that fail, see
	// supervision.Strategy. nil: they restart, at once 5 times a minute, and then behind a hold
	// of 1 to 30 s.
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
	// Manual leaves the workers to the caller, who calls Turn; nothing is said of threads and
	// processors. Offloaded functions run in turns of any worker, as many at a time as their pool
	// has goroutines, behind what the turn found ready. Shutdown runs those that are left.
	// Simulations set it.
	Manual bool
	// OffloadTime says how long an offloaded function of a Manual system takes. It is called
	// twice for each, for the time from its begin until it runs, which is at one moment of the
	// Clock, and from then until its result goes home; turns find those that are due, the first
	// of each pool first. nil: it takes no time. Simulations set it.
	OffloadTime func() time.Duration
	// Trace, if set, is told of each message before it is handled: the worker's
	// index, the actor's number, the step to come and the number of the ask.
	// Simulations set it.
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
