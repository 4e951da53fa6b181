package house

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/house/latency"
	"github.com/stackhouse-go/stackhouse/house/wheel"
	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/count"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// turnMax is how many messages a turn handles before it looks at the network and other workers
// again: some tens of microseconds of small handlers. Turns of larger handlers end by
// Config.TurnTime.
const turnMax = 256

// publishEvery is how many turns pass before the counters are published, unless publishAfter, ns,
// has passed: publishing takes as long as handling a few messages.
const (
	publishEvery = 64
	publishAfter = 100_000_000
)

// Worker is one loop. Fields that aren't atomic belong to the goroutine that runs its turn: the
// worker's own, or that of a guest or another worker that borrows the turn.
type Worker struct {
	hot    stack.Engine // what messages use
	system *System
	wheel  wheel.Wheel
	poller *netio.Poller // nil in a Manual system without a Network
	failed rateLimit     // of lines about failures
	usedUp rateLimit     // of lines about limits that are reached
	slowed rateLimit     // of lines about slow steps
	lost   rateLimit     // of lines about dead letters
	broken rateLimit     // of lines about connections

	began     int64   // when the turn began, ns
	trimAt    int64   // when the pools are trimmed next
	publishAt int64   // when the counters are published next, at the latest
	yieldedAt int64   // when the loop last yielded
	idleAt    int64   // since when there is nothing to do; 0: something was done last
	spin      int64   // how long after idleAt the loop spins before it parks, ns
	vain      backoff // of spinning for mail that found none
	skips     int     // how often it parks at once before it spins for mail again
	behind    int     // turns in a row that began with a backlog
	events    int     // of the network, in turns since it parked last
	// of the loop: napMean times the recent mean of events from one park to the next
	eventful int
	visited  uint64 // visits to actors with calls only, until the last turn began
	wakeAt   int64  // when the parked loop wakes by itself

	listens   bool // it spins for mail
	timely    bool // hot.Now was just read
	follows   bool // nothing was done since the last turn ended
	woken     bool // a wake-up came, and no turn has passed since
	spinsLong bool // it is one of the system's longSpinners

	queued    latency.Histogram // how long ready houses waited for their visit
	published uint64            // turns at the last publish
	turns     uint64

	leaving atomic.Bool // written by the system: leave when everything is done
	left    bool        // the loop has ended for good
	gone    chan struct{}
}

func newWorker(s *System, index int) *Worker {
	w := &Worker{system: s, gone: make(chan struct{})}
	w.hot.Index = index
	w.hot.Budget = s.config.Budget
	w.hot.TurnTime = int64(max(0, s.config.TurnTime))
	w.hot.SlowStep = int64(max(0, s.config.SlowStep))
	w.hot.Assists = !s.config.LockThreads
	w.hot.AskTimeout = int64(s.config.AskTimeout)
	w.hot.Supervise = s.config.Supervise
	w.hot.MailboxMax = max(0, s.config.MailboxMax)
	w.hot.Driver = (*driver)(w)
	w.hot.Guests = &s.guests
	w.hot.Now = s.config.Clock()
	if trace := s.config.Trace; trace != nil {
		w.hot.Trace = func(h *stack.House, s *stack.Stack) {
			trace(index, h.Serial(), s.StepName(), s.ID())
		}
	}
	if net := s.config.Network; net != nil && s.config.Manual {
		w.poller = netio.OpenIn(net)
		w.hot.Net = w.poller
	}
	w.wheel.Init(w.hot.Now)
	w.trimAt = w.hot.Now + pool.TrimEvery
	w.publishAt = w.hot.Now + publishAfter
	return w
}

// Register puts a new house on the worker, where it stays. Only the runtime calls it: core.Spawn.
func (w *Worker) Register(h *stack.House, make stack.Factory) *stack.House {
	h.Stay()
	return w.system.register(h, make, w)
}

// Index returns the worker's number in its system, from 0.
func (w *Worker) Index() int { return w.hot.Index }

// Turn is one pass of the loop: it takes what others sent, runs ready houses, fires timers, looks
// at the network, runs houses that these made ready, and ends deferred work. It never blocks. It
// reports whether there was or is anything to do. Only the loop calls it; in a Manual system, the
// caller.
func (w *Worker) Turn() (busy bool) {
	if w.system.config.Manual { // no loop has entered
		if g := &w.system.guests.Started; !g.Load() {
			g.Store(true)
		}
		defer turns.Begin().End()
		w.endHelp()
	}
	hot := &w.hot
	if !w.timely {
		hot.Now = w.system.config.Clock()
	}
	hot.BeginTurn(hot.Now, w.follows)
	last := w.began
	w.timely, w.began = false, hot.Now
	w.turns++
	w.share(last)
	kept := hot.OwesWake() // a wake-up since the last turn
	hot.TakeRungs()
	done := w.run(kept)
	fired := w.fire()
	polled := w.poll()
	w.events += polled
	if fired || polled > 0 {
		done += w.run(kept) + 1
	}
	if hot.OwesWake() {
		hot.RunDeferred() // now: houses that it makes ready needn't wait
		done += w.assist(done)
	}
	keeps := hot.OwesWake()
	w.endTurn()
	if !keeps {
		hot.WakeNow() // the worker to which deferred work has sent
	}
	busy = done > 0 || hot.OwesWake() || !hot.Idle() || hot.Owes()
	if w.system.config.Manual { // the next call may come much later
		hot.Now = w.system.config.Clock()
		hot.Measure()
		if !busy { // a loop offers help when it parks
			w.offerHelp()
		}
	} else {
		w.follows = true
	}
	return busy
}

// run runs ready houses. If the last turn kept a parked worker for this one to assist, and houses
// are ready, that worker is woken first: it needn't wait for them. The same goes for another worker
// to which this turn has sent instead.
func (w *Worker) run(kept bool) (done int) {
	if kept && !w.hot.Idle() {
		w.hot.WakeNow()
	}
	w.endLongSpin()
	return w.hot.Run(turnMax)
}

// assistsMax is how often a turn assists: each time the answers that come back may make it send
// again.
const assistsMax = 4

const (
	// slowTurn is the longest that a turn which runs another worker's turn may take, ns. After a
	// slower one the worker wakes others at once, slowWakes times: then it is better to share the
	// work.
	slowTurn  = 200_000
	slowWakes = 16
	// briefMessage is the longest that a message may take, ns, for the next turn to assist again,
	// while the other worker stays parked: sending a message to another thread takes 100 to 400 ns.
	briefMessage = 200
)

// assist runs a turn of the parked worker to which this turn has sent, if nothing else is to be
// done here, and then handles what comes back. The next turn goes on with that if it isn't slower
// than two threads would be: if messages are brief, or come one at a time. assist returns the
// number of messages handled here, besides the done ones of the turn before.
func (w *Worker) assist(done int) (more int) {
	hot, heard, n, there := &w.hot, w.hot.Heard, 0, 0
	for ; n < assistsMax && hot.OwesWake() && hot.Idle(); n++ {
		there += hot.Assist()
		hot.TakeRungs()
		more += hot.Run(turnMax)
	}
	hot.Heard = heard // answers that came back don't say that others will send
	hot.Now = w.system.config.Clock()
	hot.Measure()
	took := hot.Now - w.began
	slow := took >= slowTurn
	brief := took <= briefMessage*int64(done+more+there)
	if slow || !hot.Idle() || !brief && there > n {
		hot.WakeNow()
	}
	if slow {
		hot.WakesLeft = slowWakes
	}
	return more
}

const (
	// lentMax is how many turns a guest runs at most: the first has handled its own call, unless
	// the worker has more to do than a guest should.
	lentMax = 4
	// assistMax is how many messages another worker handles at most: it has a network of its own to
	// look at.
	assistMax = 64
)

// Borrowed runs turns for a borrower: a guest, or another worker if c is nil. They leave out the
// network, whose events the worker's own goroutine may be fetching.
func (d *driver) Borrowed(c *stack.Call, now int64) (more bool) {
	w := (*Worker)(d)
	hot := &w.hot
	hot.Count.Add(count.Borrowed, 1)
	heard := hot.Heard
	hot.BorrowFor(c)
	defer hot.BorrowFor(nil)
	hot.BeginTurn(max(hot.Now, now), false)
	turns, messages := lentMax, turnMax
	if c == nil {
		turns, messages = 1, assistMax
	}
	for i := range turns {
		if i > 0 {
			hot.BeginTurn(w.system.config.Clock(), true)
		}
		w.turns++
		hot.TakeRungs()
		w.fire() // first: nothing runs after the answer
		done := hot.Run(messages)
		w.endTurn()
		if done == 0 || c != nil && c.Ready() {
			break
		}
	}
	if !hot.Idle() || hot.Owes() {
		return true
	}
	hot.Heard = heard // whoever borrows turns needs no worker that spins
	w.offerHelp()     // actors given to it since it parked are done
	at, armed := w.wheel.Next()
	return armed && at < w.wakeAt
}

// fire queues the promises whose time has come.
func (w *Worker) fire() (any bool) {
	if w.wheel.Len() == 0 {
		return false
	}
	for n := w.wheel.Advance(w.hot.Now); n != nil; {
		next := n.Next // read first: the queue's link is the same
		n.Prev, n.Next = nil, nil
		w.hot.Fire(n)
		n, any = next, true
	}
	return any
}

// poll hands out the events that the network has, without blocking, and returns their number; in a
// Manual system, with the number of steps that offloaded functions made.
func (w *Worker) poll() (n int) {
	if w.system.config.Manual {
		n = w.system.move(w.hot.Now)
	}
	if w.poller == nil || w.poller.Len() == 0 {
		return n
	}
	events, err := w.poller.Poll()
	w.checkPoll(err)
	return n + events
}

// endTurn does what a turn puts off to do once: writes, arming of deadlines, pools, counters.
func (w *Worker) endTurn() {
	hot := &w.hot
	hot.RunDeferred()
	hot.ArmFresh()
	hot.Shard.Flush()
	if hot.Now >= w.trimAt {
		w.trim()
	}
	if w.turns-w.published >= publishEvery || hot.Now >= w.publishAt {
		w.publish()
	}
}

func (w *Worker) trim() {
	dropped := w.hot.Shard.Trim()
	if w.hot.Index == 0 {
		dropped += w.system.guests.Pools.Trim()
		w.system.trimOffloads()
	}
	w.hot.Count.Add(count.Trimmed, uint64(dropped))
	w.trimAt = w.hot.Now + pool.TrimEvery
}

// NextWake returns how long the worker may sleep, ns: until a timer is due, pools are to be trimmed
// or, in a Manual system, an offloaded function is due; 0 while it has to wake another worker, or
// deferred work is left. Only the loop calls it; in a Manual system, the caller.
func (w *Worker) NextWake() int64 {
	if w.hot.OwesWake() || w.hot.Owes() {
		return 0
	}
	w.wakeAt = w.trimAt
	if when, ok := w.wheel.Next(); ok && when < w.wakeAt {
		w.wakeAt = when
	}
	if w.system.config.Manual {
		for _, p := range w.system.pools() {
			if r := p.first(); r != nil {
				w.wakeAt = min(w.wakeAt, r.at)
			}
		}
	}
	return max(0, w.wakeAt-w.system.config.Clock())
}

// driver is the Worker as package stack sees it.
type driver Worker

func (d *driver) Wake() {
	if d.poller != nil {
		d.poller.Wake()
	}
}

func (d *driver) Wait(ns int64, network bool) {
	wait := (*netio.Poller).WaitForWake
	if network {
		wait = (*netio.Poller).Wait
	}
	(*Worker)(d).checkPoll(wait(d.poller, ns))
}

func (d *driver) Clock() int64 {
	d.hot.Now = d.system.config.Clock()
	return d.hot.Now
}

func (d *driver) Arm(n *future.Node) { d.wheel.Arm(n, n.When) }

func (d *driver) Disarm(n *future.Node) { d.wheel.Cancel(n) }

func (d *driver) Register(h *stack.House, make stack.Factory, beside *stack.Engine) *stack.House {
	return d.system.register(h, make, d.system.workers[beside.Index])
}

func (d *driver) Factory(h *stack.House) stack.Factory { return d.system.factory(h) }

func (d *driver) Shutdown() { d.system.BeginShutdown() }

func (d *driver) Offloads() stack.OffloadPool { return d.system.offload }

func (d *driver) Failed(h *stack.House, s *stack.Stack, err error) {
	reportFailure(&d.failed, d.system.config.Logger, d.hot.Now, err)
}

func (d *driver) UsedUp(err error) {
	report(&d.usedUp, d.system.config.Logger, d.hot.Now, slog.LevelWarn, "stackhouse: a limit is reached", err)
}

func (d *driver) Broken(err error) {
	report(&d.broken, d.system.config.Logger, d.hot.Now, slog.LevelInfo, "stackhouse: a connection has broken", err)
}

func (d *driver) Lost(h *stack.House, s *stack.Stack, why lost.Reason) {
	(*Worker)(d).reportLost(h, s, why)
}

func (d *driver) Slow(e stack.SlowStep) { reportSlow(&d.slowed, d.system.config.Logger, d.hot.Now, e) }

func (d *driver) Gone(h *stack.House) { d.system.remove(h) }

func (d *driver) Queued(ns int64) { d.queued.Record(time.Duration(ns)) }
