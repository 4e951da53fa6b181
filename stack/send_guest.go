package stack

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/pace"
	"github.com/stackhouse-go/stackhouse/stack/path"
	"github.com/stackhouse-go/stackhouse/stack/rendezvous"
)

// Guests has the pools that a system's guests share, and the values that all of the system knows.
type Guests struct {
	Pools      pool.Guests
	AskTimeout int64            // default deadline of a guest's ask, ns
	Clock      func() int64     // the system's clock, ns
	Await      rendezvous.Await // how guests wait
	Wakes      bool             // guests wake workers rather than borrow their turns
	Events     Events           // topics by which the system tells of itself
	Origin     path.Path        // the beginning of its actors' paths
	Extensions map[string]any   // never written to
	Started    atomic.Bool      // the workers run, or did; before no ask is answered

	_ [128]byte // guests' lines begin here

	stripes [pool.GuestStripes]guestStripe
}

// guestStripe is the state of the guests that share a shard.
type guestStripe struct {
	last [lastMax]lastNotice // guarded by the lock of the shard
	_    [128]byte

	full    atomic.Uint64 // messages that a full mailbox refused, or accepted and dropped
	refused atomic.Uint64 // messages to actors that had stopped
	_       [128]byte
}

// Dropped returns how many messages of guests weren't sent because the mailbox was full, and how
// many because the actor had stopped. Any goroutine may call it.
func (g *Guests) Dropped() (full, refused uint64) {
	for i := range g.stripes {
		t := &g.stripes[i]
		full += t.full.Load()
		refused += t.refused.Load()
	}
	return full, refused
}

// Call is one ask of a guest, which waits for the answer in it. After the answer the guest frees
// both call and stack or, if it has given up, the worker does: see package rendezvous.
type Call struct {
	pool.Object
	house House // the way back of the stack; an actor's house has an owner, this hasn't
	cell  rendezvous.Cell
	asked *Stack // the ask's stack; from the send to the answer it is the worker's
}

var callKind = pool.NewKind("guest call",
	pool.Layout{Size: unsafe.Sizeof(Call{}), Fixed: pool.ObjectSize},
	func() *pool.Object {
		c := &Call{}
		c.cell.Make()
		return &c.Object
	},
	func(o *pool.Object) {
		c := (*Call)(unsafe.Pointer(o))
		c.asked = nil
		c.cell.Reset()
	}).Keeps()

// Begin takes a stack for a message from a guest. The caller writes the message, then
// calls Post. Any goroutine may call it.
func (g *Guests) Begin(to *House, h *Handler) *Stack {
	s := stackOf(g.Pools.Take(h.kind))
	s.to = to
	return s
}

// Post sends a notice. The error is ErrMailboxFull or ErrStopped.
func (s *Stack) Post() error {
	h := s.to
	if !h.reserve() {
		return s.refusePost()
	}
	s.send()
	return nil
}

// Call takes a call and its stack for an ask of the calling goroutine. The caller
// writes the request into Stack, then calls Wait or Send.
func (g *Guests) Call(to *House, h *Handler) *Call {
	o, p := g.Pools.TakeTwo(callKind, h.kind)
	c, s := (*Call)(unsafe.Pointer(o)), stackOf(p)
	c.asked = s
	s.to, s.sent, s.back = to, g.Clock(), &c.house
	return c
}

// signal takes a call without an ask, for a goroutine that waits for a signal.
func (g *Guests) signal() *Call { return (*Call)(unsafe.Pointer(g.Pools.Take(callKind))) }

// Stack returns the stack of the ask: the guest's until Wait or Send, and again once
// the answer is there.
func (c *Call) Stack() *Stack { return c.asked }

// Wait sends an ask and blocks until its answer is there, ctx ends or, if ctx has no deadline,
// AskTimeout has passed. If err is nil the caller reads the reply from c's stack and calls Done;
// otherwise c is dead. In a step it returns ErrBlockingOnWorker.
func (g *Guests) Wait(ctx context.Context, c *Call) (err error) {
	s := c.asked
	if err = ctx.Err(); err != nil {
		err = fault.OfContext(err)
	} else if turns.Running() {
		err = fault.ErrBlockingOnWorker
	} else if s.lane == Calls && !s.to.reserve() {
		err = g.countRefused(s.to)
	}
	if err != nil {
		g.Done(c)
		return err
	}
	limit := g.AskTimeout
	if at, ok := ctx.Deadline(); ok {
		left := int64(time.Until(at))
		// the clock is read after left was computed: rather late than early
		s.deadline = max(1, pace.Later(g.Clock(), left))
		limit = 0
	} else {
		s.deadline = pace.Later(s.sent, g.AskTimeout)
	}
	c.cell.StayAwake()
	if w := s.post(); w != nil && (g.Wakes || !g.borrow(w, c)) {
		w.wake()
	}
	if c.cell.Waits() {
		err = g.blame(g.Await.Block(&c.cell, ctx, limit))
	}
	if err != nil && g.giveUp(c) {
		return err
	}
	if s.err != nil {
		if s.err != fault.ErrCancelled || err == nil { // else giveUp caused it, and err says why
			err = s.err
		}
		g.Done(c)
		return err
	}
	return nil
}

// blame returns the error for a guest whose wait ended with err: ErrNotStarted if it timed out and
// the system was never started.
func (g *Guests) blame(err error) error {
	if err == fault.ErrTimeout && !g.Started.Load() {
		return fault.ErrNotStarted
	}
	return err
}

// countRefused counts a message that h refuses, and returns why: ErrStopped or ErrMailboxFull.
//
//go:noinline
func (g *Guests) countRefused(h *House) error {
	t := &g.stripes[pool.Stripe()]
	if h.Gone() {
		t.refused.Add(1)
		return h.goneBy()
	}
	t.full.Add(1)
	return fault.ErrMailboxFull
}

// Send sends an ask without waiting for the answer. If it fails, with ErrMailboxFull or ErrStopped,
// c is dead. Otherwise the caller later calls Finish, which returns at once if Ready, reads the
// reply from c's stack, or its Err, and calls Done.
func (g *Guests) Send(c *Call) error {
	s := c.asked
	h := s.to
	if !h.reserve() {
		g.Done(c)
		return g.countRefused(h)
	}
	s.deadline = pace.Later(s.sent, g.AskTimeout)
	s.send()
	return nil
}

// Ready reports whether the answer of a call is there. Only its guest may ask.
func (c *Call) Ready() bool { return c.cell.Ready() }

// Abandoned reports whether the guest has given the call up before its answer came. Only its guest
// may ask.
func (c *Call) Abandoned() bool { return c.cell.Gone() }

// Finish waits for the answer of a call that was sent, but not beyond its deadline. In a step it
// doesn't wait. If the answer isn't there it returns ErrTimeout or ErrBlockingOnWorker, and c is
// dead.
func (g *Guests) Finish(c *Call) error {
	if c.Ready() {
		c.cell.Take()
		return nil
	}
	err := fault.ErrBlockingOnWorker
	if !turns.Running() {
		err = g.blame(g.Await.Block(&c.cell, context.Background(), max(1, c.asked.deadline-g.Clock())))
	}
	if err != nil && g.giveUp(c) {
		return err
	}
	return nil
}

// giveUp abandons a call that waits. True: the worker will free it. False: the
// answer came first, and its signal was taken.
func (g *Guests) giveUp(c *Call) bool {
	s := c.asked
	invariant.Point("guest.cancel")
	s.cancelled.Chain() // while the word says waiting or done the stack isn't recycled
	invariant.Point("guest.gone")
	if c.cell.Leave() {
		s.chain(nil)
		return true
	}
	c.cell.Take()
	return false
}

// Done frees a call and its stack.
func (g *Guests) Done(c *Call) { g.Pools.PutTwo(&c.asked.Object, &c.Object) }

// callOf returns the call whose house h is.
func callOf(h *House) *Call {
	return (*Call)(unsafe.Add(unsafe.Pointer(h), -int(unsafe.Offsetof(Call{}.house))))
}

// answerGuest ends, on a worker, an ask whose way back isn't an actor's house: an ask of a guest,
// or an onward call.
func (w *Engine) answerGuest(s *Stack) {
	if r := s.relay(); r != nil {
		w.passOn(r, s)
		return
	}
	if c := callOf(s.back); !c.cell.Finish() {
		s.late()
		w.Shard.Put(&c.Object)
	}
}

// freeCall puts the call with the cell c, whose goroutine is gone.
func freeCall(c *rendezvous.Cell) {
	pool.Send(&(*Call)(unsafe.Add(unsafe.Pointer(c), -int(unsafe.Offsetof(Call{}.cell)))).Object)
}

// complete is answerGuest for an ask of a guest, on any goroutine.
func (c *Call) complete(s *Stack) {
	if !c.cell.Finish() {
		s.late()
		pool.Send(&c.Object)
	}
}
