package stack

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/stat"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/deferred"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/lost"
	"github.com/stackhouse-go/stackhouse/stack/pace"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
	"github.com/stackhouse-go/stackhouse/stack/turn"
)

// Engine is the hot state of one worker: what its houses touch for each message.
// The loop around it, with clock, poller and wheel, is its Driver.
type Engine struct {
	// Written by others; the protocol is in send_inbox.go.
	rungs atomic.Pointer[House] // houses with mail, chained by rungNext
	gifts atomic.Pointer[House] // houses given to it, chained by next
	turn  turn.State

	_ [128]byte // the lines that others write end here

	// Written before the first turn. Guests read some of it for each message.
	Index      int
	Assists    bool  // borrows turns of parked workers
	Budget     int   // messages that a visit handles at most
	TurnTime   int64 // how long a turn visits houses, ns; 0: without a limit
	SlowStep   int64 // a step that took this long, ns, is slow: see Driver.Slow; 0: none is
	AskTimeout int64 // default deadline of an ask, ns
	// how many calls wait in a house at most, unless it has MailboxRules; 0: any number
	MailboxMax int
	Driver     Driver
	Supervise  *supervision.Strategy    // for actors at the top; nil: the default
	Guests     *Guests                  // of the system
	Trace      func(h *House, s *Stack) // nil, or called before each message: for simulations
	// the poller, for channels; of no type here because netio doesn't stand below stack
	Net any

	_ [128]byte // lines that nobody writes end here

	turnAt atomic.Int64 // when the last turn began, ns; others read it

	// Written by whoever runs the turn.
	Shard pool.Shard
	Now   int64               // the clock as last read, ns since the process began
	Count stat.Group          // by the constants of package count; the driver publishes it
	Tally lost.Tally[Handler] // of dead letters
	// a dead letter is being published: others that this causes are counted only
	telling bool
	visits  uint64
	handled uint64     // messages
	hot     readyQueue // houses with replies or system messages
	cold    readyQueue // houses with calls only
	streak  int        // hot visits in a row while cold ones waited
	house   *House     // being visited
	current *Stack     // its running stack, or the last that ran
	by      *Handler   // of current when its step began: the stack may be reused by now
	inStep  bool       // user code runs
	onward  *Stack     // the onward call that the running step's Forward made; nil: none
	// what leave has to look at: flags.Held and flags.Alone if this visit saw the house have
	// them, flags.Noted if a call has begun in it; mostly 0
	seen     flags.Word
	borrower *Call // a guest runs the turn until this call is answered; nil: no guest does
	Heard    bool  // something came from another worker or a guest; the loop clears it
	// all that came from outside in this turn are guests' notices: those that they send during
	// the turn wait for the next one, see package house
	Gathers  bool
	visitMax int            // messages that this visit handles at most: see setVisitMax
	urgents  int            // replies in a row in this visit while calls waited
	fresh    []*Stack       // suspended in this turn: their deadlines aren't armed yet
	late     deferred.Queue // work for the end of the turn
	later    deferred.Queue // work for the end of the next turn
	out      outbox         // what goes to another worker

	// a parked worker to which this one has sent, and which it hasn't woken yet. Invariant: nil
	// while this worker is parked itself
	toWake    *Engine
	WakesLeft int // how many parked workers to wake at once before one is left to Assist

	// Written by whoever runs the turn, a few times in it.
	pace pace.Pace // of readings of the clock
}

// Driver is the loop around a worker, as far as houses need it. All but Wake, Wait and Register
// are called in the worker's own turn.
type Driver interface {
	// Wake ends Wait; any goroutine calls it.
	Wake()
	// Wait blocks until Wake is called, until ns have passed (negative: for ever) or, if network
	// is true, until the network has something. Only the loop's own goroutine calls it, also
	// while others have the turn.
	Wait(ns int64, network bool)
	// Borrowed runs a few turns at most for a guest that waits for c or, if c is nil, one turn
	// for another worker. It reports whether something is left to do, now or before the loop
	// would wake by itself. The clock was now, ns, a moment ago.
	Borrowed(c *Call, now int64) (more bool)
	// Clock reads the clock, ns since the process began.
	Clock() int64
	// Arm puts a node into the wheel, to be Fired when its time comes.
	Arm(n *future.Node)
	// Disarm takes an armed node out of the wheel.
	Disarm(n *future.Node)
	// Register gives a new house an owner, beside. If its name is taken it returns the house
	// that has the name, and h stays unknown.
	Register(h *House, make Factory, beside *Engine) (taken *House)
	// Factory returns the factory that h was registered with.
	Factory(h *House) Factory
	// Offloads returns the pool for jobs that name no pool.
	Offloads() OffloadPool
	// Shutdown begins the end of the system, and doesn't wait for it.
	Shutdown()
	// Failed tells of a panic or of a Throw in a notice.
	Failed(h *House, s *Stack, err error)
	// UsedUp tells of a resource that is used up, so that clients are refused or wait.
	UsedUp(err error)
	// Broken tells of a connection that has ended by an error of what it passes, such as TLS.
	Broken(err error)
	// Lost tells of the dead letter s to the actor in h; nil: to no actor.
	Lost(h *House, s *Stack, why lost.Reason)
	// Gone tells that h has stopped. It is no stand-in: of those Register wasn't told.
	Gone(h *House)
	// Slow tells of a slow step.
	Slow(e SlowStep)
	// Queued tells how long the house just visited had been ready, ns; for one visit in 16.
	Queued(ns int64)
}

// readyQueue is the ready houses of one class, linked both ways because a queued
// house that gets its first reply changes class.
type readyQueue struct {
	head, tail *House
	n          int    // houses in it
	popped     uint64 // houses that pop has ever taken
}

// push appends h, which stands in no queue: its links are nil.
func (q *readyQueue) push(h *House) {
	if q.tail == nil {
		q.head = h
	} else {
		h.prev = q.tail
		q.tail.next = h
	}
	q.tail = h
	q.n++
}

// pop removes the first house of a queue that has one.
func (q *readyQueue) pop() *House {
	h := q.head
	q.head = h.next
	if h.next == nil {
		q.tail = nil
	} else {
		h.next.prev = nil
		h.next = nil
	}
	q.n--
	q.popped++
	return h
}

func (q *readyQueue) remove(h *House) {
	if h.prev == nil {
		q.head = h.next
	} else {
		h.prev.next = h.next
	}
	if h.next == nil {
		q.tail = h.prev
	} else {
		h.next.prev = h.prev
	}
	h.next, h.prev = nil, nil
	q.n--
}

// makeReady queues h if it has mail and is neither queued nor being visited.
func (w *Engine) makeReady(h *House) {
	if h.queued != notQueued {
		w.promote(h)
		return
	}
	if !h.hasMail() {
		return
	}
	h.readyAt = w.Now
	if h.ahead {
		h.queued = queuedHot
		w.hot.push(h)
	} else {
		h.queued = queuedCold
		w.cold.push(h)
	}
}

// promote moves a queued house that got its first reply to the hot queue.
func (w *Engine) promote(h *House) {
	if h.queued == queuedCold && h.ahead {
		w.cold.remove(h)
		h.queued = queuedHot
		w.hot.push(h)
	}
}

// BorrowFor begins the turns of a guest that waits for c; with nil it ends them. In such turns
// Run stops when c is answered, and a visit handles one message, so that the guest handles few
// that aren't needed for its answer.
func (w *Engine) BorrowFor(c *Call) { w.borrower = c }

// Lively reports whether w will soon begin what is given to it: it is parked, or its last turn
// began less than limit ns before now, a time on the system's clock, ns. Any goroutine may ask.
func (w *Engine) Lively(now, limit int64) bool {
	return w.turn.Parked() || now-w.turnAt.Load() < limit
}

// Idle reports whether no house is ready. Only who runs the turn may ask.
func (w *Engine) Idle() bool { return w.hot.head == nil && w.cold.head == nil }

// Pending reports whether other workers or guests sent something. Any goroutine may ask.
func (w *Engine) Pending() bool { return w.rungs.Load() != nil || w.given() }

// given reports whether others gave w houses.
func (w *Engine) given() bool {
	invariant.Point("gift.pending")
	return w.gifts.Load() != nil
}

// Deferred is work for the end of the turn.
type Deferred = deferred.Work

// Defer has d run at the end of this turn: once, however often it is deferred. Only who runs w's
// turn calls it.
func (w *Engine) Defer(d *Deferred) { w.late.Add(d) }

// DeferOn is Defer to the end of the next turn, which follows at once: for deferred work that
// takes long, so that houses are visited in between. A Defer of d meanwhile has no effect.
func (w *Engine) DeferOn(d *Deferred) { w.later.Add(d) }

// Owes reports whether work was deferred to the end of the next turn. Only who runs w's turn calls
// it.
func (w *Engine) Owes() bool { return w.later.Any() }

// RunDeferred does the turn's deferred work, and empties the outbox of what was sent outside
// visits. Only who runs w's turn calls it.
func (w *Engine) RunDeferred() {
	w.late.Run()
	w.sendOut()
}
