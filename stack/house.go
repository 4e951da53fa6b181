package stack

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/away"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/order"
	"github.com/stackhouse-go/stackhouse/stack/pace"
	"github.com/stackhouse-go/stackhouse/stack/rendezvous"
)

// House is where one actor lives: mailbox lanes, status, promise table. A house
// belongs to one worker at a time. Only that worker, or whoever drains the house after the
// worker left, touches fields that are not atomic.
//
// It is two cache lines, because most actors are idle most of the time and the cost of a
// spawn is mostly memory. What not every actor needs is in its annex.
type House struct {
	solo invariant.Solo // finds two visits at once

	// Read by others, and written by others too, except owner, actor and serial: the protocol is
	// in send_inbox.go.
	inbox    atomic.Pointer[Stack] // what others pushed, newest first
	rungNext *House                // belongs to the chain of rungs that the house stands on
	owner    atomic.Pointer[Engine]
	annex    atomic.Pointer[annex] // nil: not needed so far
	actor    any                   // the user's struct: always a pointer
	serial   uint64
	flags    flags.Shared
	// how many calls may wait, see house_mailbox.go; written before others know the house
	limit   uint16
	givenAt pace.Moment // when it was given to its owner; 0: its first owner still has it

	// Written by the owner, for each message.
	calls   queue   // asks and notices, in one lane so that a sender's order holds across both
	system  circle  // system messages
	next    *House  // ready queue, or chain of gifts
	prev    *House  // ready queue
	readyAt int64   // the worker's clock when the house became ready, ns
	unshown int32   // calls that came, less calls taken, that the number in flags lacks so far
	Slot    uint32  // its place in the register of its system, which writes it under a lock
	opening opening // how far it has read the envelope that is first in the lane of calls
	ahead   bool    // Invariant: a system message, a reply or a fired promise goes ahead of calls
	queued  queued
	why     reasons // why calls are held, see house_hold.go. Invariant: 0 without flags.Held
	urgents uint8   // between visits: how many replies in a row went ahead of calls
}

// annex is the part of a house that is needed only if its actor asks, sets timers, has hooks or a
// record of its life, or if goroutines wait for room in its mailbox. It is made at the first need,
// and stays.
type annex struct {
	// Written by the owner.
	replies queue        // answers to what the actor asked
	fired   future.Queue // the promises, and the timer in quiet, whose time has come
	table   future.Table
	// the id of the last ask. Invariant: never reset. It doesn't reach 2^64: at one ask per ns
	// that takes 584 years
	lastID uint64

	bars   int32       // how many stacks have a barrier, see call_barrier.go
	buried atomic.Bool // the actor is gone and asks nothing any more; others read it

	// Seldom written, and read by others too: a line of its own.
	// nil: there is nothing to record, see life.go; written by the owner
	life  atomic.Pointer[life]
	rules *rules          // nil: its mailbox is as its worker says
	await rendezvous.Line // of goroutines that wait for room, see send_room.go

	givenUp atomic.Pointer[pool.Object] // calls to it whose askers gave up, see send_giveup.go

	held  queue  // calls, while they are held, see house_hold.go; written by the owner
	quiet *quiet // nil: nobody needs to know when calls begin, see life_quiet.go; the owner's
	stash *stash // nil: no call was ever stashed, see life_stash.go; written by the owner
}

// interrupt sets flag (0: none), and makes a loop over calls of h end before the next call. A
// sender of a system message calls it after the push. The owner calls it with each hold, barrier
// and change of the actor's life that keeps calls from beginning. That calls may begin again needs
// no interrupt, as no loop runs then.
func (h *House) interrupt(flag flags.Word) { h.flags.Set(flag | flags.Urged) }

// interrupted reports whether a loop over calls of h must end: something goes ahead of the next
// call, or the visit has to look at the inbox and the flags again.
func (h *House) interrupted() bool { return h.ahead || h.flags.Has(flags.Urged) }

// enter begins a visit of h by w, its owner.
func (h *House) enter(w *Engine) {
	if invariant.Enabled && h.owner.Load() != w {
		panic("stack: a worker visits a house of another")
	}
	h.solo.Enter("stack: two visits to one house at once")
}

// exit ends what enter began.
func (h *House) exit() {
	if invariant.Enabled {
		ahead := h.ahead
		if h.lookAhead(); h.ahead != ahead {
			panic("stack: a house is wrong about what goes ahead of calls")
		}
	}
	h.solo.Exit("stack: two visits to one house at once")
}

// queued says where a house stands among those of its worker.
type queued uint8

const (
	notQueued  queued = iota
	queuedCold        // among the ready houses with calls only
	queuedHot         // among those with replies or system messages, or being visited
	queuedGift        // given to its owner, which hasn't taken it yet: see send_handover.go
)

// Factory makes the structs of one actor, one for each of its lives: a func() *A without
// its type.
type Factory func() unsafe.Pointer

// Is reports whether f and g are the same func value: one function, with the same captured
// variables.
func (f Factory) Is(g Factory) bool {
	return *(*unsafe.Pointer)(unsafe.Pointer(&f)) == *(*unsafe.Pointer)(unsafe.Pointer(&g))
}

// NewHouse returns a house for the actor that factory makes, and factory without its type, for
// restarts. The house belongs to nobody until Adopt.
func NewHouse[A any](factory func() *A) (*House, Factory) {
	actor := factory()
	if actor == nil {
		panic("stack: the factory of an actor returned nil")
	}
	return &House{actor: actor}, *(*Factory)(unsafe.Pointer(&factory))
}

// Adopt makes w the house's first owner; serial is its number in the system. The caller is the
// only one who knows the house.
func (h *House) Adopt(w *Engine, serial uint64) {
	h.serial = serial
	if h.limit == 0 {
		h.limit = order.Limit(w.MailboxMax)
	}
	// nobody else looks yet: a fence would be a part of each spawn
	*(**Engine)(unsafe.Pointer(&h.owner)) = w
}

// Owner returns the worker that runs the house now.
func (h *House) Owner() *Engine { return h.owner.Load() }

// Serial returns the house's number in its system, from 1 in order of spawning.
func (h *House) Serial() uint64 { return h.serial }

// Actor returns the user's struct; nil once the actor is gone. Only the owner may call it.
func (h *House) Actor() any {
	if h.self() == nil {
		return nil
	}
	return h.actor
}

// Waiting returns the number of answers that the actor waits for. Only the owner may call it.
func (h *House) Waiting() int {
	if a := h.annex.Load(); a != nil {
		return a.table.Len()
	}
	return 0
}

// self returns the pointer to the actor that its steps get.
func (h *House) self() unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&h.actor))[1]
}

// setSelf puts another actor of the same type into the house; nil: none.
func (h *House) setSelf(actor unsafe.Pointer) {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&h.actor))[1] = actor
}

// Kind returns the type of the actor's struct, also after the actor is gone. Any goroutine may
// call it: the type word of h.actor never changes.
func (h *House) Kind() reflect.Type {
	var typed any
	(*[2]unsafe.Pointer)(unsafe.Pointer(&typed))[0] = (*[2]unsafe.Pointer)(unsafe.Pointer(&h.actor))[0]
	return reflect.TypeOf(typed).Elem()
}

// Gone reports whether the actor has stopped, or is about to. Any goroutine may ask.
func (h *House) Gone() bool { return h.flags.Has(flags.Stopped) }

// Describe returns the actor's type and number, as in "main.Cache#42", see away.Title, behind its
// path if it has a name: "/user/cache (main.Cache#42)". Any goroutine may call it.
func (h *House) Describe() string {
	who := away.Title(h.Kind(), h.serial, h.Remote())
	if h.Name() == "" {
		return who
	}
	return fmt.Sprintf("%s (%s)", h.Local(), who)
}

// hasMail reports whether a visit would find a message. Only the owner may ask.
func (h *House) hasMail() bool {
	if h.ahead || h.calls.head != nil {
		return true
	}
	invariant.Point("house.mail")
	return h.inbox.Load() != nil
}

// put appends s to its lane. Only the owner may call it.
func (h *House) put(s *Stack) {
	switch s.lane {
	case Calls:
		h.calls.push(s)
		return
	case Replies:
		h.annex.Load().replies.push(s)
	case System:
		h.system.push(s)
	}
	h.ahead = true
}

// lookAhead updates h.ahead from the lanes.
func (h *House) lookAhead() {
	a := h.annex.Load()
	h.ahead = h.system.last != nil || a != nil && (a.replies.head != nil || !a.fired.Empty())
}

// rooms returns the house's annex, and makes it if there is none. Any goroutine may call it.
func (h *House) rooms() *annex {
	if a := h.annex.Load(); a != nil {
		return a
	}
	return h.build()
}

//go:noinline
func (h *House) build() *annex {
	h.annex.CompareAndSwap(nil, new(annex))
	return h.annex.Load()
}
