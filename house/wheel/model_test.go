package wheel

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"

	"github.com/stackhouse-go/stackhouse/future"
)

// model is the reference: a slice, sorted when time moves.
type model struct {
	now   int64
	nodes []modelNode // in order of arming
}

type modelNode struct {
	n   *future.Node
	due int64
}

func (m *model) arm(n *future.Node, when int64) {
	m.nodes = append(m.nodes, modelNode{n, max(when, m.now)})
}

func (m *model) cancel(n *future.Node) {
	m.nodes = slices.DeleteFunc(m.nodes, func(x modelNode) bool { return x.n == n })
}

func (m *model) advance(now int64) (due []*future.Node) {
	byDue := slices.Clone(m.nodes)
	slices.SortStableFunc(byDue, func(a, b modelNode) int { return cmp.Compare(a.due, b.due) })
	for _, x := range byDue {
		if x.due <= now {
			due = append(due, x.n)
		}
	}
	m.nodes = slices.DeleteFunc(m.nodes, func(x modelNode) bool { return x.due <= now })
	m.now = max(m.now, now)
	return due
}

func (m *model) earliest() int64 {
	t := int64(math.MaxInt64)
	for _, x := range m.nodes {
		t = min(t, x.due)
	}
	return t
}

// delay returns a time span of any magnitude: most are short, some are centuries,
// many end exactly at the bounds of slots, some are negative.
func delay(r *rand.Rand, most int) int64 {
	d := int64(1) << r.Intn(most)
	switch r.Intn(4) {
	case 0:
		return d
	case 1:
		return d - 1
	case 2:
		return d + r.Int63n(d)
	}
	return r.Int63n(d) - d/8
}

// later returns t+d, or the last time there is.
func later(t, d int64) int64 {
	if d > math.MaxInt64-t {
		return math.MaxInt64
	}
	return t + d
}

func TestAgainstModel(t *testing.T) {
	for seed := range int64(400) {
		against(t, seed)
	}
}

func against(t *testing.T, seed int64) {
	r := rand.New(rand.NewSource(seed))
	// Spans up to 2^most: small ones make ties and crowded slots, 62 goes to the end of time.
	most := []int{4, 12, 24, 40, 62}[seed%5]
	var w Wheel
	m := model{now: []int64{0, 1, 63, 64, 1<<42 - 1, r.Int63()}[r.Intn(6)]}
	w.Init(m.now)
	nodes := make([]future.Node, 1+r.Intn(200))
	ties := []int64{later(m.now, 100), later(m.now, 5_000), later(m.now, 1<<30)}
	for op := range 600 {
		n := &nodes[r.Intn(len(nodes))]
		switch k := r.Intn(10); {
		case k < 6 && !n.Armed():
			when := later(m.now, delay(r, most))
			if r.Intn(5) == 0 {
				when = ties[r.Intn(len(ties))]
			}
			w.Arm(n, when)
			m.arm(n, when)
			if n.When != when {
				t.Fatalf("seed %d op %d: When = %d, armed for %d", seed, op, n.When, when)
			}
		case k < 7 && n.Armed():
			w.Cancel(n)
			m.cancel(n)
			if *n != (future.Node{When: n.When}) {
				t.Fatalf("seed %d op %d: cancelled node is %+v", seed, op, *n)
			}
		case k >= 7:
			now := later(m.now, delay(r, most))
			if at, ok := w.Next(); ok && r.Intn(2) == 0 {
				now = at
			}
			compare(t, seed, op, w.Advance(now), m.advance(now))
		}
		if op%16 == 0 { // it looks at 704 slots
			check(t, &w, seed, op)
		}
		at, ok := w.Next()
		if ok != (len(m.nodes) > 0) || w.Len() != len(m.nodes) || ok && (at > m.earliest() || at < m.now) {
			t.Fatalf("seed %d op %d: Next = %d, %v, Len = %d; model has %d, earliest %d, now %d",
				seed, op, at, ok, w.Len(), len(m.nodes), m.earliest(), m.now)
		}
	}
	compare(t, seed, -1, w.Advance(math.MaxInt64), m.advance(math.MaxInt64))
	check(t, &w, seed, -1)
	if w.Len() != 0 {
		t.Fatalf("seed %d: %d nodes left at the end of time", seed, w.Len())
	}
}

// compare requires the chain at n to be want, and its nodes to be free.
func compare(t *testing.T, seed int64, op int, n *future.Node, want []*future.Node) {
	t.Helper()
	for i, x := range want {
		if n == nil {
			t.Fatalf("seed %d op %d: %d nodes returned, want %d", seed, op, i, len(want))
		}
		if n != x || n.Prev != nil || n.Slot != 0 {
			t.Fatalf("seed %d op %d: node %d is %+v, want that of %d", seed, op, i, *n, x.When)
		}
		n = n.Next
	}
	if n != nil {
		t.Fatalf("seed %d op %d: more than %d nodes returned: %+v", seed, op, len(want), *n)
	}
}

// check requires the invariants of Wheel.
func check(t *testing.T, w *Wheel, seed int64, op int) {
	t.Helper()
	count := 0
	for i := range w.slots {
		s, l := &w.slots[i], i/digits
		if (s.head != nil) != (w.filled[l]>>(i%digits)&1 != 0) || (w.filled[l] != 0) != (w.inUse>>l&1 != 0) {
			t.Fatalf("seed %d op %d: slot %d: bits and list disagree", seed, op, i)
		}
		var prev *future.Node
		for n := s.head; n != nil; prev, n = n, n.Next {
			count++
			due := max(n.When, w.now)
			level := max(0, bits.Len64(uint64(due^w.now))-1) / digitBits
			digit := int(due >> (level * digitBits) & (digits - 1))
			if n.Prev != prev || n.Slot != int32(i)+1 || i != level*digits+digit || s.min > due {
				t.Fatalf("seed %d op %d: %+v is out of place in slot %d at %d (min %d)", seed, op, *n, i, w.now, s.min)
			}
		}
		if s.tail != prev {
			t.Fatalf("seed %d op %d: slot %d: tail is not last", seed, op, i)
		}
	}
	if count != w.armed {
		t.Fatalf("seed %d op %d: %d nodes, %d armed", seed, op, count, w.armed)
	}
}
