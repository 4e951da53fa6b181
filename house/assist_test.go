package house

import (
	"context"
	"testing"

	"github.com/stackhouse-go/stackhouse/stack"
)

// teller passes on what it is told, after some time.
type teller struct {
	now   *int64
	takes int64 // ns
	to    *stack.House
	heard int
}

func (a *teller) hear(s *notice) stack.Yield {
	a.heard++
	*a.now += a.takes
	if a.to != nil {
		n := s.Engine().Begin(tellerHear)
		*stack.Message[int](n) = s.Msg
		s.Engine().Push(a.to, n)
	}
	return s.Return()
}

var tellerHear *stack.Handler

func init() { tellerHear = newNotice((*teller).hear) } // which hear refers to

// TestAssistsUnlessSlow: a turn runs the turn of the parked worker to which it has sent, and what
// comes back. Behind a slow one the other is woken at once, so many times: two that take long
// share the CPUs all but once in 17.
func TestAssistsUnlessSlow(t *testing.T) {
	now := int64(1000)
	s, err := New(Config{Workers: 2, Manual: true, Clock: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.workers[0], s.workers[1]
	settle := func(w *Worker, actor *teller) *stack.House {
		h, _ := stack.NewHouse(func() *teller { return actor })
		w.Register(h, nil)
		return h
	}
	back := &teller{now: &now}
	far := &teller{now: &now, to: settle(a, back)}
	near := &teller{now: &now, to: settle(b, far)}
	door := settle(a, near)
	turn := func() (woken bool) {
		t.Helper()
		if !b.hot.Park() {
			t.Fatal("mail is left")
		}
		msg := 1
		// mostly in an envelope, with which the house rests
		stack.Tell(&s.guests, door, tellerHear, &msg)
		a.Turn()
		if woken = b.hot.Woken(); woken {
			b.Turn()
			a.Turn()
		}
		b.hot.Unpark()
		if back.heard != near.heard {
			t.Fatalf("%d messages are back, of %d", back.heard, near.heard)
		}
		return woken
	}
	want(t, "usually", turn(), false)
	near.takes = slowTurn / 2
	far.takes = slowTurn/2 - 1
	want(t, "fast enough", turn(), false)
	far.takes++
	for range 3 {
		want(t, "a slow turn", turn(), false)
		for range slowWakes {
			want(t, "behind it", turn(), true)
		}
	}
	near.takes = 0
	want(t, "a fast turn", turn(), false)
	want(t, "behind it", turn(), false)
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// doer does in its step what the test says.
type doer struct {
	do    func(w *stack.Engine)
	heard int
}

func (a *doer) hear(s *notice) stack.Yield {
	a.heard++
	a.do(s.Engine())
	return s.Return()
}

var doerHear = newNotice((*doer).hear)

// duo is two workers, the second of which is parked, with a doer each.
type duo struct {
	now      int64
	system   *System
	a, b     *Worker
	far      doer // b's
	door, to *stack.House
}

func newDuo(t *testing.T, do func(d *duo, w *stack.Engine)) *duo {
	d := &duo{now: 1000}
	var err error
	if d.system, err = New(Config{Workers: 2, Manual: true, Clock: func() int64 { return d.now }}); err != nil {
		t.Fatal(err)
	}
	d.a, d.b = d.system.workers[0], d.system.workers[1]
	d.far.do = func(*stack.Engine) {}
	d.to, _ = stack.NewHouse(func() *doer { return &d.far })
	d.b.Register(d.to, nil)
	d.door, _ = stack.NewHouse(func() *doer { return &doer{do: func(w *stack.Engine) { do(d, w) }} })
	d.a.Register(d.door, nil)
	d.b.hot.Park()
	t.Cleanup(func() {
		d.b.hot.Unpark()
		if err := d.system.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// tell sends a notice from a step, or from what else a worker does in its turn.
func tell(w *stack.Engine, to *stack.House, n int) {
	for range n {
		w.Push(to, w.Begin(doerHear))
	}
}

// TestSlowTurnThatReadsTheClock: what asks with a limit or sets a timer moves the worker's clock.
func TestSlowTurnThatReadsTheClock(t *testing.T) {
	d := newDuo(t, func(d *duo, w *stack.Engine) {
		tell(w, d.to, 1)
		d.now += slowTurn
		w.Driver.Clock()
	})
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	want(t, "handled", d.far.heard == 1, true)
	want(t, "the next is woken at once", d.a.hot.WakesLeft > 0, true)
}

// TestAssistedClock: an actor in a turn that is run by another worker knows the time, and timers
// that are due have fired.
func TestAssistedClock(t *testing.T) {
	d := newDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, 1) })
	var at int64
	d.far.do = func(w *stack.Engine) { at = w.Now }
	d.now += 1_000_000
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	want(t, "it is later", at == d.now, true)
}

// TestAssistGoesOn: what comes back may send again, a few times a turn. The next turn goes on
// with that, if the messages are brief, or come one at a time and the turn isn't slow; otherwise
// the other is woken.
func TestAssistGoesOn(t *testing.T) {
	const (
		here = assistsMax + 1 // messages of the first turn
		two  = here + 2*assistsMax
	)
	for _, c := range []struct {
		takes int64 // a message here, ns
		each  int   // messages to the other worker, of which one is answered
		goes  bool
	}{
		{0, 1, true},
		{(slowTurn - 1) / here, 1, true},
		{slowTurn / here, 1, false},
		{0, 2, true},
		{briefMessage * two / here, 2, true},
		{briefMessage*two/here + 1, 2, false},
	} {
		for trips := 1; trips <= 3*assistsMax; trips++ {
			left := trips
			d := newDuo(t, func(d *duo, w *stack.Engine) {
				d.now += c.takes
				if left > 0 {
					left--
					tell(w, d.to, c.each)
				}
			})
			d.far.do = func(w *stack.Engine) {
				if d.far.heard%c.each == 0 {
					tell(w, d.door, 1)
				}
			}
			tell(&d.a.hot, d.door, 1)
			d.a.Turn()
			want(t, "woken", d.b.hot.Woken(), !c.goes && trips > assistsMax)
			want(t, "made some trips", d.far.heard == min(trips, assistsMax)*c.each, true)
			if c.takes > 0 {
				continue
			}
			for made := assistsMax; made < trips; made += assistsMax {
				want(t, "is to turn again", d.a.NextWake() == 0, true)
				want(t, "busy", d.a.Turn(), true)
				want(t, "woken later", d.b.hot.Woken(), false)
				want(t, "made more trips", d.far.heard == min(trips, made+assistsMax)*c.each, true)
			}
			want(t, "busy when all is done", d.a.Turn(), false)
		}
	}
}

// TestAssistIsPutOff: what a turn has to do before it goes on assisting wakes the other: at its
// beginning, or left by the one before.
func TestAssistIsPutOff(t *testing.T) {
	for trips := range assistsMax + 1 { // before there is more to do
		var busy *stack.House
		waits := false // for it to be woken before the step
		d := newDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, 1) })
		d.far.do = func(w *stack.Engine) {
			tell(w, d.door, 1)
			if d.far.heard == trips {
				tell(w, busy, 3*turnMax)
			}
		}
		busy, _ = stack.NewHouse(func() *doer {
			return &doer{do: func(w *stack.Engine) {
				if waits {
					waits = false
					want(t, "woken before the step", d.b.hot.Woken(), true)
				}
			}}
		})
		d.a.Register(busy, nil)
		tell(&d.a.hot, d.door, 1)
		d.a.Turn()
		want(t, "woken", d.b.hot.Woken(), trips > 0)
		if trips == 0 {
			tell(&d.a.hot, busy, 1)
			waits = true
			d.a.Turn()
			want(t, "done", waits, false)
		}
	}
}

// TestAssistIsShort: a worker handles so much for another one, and then wakes it.
func TestAssistIsShort(t *testing.T) {
	for _, n := range []int{assistMax, assistMax + 1, 3 * assistMax} {
		d := newDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, n) })
		d.a.hot.Budget = 1
		d.b.hot.Budget = 1 // a message a visit, so that a turn ends in time
		tell(&d.a.hot, d.door, 1)
		d.a.Turn()
		want(t, "woken", d.b.hot.Woken(), n > assistMax)
		want(t, "handled so many", d.far.heard == min(n, assistMax), true)
		d.b.hot.Unpark()
		for range 4 {
			d.b.Turn()
		}
		want(t, "handled", d.far.heard == n, true)
	}
}

// TestWhoHasMoreToDoWakes: a turn that leaves something to do doesn't assist.
func TestWhoHasMoreToDoWakes(t *testing.T) {
	for _, n := range []int{turnMax, turnMax + 1} {
		d := newDuo(t, func(d *duo, w *stack.Engine) { tell(w, d.to, 1) })
		d.a.hot.Budget = 1
		others, _ := stack.NewHouse(func() *doer { return &doer{do: func(*stack.Engine) {}} })
		d.a.Register(others, nil)
		tell(&d.a.hot, d.door, 1)
		tell(&d.a.hot, others, n-1)
		d.a.Turn()
		want(t, "woken", d.b.hot.Woken(), n > turnMax)
		for d.a.Turn() {
		}
	}
}

// TestDeferredWorkWakes: what the end of a turn sends to a parked worker finds nobody who assists.
func TestDeferredWorkWakes(t *testing.T) {
	d := newDuo(t, nil)
	d.a.hot.Defer(&stack.Deferred{Run: func(*stack.Deferred) { tell(&d.a.hot, d.to, 1) }})
	d.a.Turn()
	want(t, "woken", d.b.hot.Woken(), true)
}

// TestWhatIsReadyLeavesFirst: deferred work, such as writing results, doesn't wait for another
// worker's turn.
func TestWhatIsReadyLeavesFirst(t *testing.T) {
	written := false
	d := newDuo(t, func(d *duo, w *stack.Engine) {
		tell(w, d.to, 1)
		w.Defer(&stack.Deferred{Run: func(*stack.Deferred) { written = true }})
	})
	d.far.do = func(*stack.Engine) { want(t, "written", written, true) }
	tell(&d.a.hot, d.door, 1)
	d.a.Turn()
	want(t, "handled", d.far.heard == 1, true)
}

// TestAssistingIsNoMail: what a worker has brought back itself doesn't make its spinning pay.
func TestAssistingIsNoMail(t *testing.T) {
	replies := 0
	d := newDuo(t, func(d *duo, w *stack.Engine) {
		if replies++; replies == 1 {
			tell(w, d.to, 1)
		}
	})
	d.far.do = func(w *stack.Engine) { tell(w, d.door, 1) }
	d.a.hot.Heard = true
	want(t, "it listens", !d.a.Turn() && d.a.spinning() && d.a.listens, true)
	tell(&d.a.hot, d.door, 1) // as the network does
	want(t, "there is something to do", d.a.Turn(), true)
	want(t, "an answer came", replies == 2, true)
	d.a.resume()
	want(t, "it was in vain", d.a.skips > 0, true)
	want(t, "but it had heard of others", d.a.hot.Heard, true)
}
