package stack

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/internal/prefetch"
)

// phase is a house's life.
//
//	open     handles messages
//	stopped  stays a mailbox for ever: its owner answers each call with
//	         ErrStopped, notices become dead letters, answers go home
type phase uint8

const (
	open phase = iota
	stopped
)

// House is where one actor lives: mailbox lanes, status, promise table. A house
// belongs to one worker at a time; only that worker, or who drains it after the
// worker left, touches what is not atomic.
type House struct {
	// Written by others. The protocol is in inbox.go.
	inbox    atomic.Pointer[Stack] // what others pushed, newest first
	rung     atomic.Bool           // this house stands on one worker's chain of rungs
	rungNext *House                // belongs to that chain
	ghost    atomic.Int32          // in invariant builds: 1 while its owner visits it
	gone     atomic.Bool           // it has stopped; stored by the owner, for routers
	gauge    atomic.Pointer[Gauge]

	_ [24]byte // others' line ends here

	// Written by the owner, for each message.
	lanes   [lanes]queue
	fired   future.Queue // promises whose time came
	ahead   int32        // Invariant: the stacks in the lanes before Calls, and the fired promises
	urged   atomic.Bool  // others': a system message was sent, so the visit under way looks into the inbox
	next    *House       // ready queue
	prev    *House       // ready queue
	table   future.Table
	lastID  uint64 // of the last ask. Invariant: never reset
	readyAt int64  // the worker's clock when the house became ready, ns
	opening opening
	ready   bool // queued or being visited
	hot     bool // queued among the houses with replies, or being visited

	// Seldom written, and read by others too: a line that stays with all of them.
	actor   any // the user's struct: always a pointer
	make    func() unsafe.Pointer
	Hooks   Hooks // of its life cycle; nil: none
	owner   atomic.Pointer[Worker]
	serial  uint64
	Slot    uint32 // its place in the register of its system, which writes it under a lock
	phase   phase
	wrapped bool // lastID went through 0: an id may be in use still
}

// Hooks are the ends of an actor's life. They run in a turn of the owner.
type Hooks interface {
	// Started runs before the first message; an error stops the actor.
	Started(h *House) error
	// Stopped runs once, after every stack of the actor has ended.
	Stopped(h *House) error
}

// NewHouse returns a house for the actor that factory makes. It belongs to
// nobody until a worker adopts it.
func NewHouse[A any](factory func() *A) *House {
	actor := factory()
	if actor == nil {
		panic("stack: the factory of an actor returned nil")
	}
	h := &House{actor: actor}
	h.make = *(*func() unsafe.Pointer)(unsafe.Pointer(&factory))
	return h
}

// Adopt makes w the house's first owner. The caller is the only one who knows the house.
func (h *House) Adopt(w *Worker, serial uint64) {
	h.serial = serial
	h.owner.Store(w)
}

// Owner returns the worker that runs the house now.
func (h *House) Owner() *Worker { return h.owner.Load() }

// Serial returns the house's number in its system, from 1 in order of spawning.
func (h *House) Serial() uint64 { return h.serial }

// Actor returns the user's struct; nil after the stop. Only the owner may call it.
func (h *House) Actor() any { return h.actor }

// Waiting returns the number of answers that the actor waits for. Only the owner may call it.
func (h *House) Waiting() int { return h.table.Len() }

// fetch has the line come that others wrote.
func (h *House) fetch() { prefetch.Write(unsafe.Pointer(h)) }

// self returns the actor as every step takes it.
func (h *House) self() unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&h.actor))[1]
}

// Gone reports whether the actor has stopped. Any goroutine may ask.
func (h *House) Gone() bool { return h.gone.Load() }

// Describe returns the actor's type and number, as in "main.Cache#42". Only the
// owner may call it.
func (h *House) Describe() string {
	if h.actor == nil {
		return fmt.Sprintf("stopped#%d", h.serial)
	}
	return fmt.Sprintf("%v#%d", reflect.TypeOf(h.actor).Elem(), h.serial)
}

// wrapID steps over the id that means "no ask", and over ids that still wait,
// after 2^64 asks.
//
//go:noinline
func (h *House) wrapID() {
	h.wrapped = true
	for h.lastID == 0 || h.table.Has(h.lastID) {
		h.lastID++
	}
}

// hasMail reports whether a visit would find anything. Only the owner may ask.
func (h *House) hasMail() bool {
	return h.ahead != 0 || h.lanes[Calls].head != nil || h.inbox.Load() != nil
}

// put appends s to its lane. Only the owner may call it.
func (h *House) put(s *Stack) {
	h.lanes[s.lane].push(s)
	if s.lane != Calls {
		h.ahead++
	}
}

// enter and exit bracket what only the owner may do, in invariant builds: they
// find two threads in one house, which no atomic word would show.
func (h *House) enter(w *Worker) {
	if h.owner.Load() != w {
		panic("stack: a worker visits a house of another")
	}
	if h.ghost.Add(1) != 1 {
		panic("stack: two visits to one house at once")
	}
}

func (h *House) exit() {
	if h.ghost.Add(-1) != 0 {
		panic("stack: two visits to one house at once")
	}
}
