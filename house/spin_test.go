package house

import (
	"context"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// pass is what the loop does in a pass without parking: it reports whether it
// would look again.
func (w *Worker) pass(t *testing.T) bool {
	t.Helper()
	w.hot.Heard = true
	w.timely = false // the test moves the clock between passes
	if w.Turn() {
		w.resume()
		return true
	}
	return w.spinning()
}

func want(t *testing.T, what string, got, want bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestLongSpinners: all workers spin for 5 µs, all but one beyond. One that finds
// work leaves its place before it does the work.
func TestLongSpinners(t *testing.T) {
	now := int64(1000)
	places := int32(-1) // that were taken during the last message
	var s *System
	s, err := New(Config{Workers: 3, Manual: true, Spin: 20 * time.Microsecond, Clock: func() int64 { return now },
		Trace: func(int, uint64, string, uint64) { places = s.longSpinners.Load() }})
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := s.workers[0], s.workers[1], s.workers[2]
	h, _ := stack.NewHouse(func() *int { return new(int) })
	a.Register(h, nil)

	for _, at := range []int64{1000, 1001, 1000 + shortSpin - 1} {
		now = at
		for _, w := range s.workers {
			want(t, "at first all spin", w.pass(t), true)
		}
	}
	now = 1000 + shortSpin
	want(t, "the first beyond", b.pass(t), true)
	want(t, "the second", a.pass(t), true)
	want(t, "the third, who is last", c.pass(t), false)
	want(t, "once more", b.pass(t), true)

	h.Stop(&s.guests)
	want(t, "with work", a.pass(t), true)
	if places != 1 {
		t.Errorf("%d workers spun while one of two worked, want 1", places)
	}
	want(t, "there is a place", c.pass(t), true)
	want(t, "who worked begins anew", a.pass(t), true)
	now += shortSpin
	want(t, "and is last now", a.pass(t), false)

	now += int64(20*time.Microsecond) - 2*shortSpin
	want(t, "at the end of Spin", b.pass(t), false)
	now = b.trimAt // it is time to trim pools, which keeps park from blocking
	b.park()
	if n := s.longSpinners.Load(); n != 1 {
		t.Errorf("%d workers spin after one of two has parked, want 1", n)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestWorkerAloneIsLast: with one worker nobody spins beyond 5 µs.
func TestWorkerAloneIsLast(t *testing.T) {
	now := int64(1000)
	s, err := New(Config{Workers: 1, Manual: true, Spin: time.Second, Clock: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	w := s.workers[0]
	want(t, "at once", w.pass(t), true)
	now += shortSpin - 1
	want(t, "before 5 µs", w.pass(t), true)
	now++
	want(t, "at 5 µs", w.pass(t), false)
}

// TestSpinsForTimer: a worker to whom nobody spoke doesn't park for a timer that is due within
// Spin, and parks for a later one.
func TestSpinsForTimer(t *testing.T) {
	for _, c := range []struct {
		spin time.Duration
		in   int64 // the timer is due, ns
		want bool
	}{
		{0, 19_000, true}, // 20 µs by default
		{0, 20_000, true},
		{0, 20_001, false},
		{40 * time.Microsecond, 39_000, true},
		{-1, 1_000, false},
	} {
		now := int64(1000)
		s, err := New(Config{Workers: 2, Manual: true, Spin: c.spin, Clock: func() int64 { return now }})
		if err != nil {
			t.Fatal(err)
		}
		w := s.workers[0]
		want(t, "without a timer", w.Turn() || w.spinning(), false)
		w.idleAt = 0
		n := &future.Node{When: now + c.in}
		w.hot.Driver.Arm(n)
		want(t, "at once", w.Turn() || w.spinning(), c.want)
		now += c.in - 1
		w.timely = false
		want(t, "just before it is due", w.Turn() || w.spinning(), c.want)
		w.hot.Driver.Disarm(n)
	}
}

// TestSpinningInVain: who spins in vain pauses, for longer each time; who finds something, doesn't.
func TestSpinningInVain(t *testing.T) {
	now := int64(1000)
	s, err := New(Config{Workers: 2, Manual: true, Clock: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	w := s.workers[0]
	h, _ := stack.NewHouse(func() *int { return new(int) })
	w.Register(h, nil)
	idles := func() (spins bool) { // until it would park
		now += 1_000
		if spins = w.pass(t); spins {
			now += int64(20 * time.Microsecond)
			want(t, "at the end of Spin", w.pass(t), false)
		}
		w.idleAt = 0 // as park does
		w.stopSpinning()
		return spins
	}
	for _, pause := range []int{1, 3, 7, 15, 15} {
		want(t, "to begin with", idles(), true)
		for range pause {
			want(t, "in a pause", idles(), false)
		}
	}
	want(t, "after the last pause", w.pass(t), true)
	h.Stop(&s.guests)
	want(t, "with work", w.pass(t), true)
	for range 2 {
		want(t, "when spinning paid", w.pass(t), true)
		w.hot.Heard = true
		w.resume()
	}
	want(t, "before the network brings something", w.pass(t), true)
	w.resume()
	for range 3 {
		want(t, "behind what would have woken it", w.pass(t), false)
		w.idleAt = 0
	}
	want(t, "then", w.pass(t), true)
}

// TestYieldTakesTime: behind a yield the clock is read again.
func TestYieldTakesTime(t *testing.T) {
	now := int64(yieldEvery)
	s, err := New(Config{Workers: 1, Manual: true, Clock: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	w := s.workers[0]
	want(t, "it spins", w.pass(t), true)
	w.yield()
	now += 3_000_000
	w.Turn()
	want(t, "the time of the turn", w.began == now, true)
	yielded := w.yieldedAt
	want(t, "even a worker alone yields", yielded == yieldEvery, true)
	w.yield()
	want(t, "not again at once", w.yieldedAt == yielded, true)
}

// TestVainWakes: a wake-up behind which there is nothing to do is counted, and no other turn.
func TestVainWakes(t *testing.T) {
	w := &Worker{}
	for _, busy := range []bool{false, true, false} {
		w.woken = true
		w.heedWake(busy)
		if w.woken {
			t.Error("the next turn follows a wake-up too")
		}
	}
	w.hot.Count.Publish()
	if n := w.Stats().VainWakes; n != 2 {
		t.Errorf("%d wake-ups in vain, want 2", n)
	}
}

// TestLentTurnsAreNotHeard: mail that others handle in a worker's stead says nothing of what it
// will hear itself.
func TestLentTurnsAreNotHeard(t *testing.T) {
	d := newDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, 1) })
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	want(t, "handled", d.far.heard == 1, true)
	want(t, "heard", d.b.hot.Heard, false)
}

// TestLentTurnsThatLeaveSomething: who has more to do than a borrower does goes on listening.
func TestLentTurnsThatLeaveSomething(t *testing.T) {
	d := newDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, 3*assistMax) })
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	want(t, "woken", d.b.hot.Woken(), true)
	want(t, "heard", d.b.hot.Heard, true)
	d.b.hot.Unpark()
	for d.b.Turn() {
	}
}

// TestYieldWakes: who is left parked for the next turn to assist doesn't wait for what others do
// with the processor.
func TestYieldWakes(t *testing.T) {
	d := newDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, 1) })
	d.far.do = func(w *stack.Engine) { tell(w, d.door, 1) }
	d.now = yieldEvery
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	want(t, "woken", d.b.hot.Woken(), false)
	d.a.yield()
	want(t, "woken by the yield", d.b.hot.Woken(), true)
}
