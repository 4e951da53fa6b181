package order

import "math"

// Rules are the bound, the policy and the order of one mailbox. The zero Rules are those of the
// worker on which its actor is.
type Rules[C any] struct {
	Max  int               // how many calls may wait; 0: as the worker says; negative: any number
	Full WhenFull          // the policy
	Sort func() Mailbox[C] // makes the Mailbox that orders the calls; nil: first come, first served
}

// LimitLarge is the Limit of mailboxes whose bound is as great, or that have no bound.
const LimitLarge = math.MaxUint16

// Limit returns a bound as a number in two bytes; a bound of 0, or less, is none.
func Limit(bound int) uint16 {
	if bound <= 0 || bound >= LimitLarge {
		return LimitLarge
	}
	return uint16(bound)
}

// Plain reports whether the mailbox rejects what it has no room for, in order of arrival.
func (r *Rules[C]) Plain() bool { return r.Full == Reject && r.Sort == nil }

// Bound returns how many calls may wait, math.MaxInt if there is no bound. limit is the mailbox's
// Limit, and worker is the worker's bound.
func (r *Rules[C]) Bound(limit uint16, worker int) int {
	bound := r.Max
	switch {
	case bound != 0:
	case limit != LimitLarge:
		bound = int(limit)
	default:
		bound = worker
	}
	if bound <= 0 {
		return math.MaxInt
	}
	return bound
}
