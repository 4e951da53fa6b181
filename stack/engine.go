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

	_ [128]byte // others' lines end here

	// Written before the first turn. Guests read some of it for each message.
	Index      int
	Assists    bool  // borrows turns of parked workers
	Budget     int   // messages a visit
	TurnTime   int64 // how long Run goes on in a turn, ns; 0: no matter how long
	SlowStep   int64 // what took so long, ns, is told to the Driver; 0: nothing is
	AskTimeout int64 // default deadline of an ask, ns
	// calls that wait in a house at most, unless it has a mailbox of its own; 0: any number
	MailboxMax int
	Driver     Driver
	Supervise  *supervision.Strategy    // for actors at the top; nil: the default
	Guests     *Guests                  // of the system
	Trace      func(h *House, s *Stack) // called before each message, if set: a simulation's ear
	// the poller, for channels; opaque here because it stands on this floor
	Net any

	_ [128]byte // lines that nobody writes end here

	turnAt atomic.Int64 // when the last turn began, ns; others read it

	// Written by whoever runs the turn.
	Shard pool.Shard
	Now   int64               // the clock as last read, ns since the process began
	Count stat.Group          // by the constants of package count; the driver publishes it
	Tally lost.Tally[Handler] // of dead letters
	// of a dead letter: what is dropped to make room for that is counted only
	telling bool
	visits  uint64
	handled uint64     // messages
	hot     readyQueue // houses with replies or system messages
	cold    readyQueue // houses with calls only
	streak  int        // hot visits in a row while cold ones waited
	house   *House     // being visited
	current *Stack     // its running stack, or the last that ran
	by      *Handler   // of current, which may be another one's by now
	inStep  bool       // user code runs
	onward  *Stack     // what the running step has forwarded its call by; nil: it hasn't
	// flags.Held and flags.Alone of the house being visited, since they were seen, flags.Noted,
	// since a call began; all seldom
	seen     flags.Word
	borrower *Call // a guest runs the turn, until this is answered; nil: no guest does
	Heard    bool  // something came from another worker or a guest; the loop clears it
	// nothing that came in this turn is a worker's message, or an ask: what they send next waits
	// for the next turn, see house
	Gathers  bool
	visitMax int            // messages a visit handles at most: see setVisitMax
	urgents  int            // replies in a row in this visit while calls waited
	fresh    []*Stack       // suspended in this turn: their deadlines aren't armed yet
	late     deferred.Queue // work for the end of the turn
	later    deferred.Queue // and of the next one
	out      outbox         // what goes to another worker

	// sent to while it was parked, and not woken yet; Invariant: nil while it is parked itself
	toWake    *Engine
	WakesLeft int // how many parked workers to wake at once before one is left to Assist

	// Written by whoever runs the turn, a few times in it.
	pace pace.Pace // of readings of the clock
}

// Driver is the loop around a worker, as far as houses need it. All but Wake, Wait and Register
// are called in the worker's own turn.
type Driver interface {
	// Wake makes the parked loop look again; any goroutine calls it.
	Wake()
	// Wait blocks until Wake, ns have passed, or, if it counts, the network has something. A
	// negative ns is for ever. Only the loop's own goroutine calls it, also while others have the
	// turn.
	Wait(ns int64, network bool)
	// Borrowed runs turns for a guest that waits for c, a few at most, or one for another
	// worker if c is nil. It reports whether something is left to do, now or before the loop
	// would wake by itself. The clock was now, ns, a moment ago.
	Borrowed(c *Call, now int64) (more bool)
	// Clock reads the clock, ns since the process began.
	Clock() int64
	// Arm puts a node into the wheel, to be Fired when its time comes.
	Arm(n *future.Node)
	// Disarm takes an armed node out of the wheel.
	Disarm(n *future.Node)
	// Register gives a new house an owner, beside. If its name is taken it returns who has it,
	// and h stays unknown.
	Register(h *House, make Factory, beside *Engine) (taken *House)
	// Factory returns what h was registered with.
	Factory(h *House) Factory
	// Offloads returns the pool of the jobs that name none.
	Offloads() OffloadPool
	// Shutdown begins the end of the system, and doesn't wait for it.
	Shutdown()
	// Failed tells of a panic or of a Throw in a notice.
	Failed(h *House, s *Stack, err error)
	// UsedUp tells of something that is used up, so that clients are refused or wait.
	UsedUp(err error)
	// Lost tells of a dead letter, s, to h; nil: to nobody.
	Lost(h *House, s *Stack, why lost.Reason)
	// Gone tells that h has stopped.
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
	n          int    // how many there are
	popped     uint64 // how many were taken first, ever
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

// makeReady queues h, if it isn't queued or being visited, and has mail.
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

// BorrowFor begins, or with nil ends, the turns of a guest that waits for c: Run stops when
// it is answered, and a visit handles one message, as none but those before the answer
// are the guest's business.
func (w *Engine) BorrowFor(c *Call) { w.borrower = c }

// Lively reports whether what is given to w now, at a clock of now ns, is begun at once or soon:
// it is parked, or its turn began less than limit ns ago. Any goroutine may ask.
func (w *Engine) Lively(now, limit int64) bool {
	return w.turn.Parked() || now-w.turnAt.Load() < limit
}

// Idle reports whether no house is ready. Only who runs the turn may ask.
func (w *Engine) Idle() bool { return w.hot.head == nil && w.cold.head == nil }

// Pending reports whether other workers sent something. Any goroutine may ask.
func (w *Engine) Pending() bool { return w.rungs.Load() != nil || w.given() }

// given reports whether others gave w houses.
func (w *Engine) given() bool {
	invariant.Point("gift.pending")
	return w.gifts.Load() != nil
}

// Deferred is work for the end of the turn.
type Deferred = deferred.Work

// Defer runs d at the end of this turn; once, however often it is deferred.
func (w *Engine) Defer(d *Deferred) { w.late.Add(d) }

// DeferOn is Defer to the end of the next turn, which follows at once, for deferred work that
// takes long, as others are to have their turn meanwhile. Defer changes nothing about it.
func (w *Engine) DeferOn(d *Deferred) { w.later.Add(d) }

// Owes reports whether work was deferred to the end of the next turn. Only who runs w's turn calls
// it.
func (w *Engine) Owes() bool { return w.later.Any() }

// RunDeferred does the turn's deferred work, and sends what was said outside visits.
func (w *Engine) RunDeferred() {
	w.late.Run()
	w.sendOut()
}
