package stack

import (
	"math"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/flags"
)

// This file is how a mailbox is bounded: the calls that wait in a house, in its inbox and its
// lane of calls. System messages and answers always fit. What a connection has to do isn't
// counted: its inflight is bounded.
//
// The number is in two parts:
//
//	shown    in flags, behind the bits: for others. Who pushes from outside adds before the
//	         push, so it is never behind
//	unshown  the owner's, plain: what it pushed itself, less what it took. Added to the other,
//	         which others see, at the end of each visit
//
// Together they are exact, for the owner. Others see the number as of the last visit.
//
//	reserve    of a guest: if there is room for it, add. So guests alone never exceed the limit.
//	           Who waits for room: send_room.go
//	crowded    before another worker puts a call into its outbox: is there room for it, and for
//	           what the outbox has? It adds when the outbox leaves. So workers that fill one
//	           mailbox at the same time may exceed the limit, each by what was free
//	room       of the owner: is there room?
//	offer      of the owner: as many places of an envelope as there is room for, see
//	           send_tell.go. It doesn't see what others have added before they push, so that
//	           together they may exceed the limit, by what was free
//	full       what doesn't fit goes by the policy, see WhenFull
//	sorted     a house with another order than that of arrival moves its lane into a Mailbox, in
//	           its visits, and takes from there: see visit_sorted.go

// MailboxTop is the highest bound of a mailbox.
const MailboxTop = flags.MailboxTop

const (
	// limitLarge is the limit of houses whose bound is greater, or that have none.
	limitLarge = math.MaxUint16
)

// WhenFull is what becomes of a message that a mailbox has no room for. An ask is always answered
// with ErrMailboxFull.
type WhenFull uint8

// The policies.
const (
	Reject     WhenFull = iota // the sender of a notice gets ErrMailboxFull
	DropNewest                 // a notice is accepted, and becomes a dead letter
	// the message that has waited longest is dropped in its place: a notice becomes a dead letter
	DropOldest
)

// MailboxRules are the mailbox of a house. The zero MailboxRules are what the worker says:
// Engine.MailboxMax.
type MailboxRules struct {
	Max  int            // how many calls may wait; 0: what the worker says; negative: any number
	Full WhenFull       // the policy
	Sort func() Mailbox // makes what orders them; nil: first come, first served
}

// rules are a house's mailbox, if it isn't its worker's.
type rules struct {
	max    int // negative: no bound
	full   WhenFull
	sorter Mailbox
	mark   Stack  // in the lane of calls while others wait in the sorter
	marked bool   // it is there
	drain  *Stack // begins when the sorter is empty: a stop behind all that came before it
	late   queue  // what came behind that
	again  queue  // calls that go ahead of those in the sorter, see life_stash.go
}

// Mailbox gives the house, which nobody knows yet and no worker has adopted, another mailbox than
// its worker's.
func (h *House) Mailbox(m MailboxRules) {
	if m.Max > MailboxTop || m.Full > DropOldest {
		panic("stack: impossible mailbox")
	}
	if m.Max == 0 && m.Full == Reject && m.Sort == nil {
		return
	}
	if m.Max != 0 {
		h.limit = limitOf(max(0, m.Max))
	}
	if m.Full == Reject && m.Sort == nil && h.limit != limitLarge {
		return
	}
	r := &rules{max: m.Max, full: m.Full}
	if m.Full == DropOldest {
		h.flags.Set(flags.Singles)
	}
	if m.Sort != nil {
		r.sorter = m.Sort()
		r.mark.by = markHandler
		h.flags.Set(flags.Sorted | flags.Singles)
	}
	h.rooms().rules = r
}

// limitOf returns a house's limit for a bound; 0: there is none.
func limitOf(bound int) uint16 {
	if bound == 0 || bound >= limitLarge {
		return limitLarge
	}
	return uint16(bound)
}

// rules returns the bound of h, math.MaxInt if there is none, and what happens at it. Any
// goroutine may ask.
func (h *House) rules() (bound int, full WhenFull) {
	if a := h.annex.Load(); a != nil && a.rules != nil {
		full = a.rules.full
		bound = a.rules.max
	}
	switch {
	case bound != 0:
	case h.limit != limitLarge:
		bound = int(h.limit)
	default:
		bound = h.owner.Load().MailboxMax
	}
	if bound <= 0 {
		bound = math.MaxInt
	}
	return bound, full
}

// waits returns how many calls wait. Only the owner may ask.
func (h *House) waits() int { return h.shown() + int(h.unshown) }

// shown returns how many calls others see waiting. Any goroutine may ask.
func (h *House) shown() int { return h.flags.Now().Calls() }

// Queued returns how many calls wait in h, for a router to go by: all of them, also those that
// are held, if w, whose turn the caller runs, owns h; otherwise as of the last visit, with what
// others than its owner have sent since. A guest's w is nil.
func (h *House) Queued(w *Engine) int {
	n := h.shown()
	if w != nil && h.owner.Load() == w {
		n += int(h.unshown)
	}
	if w != nil && w.out.to == h {
		n += w.out.calls
	}
	return n
}

// takes reports whether a house whose flags are bits takes n more calls.
func (h *House) takes(bits flags.Word, n int) bool {
	return bits&flags.Stopped == 0 && (bits.Calls()+n <= int(h.limit) || h.fits(n))
}

// closed reports whether h, of the caller's worker, takes no call, but perhaps by its policy.
func (h *House) closed() bool {
	bits := h.flags.Now()
	return bits&flags.Stopped != 0 || bits.Calls()+int(h.unshown) >= int(h.limit)
}

// point is a scheduling point, if anybody decides by the number.
func (h *House) point(name string) {
	if h.limit != limitLarge {
		invariant.Point(name)
	}
}

// fits is the rest of reserve: whether there is room for n more after all.
//
//go:noinline
func (h *House) fits(n int) bool {
	bound, full := h.rules()
	if full == DropOldest && bound < math.MaxInt {
		bound *= 2 // the owner drops as many when it takes them
	}
	return h.shown()+n <= bound
}

// markHandler is that of a sorted house's mark, which stands in its lane of calls as long as calls
// wait in its Mailbox, so that the house looks to all others as one that has calls in its lane.
var markHandler = &Handler{title: "mark of a mailbox"}
