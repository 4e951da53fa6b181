package stack

import (
	"math"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack/flags"
	"github.com/stackhouse-go/stackhouse/stack/order"
)

// This file is how a mailbox is bounded: the calls that wait in a house, in its inbox and its
// lane of calls. System messages and answers always fit. The stacks of a connection aren't
// counted: its inflight has a bound of its own.
//
// The number of calls is in two parts:
//
//	shown    in the word of flags, for others. Senders outside add to it before they push, so
//	         it is never too small by their calls
//	unshown  a plain field of the owner: calls that it pushed itself, less calls that it took.
//	         It is added to shown at the end of each visit
//
// For the owner their sum is exact. Others see the number as of the last visit.
//
// Who looks for room, and when:
//
//	reserve    a guest: adds 1 if there is room. So guests alone never exceed the limit. How
//	           goroutines wait for room is in send_room.go
//	crowded    another worker, before it puts a call into its outbox: is there room for this
//	           call and those in the outbox? They are added when the outbox leaves. So workers
//	           that fill one mailbox at the same time may exceed the limit, each by what was free
//	room       the owner: is there room?
//	offer      the owner: offers as many places of an envelope as there is room for, see
//	           send_tell.go. While they are filled nobody looks at the number again, so together
//	           with calls that others add the limit may be exceeded, by what was free
//
// Calls that don't fit go by the policy, see order.WhenFull. A house with another order than that
// of arrival moves its lane into a Mailbox, in its visits, and takes from there: see
// visit_sorted.go.

// MailboxTop is the highest bound of a mailbox.
const MailboxTop = flags.MailboxTop

// MailboxRules are the bound, the policy and the order of one house's mailbox; see [order.Rules].
// The zero MailboxRules are those of its worker: see Engine.MailboxMax.
type MailboxRules = order.Rules[Stack]

// rules are the MailboxRules of a house in use, and its Mailbox.
type rules struct {
	MailboxRules
	sorter *order.Ahead[Stack]
	mark   Stack  // stands in the lane of calls while calls wait in the sorter
	marked bool   // the mark stands there
	drain  *Stack // a drain, which begins once the sorter is empty; nil: there is none
	late   queue  // calls that came after the drain
	remote Remote // gets the calls of a stand-in, in place of sorter; nil: it is none
	loss   error  // why the actor of a stand-in that has vanished is out of reach; nil: it has stopped
}

// Mailbox gives the house a mailbox by m. Only the maker of the house calls it, before others know
// the house and a worker adopts it. It panics if m is impossible.
func (h *House) Mailbox(m MailboxRules) {
	if m.Max > MailboxTop || m.Full > order.DropOldest {
		panic("stack: impossible mailbox")
	}
	if m.Max != 0 {
		h.limit = order.Limit(m.Max)
	}
	if m.Plain() && (m.Max == 0 || h.limit != order.LimitLarge) {
		return
	}
	r := &rules{MailboxRules: m}
	if m.Full == order.DropOldest {
		h.flags.Set(flags.Singles)
	}
	if m.Sort != nil {
		r.sorter = order.NewAhead(nextOf, m.Sort())
		r.mark.by = markHandler
		h.flags.Set(flags.Sorted | flags.Singles)
	}
	h.rooms().rules = r
}

// rules returns the bound of h's mailbox, math.MaxInt if there is none, and its policy. Any
// goroutine may ask.
func (h *House) rules() (bound int, full order.WhenFull) {
	var r MailboxRules
	if a := h.annex.Load(); a != nil && a.rules != nil {
		r = a.rules.MailboxRules
	}
	return r.Bound(h.limit, h.owner.Load().MailboxMax), r.Full
}

// waits returns how many calls wait. Only the owner may ask.
func (h *House) waits() int { return h.shown() + int(h.unshown) }

// shown returns how many calls wait as others than the owner see it. Any goroutine may ask.
func (h *House) shown() int { return h.flags.Now().Calls() }

// Queued returns how many calls wait in h, held ones too: a router chooses by it. The caller runs
// the turn of w, or is a guest, with nil. If w owns h the number is exact. Otherwise it is that of
// the last visit, and what others than the owner have sent since.
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

// takes reports whether h, whose flags are bits, has not stopped and has room for n more calls.
func (h *House) takes(bits flags.Word, n int) bool {
	return bits&flags.Stopped == 0 && (bits.Calls()+n <= int(h.limit) || h.fits(n))
}

// closed reports whether h, of the caller's worker, has stopped or is at its limit. Then room says
// whether it takes a call all the same.
func (h *House) closed() bool {
	bits := h.flags.Now()
	return bits&flags.Stopped != 0 || bits.Calls()+int(h.unshown) >= int(h.limit)
}

// point is a scheduling point for the explorer, if h has a limit.
func (h *House) point(name string) {
	if h.limit != order.LimitLarge {
		invariant.Point(name)
	}
}

// fits is the rest of takes, for a house at its limit: whether there is room for n more calls by
// its exact bound and policy.
//
//go:noinline
func (h *House) fits(n int) bool {
	bound, full := h.rules()
	if full == order.DropOldest && bound < math.MaxInt {
		bound *= 2 // the owner drops the excess when it drains the inbox
	}
	return h.shown()+n <= bound
}

// markHandler is the handler of a sorted house's mark. The mark stands in the lane of calls as long
// as calls wait in the Mailbox, so that all code sees a house with calls in its lane.
var markHandler = &Handler{Title: "mark of a mailbox"}
