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

// Wheel holds the armed nodes of one worker, which alone may touch it. It is
// embedded by value, is useful after Init and must not be copied. About 17 KiB.
type Wheel struct {
	now    int64 // latest time seen
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
	min        int64 // while there are nodes: none is due before. Exact until a Cancel
}

// Init empties w and sets its time. A wheel with armed nodes must not be initialised.
func (w *Wheel) Init(now int64) {
	if w.armed != 0 || now < 0 {
		panic("wheel: Init of a wheel in use, or with a negative time")
	}
	*w = Wheel{now: now}
}

// Len returns the number of armed nodes.
func (w *Wheel) Len() int { return w.armed }

// Arm puts n, which stands in no wheel and no queue, into w, to be due at when.
// A time before the wheel's is due at the next Advance, as if it were the wheel's;
// n.When is when as given.
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

// Cancel takes n, which stands in w, out of it.
//
//alloc:none
func (w *Wheel) Cancel(n *future.Node) {
	i := uint(n.Slot) - 1
	if i >= uint(len(w.slots)) {
		refuseCancel()
	}
	s := &w.slots[i]
	before, after := &s.head, &s.tail // what points at n
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

// Advance sets the wheel's time to now and removes all nodes that are due: those
// with When <= now. It returns them chained through Next, Prev nil and Slot 0,
// ordered by When and among equals by arming; where When was before the
// wheel's time at arming, that time stands for it. The nodes of the chain are
// the caller's: they are no longer armed, Cancel refuses them, and arming one
// overwrites its Next. A time before the wheel's finds nothing due.
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

// Next returns a time by which to call Advance: at or before the earliest due
// time, and exactly that unless an earlier node was cancelled that shared a slot
// with it. Advancing to it makes the next answer closer: whoever sleeps until Next
// is never late, and wakes in vain at most once a level for each node. ok is false
// if nothing is armed.
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

// spread moves the chain at n, all of what was the wheel's first slot, to lower
// levels, after setting the time to base. That is within the slot's range, as the
// invariant wants, but the later the better, because near nodes then go straight
// to where they end: hence the least due time, or now if that is earlier. When is the
// due time here: a node armed late is on level 0 from the start.
func (w *Wheel) spread(n *future.Node, base int64) {
	w.now = base
	for n != nil {
		next := n.Next
		w.link(n, n.When)
		n = next
	}
}

// first returns the index of the earliest slot that has nodes; there is one.
func (w *Wheel) first() uint {
	l := uint(bits.TrailingZeros64(w.inUse))
	return l*digits + uint(bits.TrailingZeros64(w.filled[l]))
}

// start returns the time at which slot i begins: digits above the slot's as in the
// present time, then the slot's, then zeros.
func (w *Wheel) start(i uint) int64 {
	l, d := i/digits, i%digits
	above := ^int64(0) << ((l + 1) * digitBits) // 0 on the top level, which has none above
	return w.now&above | int64(d)<<(l*digitBits)
}

// unmark clears the bits of slot i, which has become empty.
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
