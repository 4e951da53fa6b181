package wheel

import (
	"math/bits"

	"github.com/stackhouse-go/stackhouse/future"
)

const (
	digitBits = 6              // so that a level's occupied slots are the bits of one word
	digits    = 1 << digitBits // slots of a level
	levels    = 11             // 11 digits are 66 bits: any int64 fits
)

// Wheel holds the armed nodes of one worker, which alone may use it. It is embedded by value, is
// useful after Init and must not be copied. About 17 KiB.
type Wheel struct {
	now    int64 // the latest time passed to it
	armed  int
	inUse  uint64 // bit l: level l has nodes
	filled [levels]uint64
	slots  [levels * digits]slot

	// Invariant: bit d of filled[l] is set if and only if slot l*digits+d has nodes.
	// Invariant: a node due at t is on the level of the highest digit in which t and now
	// differ (level 0 if none), in the slot of that digit of t. Hence t >= now, no slot
	// of level l > 0 contains now, and two nodes due at the same time share a slot.
}

// slot is the nodes of one range of time, in the order in which they were armed.
type slot struct {
	head, tail *future.Node
	min        int64 // while there are nodes: none is due earlier. Exact until a Cancel
}

// Init empties w and sets its time, ns. It panics if nodes are armed, or now is negative.
func (w *Wheel) Init(now int64) {
	if w.armed != 0 || now < 0 {
		panic("wheel: Init of a wheel in use, or with a negative time")
	}
	*w = Wheel{now: now}
}

// Len returns the number of armed nodes.
func (w *Wheel) Len() int { return w.armed }

// Arm puts n, which must stand in no wheel and no queue, into w, to be due at when. If when is
// before the wheel's time, n is due at the next Advance, as if when were the wheel's time; n.When
// is when in any case.
//
//alloc:none
func (w *Wheel) Arm(n *future.Node, when int64) {
	if n.Slot != 0 {
		refuseArm()
	}
	n.When = when
	w.armed++
	w.link(n, max(when, w.now))
}

// Cancel takes n out of w. It panics if n isn't in w.
//
//alloc:none
func (w *Wheel) Cancel(n *future.Node) {
	i := uint(n.Slot) - 1
	if i >= uint(len(w.slots)) {
		refuseCancel()
	}
	s := &w.slots[i]
	before, after := &s.head, &s.tail // the pointers to n
	if n.Prev != nil {
		before = &n.Prev.Next
	}
	if n.Next != nil {
		after = &n.Next.Prev
	}
	if *before != n || *after != n {
		refuseCancel()
	}
	*before, *after = n.Next, n.Prev
	if s.head == nil {
		w.unmark(i)
	}
	n.Prev, n.Next, n.Slot = nil, nil, 0
	w.armed--
}

// Advance sets the wheel's time to now and removes all nodes that are due: those with When <= now.
// It returns them chained through Next, with Prev nil and Slot 0, ordered by When and among equals
// by arming. A node armed late is ordered by the wheel's time at its arming, in place of When. The
// nodes belong to the caller: they are no longer armed, Cancel refuses them, and arming one
// overwrites its Next. If now is before the wheel's time, nothing is due.
//
//alloc:none
func (w *Wheel) Advance(now int64) *future.Node {
	var head, tail *future.Node
	for w.inUse != 0 {
		i := w.first()
		if w.start(i) > now {
			break // nor does any other slot begin by now, so setting the time breaks no invariant
		}
		s := &w.slots[i]
		first, last := s.head, s.tail
		s.head, s.tail = nil, nil
		w.unmark(i)
		if i >= digits {
			w.spread(first, min(now, s.min))
			continue
		}
		if tail == nil {
			head = first
		} else {
			tail.Next = first
		}
		tail = last
		for n := first; n != nil; n = n.Next {
			n.Prev, n.Slot = nil, 0
			w.armed--
		}
	}
	w.now = max(w.now, now)
	return head
}

// Next returns a time by which to call Advance; ok is false if nothing is armed. The time is
// exactly the earliest due time, or earlier if a node was cancelled that shared a slot with the
// first one. Advancing to it makes the next answer closer: a caller that sleeps until Next is never
// late, and wakes in vain at most once a level for each node.
//
//alloc:none
func (w *Wheel) Next() (when int64, ok bool) {
	if w.inUse == 0 {
		return 0, false
	}
	return w.slots[w.first()].min, true
}

// link appends n to the slot that its due time t >= w.now has at the present time.
func (w *Wheel) link(n *future.Node, t int64) {
	l := uint(bits.Len64(uint64(t^w.now)|1)-1) / digitBits
	d := uint(t>>(l*digitBits)) % digits
	w.inUse |= 1 << l
	w.filled[l] |= 1 << d
	i := l*digits + d
	s := &w.slots[i]
	n.Prev, n.Next, n.Slot = s.tail, nil, int32(i)+1
	if s.tail == nil {
		s.head, s.min = n, t
	} else {
		s.tail.Next = n
		s.min = min(s.min, t)
	}
	s.tail = n
}

// spread moves the chain at n, all nodes of the wheel's first slot, to lower levels, after setting
// the time to base. base is within the slot's range, as the invariant wants, and as late as
// possible, so that near nodes go straight to their last slot: it is the least due time, or now if
// that is earlier. A node's When is its due time here, as a node armed late is on level 0 from the
// start.
func (w *Wheel) spread(n *future.Node, base int64) {
	w.now = base
	for n != nil {
		next := n.Next
		w.link(n, n.When)
		n = next
	}
}

// first returns the index of the earliest slot that has nodes. The wheel must have some.
func (w *Wheel) first() uint {
	l := uint(bits.TrailingZeros64(w.inUse))
	return l*digits + uint(bits.TrailingZeros64(w.filled[l]))
}

// start returns the time at which slot i begins: its digits are those of the present time above the
// slot's level, then the slot's own, then zeros.
func (w *Wheel) start(i uint) int64 {
	l, d := i/digits, i%digits
	above := ^int64(0) << ((l + 1) * digitBits) // 0 on the top level, which has none above
	return w.now&above | int64(d)<<(l*digitBits)
}

// unmark clears the bits of slot i, which has just become empty.
func (w *Wheel) unmark(i uint) {
	l := i / digits
	w.filled[l] &^= 1 << (i % digits)
	if w.filled[l] == 0 {
		w.inUse &^= 1 << l
	}
}

//go:noinline
func refuseArm() { panic("wheel: Arm of a node that is already armed or queued") }

//go:noinline
func refuseCancel() { panic("wheel: Cancel of a node that is not armed in this wheel") }
