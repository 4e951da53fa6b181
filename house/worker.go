package house

import (
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

// turnMax is how many messages a turn handles before it looks at the network and other
// workers again: some tens of microseconds of small handlers. Config.TurnTime ends the turns of
// others.
const turnMax = 256

// publishEvery is how many turns pass before the counters are shown, unless publishAfter, ns, has
// passed: showing them takes as long as handling a few messages.
const (
	publishEvery = 64
	publishAfter = 100_000_000
)

// Worker is one loop. Only the goroutine that runs its turn touches what isn't atomic: its
// own, or a guest's or another worker's that borrows the turn.
type Worker struct {
	hot    stack.Engine // what messages touch
	system *System
	wheel  wheel.Wheel
	poller *netio.Poller // nil in simulations
	failed rateLimit     // lines about failures
	usedUp rateLimit     // lines about what is used up
	slowed rateLimit     // lines about slow steps
	lost   rateLimit     // lines about dead letters

	began     int64   // when the turn began, ns
	trimAt    int64   // when the pools are trimmed next
	publishAt int64   // when the counters are shown next, at the latest
	yieldedAt int64   // when the loop last yielded
	idleAt    int64   // since when there is nothing to do; 0: there is
	spin      int64   // for how long from then on the loop looks again before it parks, ns
	vain      backoff // of spinning for mail
	skips     int     // how often it parks at once before it spins for mail again
	behind    int     // turns in a row that began with a backlog
	events    int     // that the network has had for its turns since it parked last
	// the loop's: napMean times how many there were of late from one park to the next
	eventful int
	visited  uint64 // visits to actors with calls only, up to the last turn's beginning
	wakeAt   int64  // when the loop, parked, wakes by itself

	listens   bool // it spins for mail
	timely    bool // the clock was just read
	follows   bool // nothing was done since the last turn
	woken     bool // somebody has woken it, and no turn has passed
	spinsLong bool // it is one of the system's longSpinners

	queued    latency.Histogram // how long ready houses waited for their visit
	published uint64            // turns at the last publish
	turns     uint64

	leaving atomic.Bool // written by the system: leave when all is done
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
	w.wheel.Init(w.hot.Now)
	w.trimAt = w.hot.Now + pool.TrimEvery
	w.publishAt = w.hot.Now + publishAfter
	return w
}

// Register makes the worker the owner of a new house, for ever: core.Spawn(w, …).
func (w *Worker) Register(h *stack.House, make stack.Factory) *stack.House {
	h.Stay()
	return w.system.register(h, make, w)
}

// Index returns the worker's number in its system, from 0.
func (w *Worker) Index() int { return w.hot.Index }

// Turn is one pass of the loop: take what others sent, run ready houses, fire
// timers, look at the network, run what that made ready, end what the turn put
// off. It never blocks. It reports whether there was or is anything to do. Only
// the loop calls it; in a Manual system, the caller.
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
	kept := hot.OwesWake() // since the last turn
	hot.TakeRungs()
	done := w.run(kept)
	fired := w.fire()
	polled := w.poll()
	w.events += polled
	if fired || polled > 0 {
		done += w.run(kept) + 1
	}
	if hot.OwesWake() {
		hot.RunDeferred() // what is ready needn't wait
		done += w.assist(done)
	}
	keeps := hot.OwesWake()
	w.endTurn()
	if !keeps {
		hot.WakeNow() // the one to which deferred work has sent
	}
	busy = done > 0 || hot.OwesWake() || !hot.Idle() || hot.Owes()
	if w.system.config.Manual { // who knows when it is called again
		hot.Now = w.system.config.Clock()
		hot.Measure()
		if !busy { // a loop says so when it parks
			w.offerHelp()
		}
	} else {
		w.follows = true
	}
	return busy
}

// run runs houses that are ready. If the last turn has kept a parked worker for this one to
// assist, that needn't wait for them, nor need one to which this turn has sent instead.
func (w *Worker) run(kept bool) (done int) {
	if kept && !w.hot.Idle() {
		w.hot.WakeNow()
	}
	w.endLongSpin()
	return w.hot.Run(turnMax)
}

// assistsMax is how often a turn assists: what it gets back may send again.
const assistsMax = 4

const (
	// slowTurn is how long a turn may take, ns, that runs another worker's turn. Behind slower
	// ones the worker wakes others at once, so many times: work is better shared then.
	slowTurn  = 200_000
	slowWakes = 16
	// briefMessage is how long a message may take, ns, in turns that leave the other worker
	// parked, for the next turn to assist: sending one to another thread takes 100 to 400.
	briefMessage = 200
)

// assist runs a turn of the parked worker to which this turn has sent, unless something else is to
// be done, and then what comes back. If that goes on, the next turn goes on with it, if that is no
// slower than two threads would be: messages are brief, or come one at a time. It returns the
// number of messages handled here, besides those that the turn has done.
func (w *Worker) assist(done int) (more int) {
	hot, heard, n, there := &w.hot, w.hot.Heard, 0, 0
	for ; n < assistsMax && hot.OwesWake() && hot.Idle(); n++ {
		there += hot.Assist()
		hot.TakeRungs()
		more += hot.Run(turnMax)
	}
	hot.Heard = heard // what came back says nothing of what others will send
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
	// lentMax is how many turns a guest runs at most: its own call has been handled
	// by the first, unless the worker has more to do than a guest should.
	lentMax = 4
	// assistMax is how many messages another worker handles at most; it has its own network.
	assistMax = 64
)

// Borrowed is a borrower's part of the loop: turns without the network, whose events the
// worker's own goroutine may be fetching.
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
		w.fire() // first: nothing runs behind the answer
		done := hot.Run(messages)
		w.endTurn()
		if done == 0 || c != nil && c.Ready() {
			break
		}
	}
	if !hot.Idle() || hot.Owes() {
		return true
	}
	hot.Heard = heard // who runs its turns needs none that spins
	w.offerHelp()     // what was given since it parked is done
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

// poll hands out what the network has, without blocking, and returns how many events that were: in
// a Manual system, moves of what is offloaded.
func (w *Worker) poll() (n int) {
	if w.poller == nil {
		return w.system.move(w.hot.Now)
	}
	if w.poller.Len() == 0 {
		return 0
	}
	n, err := w.poller.Poll()
	w.checkPoll(err)
	return n
}

// endTurn does what a turn puts off to do it once: writes, deadlines, pools,
// counters.
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

// NextWake returns how long the worker may sleep until it has a timer to fire or pools to trim,
// ns; 0 while it has to wake another, or, in a Manual system, an offloaded function is due. Only
// the loop calls it; in a Manual system, the caller.
func (w *Worker) NextWake() int64 {
	if w.hot.OwesWake() || w.hot.Owes() {
		return 0
	}
	w.wakeAt = w.trimAt
	if when, ok := w.wheel.Next(); ok && when < w.wakeAt {
		w.wakeAt = when
	}
	if w.poller == nil {
		for _, p := range w.system.pools() {
			if r := p.first(); r != nil {
				w.wakeAt = min(w.wakeAt, r.at)
			}
		}
	}
	return max(0, w.wakeAt-w.system.config.Clock())
}

// driver is the Worker as its houses see it.
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
	reportUsedUp(&d.usedUp, d.system.config.Logger, d.hot.Now, err)
}

func (d *driver) Lost(h *stack.House, s *stack.Stack, why lost.Reason) {
	(*Worker)(d).reportLost(h, s, why)
}

func (d *driver) Slow(e stack.SlowStep) { reportSlow(&d.slowed, d.system.config.Logger, d.hot.Now, e) }

func (d *driver) Gone(h *stack.House) { d.system.remove(h) }

func (d *driver) Queued(ns int64) { d.queued.Record(time.Duration(ns)) }
