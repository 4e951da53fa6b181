package wheel

import (
	"math"
	"math/rand"
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/future"
)

const (
	second = int64(1e9)
	year   = 365 * 24 * 3600 * second
)

// whens returns the times of a chain.
func whens(n *future.Node) (all []int64) {
	for ; n != nil; n = n.Next {
		all = append(all, n.When)
	}
	return all
}

func TestG12NeverEarlyNorLate(t *testing.T) {
	for _, begin := range []int64{0, 1, 1<<19 - 1, 1 << 36, year} {
		for _, d := range []int64{0, 1, 63, 64, 65, 1 << 19, second, 3600 * second, year, 100 * year} {
			var w Wheel
			var n future.Node
			w.Init(begin)
			w.Arm(&n, begin+d)
			if at, ok := w.Next(); !ok || at != begin+d {
				t.Errorf("at %d, delay %d: Next = %d, %v", begin, d, at, ok)
			}
			if early := w.Advance(begin + d - 1); early != nil {
				t.Errorf("at %d, delay %d: returned one nanosecond early", begin, d)
			}
			if at, ok := w.Next(); d > 0 && (!ok || at != begin+d) {
				t.Errorf("at %d, delay %d: one nanosecond before, Next = %d, %v", begin, d, at, ok)
			}
			if w.Advance(begin+d) != &n || n.Armed() || w.Len() != 0 {
				t.Errorf("at %d, delay %d: not returned in time", begin, d)
			}
		}
	}
}

func TestTiesInOrderOfArming(t *testing.T) {
	var w Wheel
	w.Init(0)
	nodes := make([]future.Node, 5)
	for i := range nodes {
		w.Arm(&nodes[i], second) // each from closer, hence from another level
		w.Advance(second - second>>(6*i))
	}
	n := w.Advance(second)
	for i := range nodes {
		if n != &nodes[i] {
			t.Fatalf("place %d: wrong node", i)
		}
		n = n.Next
	}
}

func TestPastIsThePresent(t *testing.T) {
	var w Wheel
	w.Init(1000)
	var past, present, ahead future.Node
	w.Arm(&ahead, 1001)
	w.Arm(&present, 1000)
	w.Arm(&past, math.MinInt64)
	if at, ok := w.Next(); !ok || at != 1000 {
		t.Errorf("Next = %d, %v, want the wheel's time", at, ok)
	}
	if w.Advance(999) != nil {
		t.Error("an earlier time returned nodes")
	}
	if n := w.Advance(1000); n != &present || n.Next != &past || past.Next != nil || past.When != math.MinInt64 {
		t.Errorf("Advance = %v, want the two that are due, by arming", whens(n))
	}
	if w.Advance(1001) != &ahead {
		t.Error("the future did not come")
	}
}

// A parked worker sleeps until Next. Nodes that were cancelled may wake it in
// vain, but boundedly; none that stayed is late.
func TestSleepUntilNext(t *testing.T) {
	for seed := range int64(50) {
		r := rand.New(rand.NewSource(seed))
		var w Wheel
		now := r.Int63n(year)
		w.Init(now)
		nodes := make([]future.Node, 300)
		for i := range nodes {
			w.Arm(&nodes[i], now+r.Int63n(1<<(10+r.Intn(45))))
		}
		for i := range 200 {
			w.Cancel(&nodes[i])
		}
		wakes := 0
		for w.Len() > 0 {
			at, _ := w.Next()
			wakes++
			for n := w.Advance(at); n != nil; n = n.Next {
				if n.When != at {
					t.Fatalf("seed %d: node of %d came at %d", seed, n.When, at)
				}
			}
		}
		if wakes > 100*levels {
			t.Fatalf("seed %d: %d wakes for 100 timers", seed, wakes)
		}
	}
}

func TestNextIsExactWithoutCancel(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var w Wheel
	w.Init(0)
	nodes := make([]future.Node, 1000)
	for i := range nodes {
		w.Arm(&nodes[i], r.Int63n(year))
	}
	for w.Len() > 0 {
		if at, _ := w.Next(); w.Advance(at-1) != nil || w.Advance(at) == nil {
			t.Fatalf("at %d: not the earliest", at)
		}
	}
}

func TestG12MillionTimers(t *testing.T) {
	const many = 1_000_000
	r := rand.New(rand.NewSource(1))
	var w Wheel
	w.Init(0)
	nodes := make([]future.Node, many)
	for i := range nodes {
		w.Arm(&nodes[i], r.Int63n(120*second))
	}
	for i := 0; i < many; i += 2 {
		w.Cancel(&nodes[i])
	}
	fired, last := 0, int64(0)
	now := int64(0)
	for w.Len() > 0 {
		now += second / 100
		if now > 60*second {
			now += 100 * year // and the rest in one jump over a century
		}
		for n := w.Advance(now); n != nil; n = n.Next {
			if n.When < last || n.When > now {
				t.Fatalf("node of %d after that of %d, at %d", n.When, last, now)
			}
			last = n.When
			fired++
		}
	}
	if fired != many/2 {
		t.Fatalf("%d fired, want %d", fired, many/2)
	}
}

func TestInit(t *testing.T) {
	var w Wheel
	var n future.Node
	w.Init(5)
	if _, ok := w.Next(); ok || w.Advance(math.MaxInt64) != nil {
		t.Error("an empty wheel has nodes")
	}
	w.Init(7) // it is empty: allowed, and time starts again
	w.Arm(&n, 8)
	if at, ok := w.Next(); !ok || at != 8 {
		t.Errorf("Next = %d, %v after Init", at, ok)
	}
	panics(t, "Init in use", func() { w.Init(0) })
	panics(t, "Init before time began", func() { new(Wheel).Init(-1) })
}

func TestMisuse(t *testing.T) {
	var w, other Wheel
	w.Init(0)
	other.Init(0)
	var n, lone future.Node
	panics(t, "Cancel of an unarmed node", func() { w.Cancel(&n) })
	w.Arm(&n, 5)
	panics(t, "Arm of an armed node", func() { w.Arm(&n, 6) })
	panics(t, "Cancel in another wheel", func() { other.Cancel(&n) })
	w.Advance(5)
	panics(t, "Cancel of a returned node", func() { w.Cancel(&n) })
	var q future.Queue
	q.Push(&lone)
	panics(t, "Arm of a queued node", func() { w.Arm(&lone, 6) })
	panics(t, "Cancel of a queued node", func() { w.Cancel(&lone) })
}

func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}

func TestNoMallocs(t *testing.T) {
	var w Wheel
	w.Init(0)
	nodes := make([]future.Node, 1000)
	now := int64(0)
	least := uint64(math.MaxUint64)
	for range 3 { // others may allocate meanwhile: the least of three tries counts
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range 1_000_000 {
			n := &nodes[i%len(nodes)]
			if n.Armed() {
				w.Cancel(n)
			}
			w.Arm(n, now+int64(i%7)*second/100)
			if i%50 == 0 {
				now += second / 1000
				w.Advance(now)
				w.Next()
			}
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least != 0 {
		t.Errorf("%d mallocs in a million operations", least)
	}
}
