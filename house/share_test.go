package house

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/stack"
)

// crowd is a Manual system, on a clock that stands still, whose first worker has houses with
// more to do than a turn does.
type crowd struct {
	t   *testing.T
	s   *System
	now int64
	a   *Worker
	all []*stack.House
}

func newCrowd(t *testing.T, c Config, houses int) *crowd {
	d := &crowd{t: t, now: 1000}
	c.Manual, c.Clock, c.Budget, c.MailboxMax = true, func() int64 { return d.now }, 1, -1
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	d.s, d.a = s, s.workers[0]
	for range houses {
		h, _ := stack.NewHouse(func() *doer { return &doer{do: func(*stack.Engine) {}} })
		s.register(h, nil, d.a)
		d.all = append(d.all, h)
		tell(&d.a.hot, h, 80*turnMax/houses)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// turn takes a turn of the first worker, and returns how many houses belong to it then.
func (d *crowd) turn() (n int) {
	d.a.Turn()
	for _, h := range d.all {
		if h.Owner() == &d.a.hot {
			n++
		}
	}
	return n
}

func (d *crowd) wants(what string, got, want int) {
	d.t.Helper()
	if got != want {
		d.t.Errorf("%s: %d houses, want %d", what, got, want)
	}
}

// Who finds in three turns in a row that actors have waited for ShareAfter gives half of them
// to a worker that has nothing to do.
func TestShare(t *testing.T) {
	d := newCrowd(t, Config{Workers: 2, ShareAfter: time.Millisecond}, 8)
	b := d.s.workers[1]
	d.wants("a new backlog", d.turn(), 8)
	d.now += 999_999
	for range 10 {
		d.wants("a moment too early", d.turn(), 8)
		d.now-- // what has been visited waits anew
	}
	d.now += 2_000_000
	d.wants("the first", d.turn(), 8)
	d.now += 1_000_000
	d.wants("the second", d.turn(), 8)
	d.wants("a turn without", d.turn(), 8)
	for range shareTurns + 2 {
		d.now += 1_000_000
		d.wants("nobody offers help", d.turn(), 8)
	}
	want(t, "nothing to do", b.Turn(), false)
	d.wants("help, and no backlog", d.turn(), 8)
	for range shareTurns - 1 {
		d.now += 1_000_000
		d.wants("help, and not for long a backlog", d.turn(), 8)
	}
	d.now += 1_000_000
	d.wants("help", d.turn(), 4)
	b.offerHelp()
	d.now += 1_000_000
	d.wants("a backlog for long is what comes anew", d.turn(), 4)
	b.endHelp()
	for range 5 {
		d.now += 1_000_000
		d.wants("it is offered once", d.turn(), 4)
	}
	want(t, "what was given", b.Turn(), true)
	for b.Turn() {
	}
	d.now += 1_000_000
	d.wants("it is offered again", d.turn(), 2)
}

// Nobody shares what isn't worth it, or may not move.
func TestShareNot(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		houses int
		stay   bool
		want   int
	}{
		"one house":      {Config{Workers: 2}, 1, false, 1},
		"two houses":     {Config{Workers: 2}, 2, false, 1},
		"never":          {Config{Workers: 2, ShareAfter: -1}, 8, false, 8},
		"locked threads": {Config{Workers: 2, LockThreads: true}, 8, false, 8},
		"a worker alone": {Config{Workers: 1}, 8, false, 8},
		"they stay":      {Config{Workers: 2}, 8, true, 8},
	} {
		t.Run(name, func(t *testing.T) {
			d := newCrowd(t, c.config, c.houses)
			for i := range d.all {
				if c.stay {
					d.all[i].Stay()
				}
			}
			got := 0
			for range 2 * shareTurns {
				for _, w := range d.s.workers[1:] {
					w.offerHelp()
				}
				d.now += 500_000
				got = d.turn()
			}
			d.wants("left", got, c.want)
		})
	}
}

// What waits behind something that took long, and is soon done, isn't shared; what will wait
// again is.
func TestShareNotWhatIsOver(t *testing.T) {
	const (
		turns  = 4                     // so many visit each house once
		enough = 500_000 / (turns + 1) // as the last one waits for the rest of a turn, too
	)
	for name, c := range map[string]struct {
		long int64
		took int64 // each turn behind the long one
		want int
	}{
		"brief turns":            {2_000_000, enough - 1, turns * turnMax},
		"turns as long together": {2_000_000, enough, turns*turnMax - turnMax/2},
		"a very long one":        {longWaits * 1_000_000, 0, turns*turnMax - turnMax/2},
		"not quite":              {longWaits*1_000_000 - 1, 0, turns * turnMax},
	} {
		t.Run(name, func(t *testing.T) {
			d := newCrowd(t, Config{Workers: 2, ShareAfter: time.Millisecond}, turns*turnMax)
			d.s.workers[1].Turn() // it offers help
			d.turn()
			d.now += c.long
			got := 0
			for range shareTurns + 1 {
				got = d.turn()
				d.now += c.took
			}
			d.wants("left", got, c.want)
		})
	}
}

// Each worker offers help by a bit of its own, up to 64 of them, until it has something to do.
func TestOfferHelp(t *testing.T) {
	s, err := New(Config{Workers: 66, Manual: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range s.workers {
		w.offerHelp()
		if want := uint64(1)<<min(i+1, 64) - 1; s.idle.Load() != want {
			t.Fatalf("%d workers offer help: %x, want %x", i+1, s.idle.Load(), want)
		}
	}
	s.workers[65].endHelp()
	s.workers[3].endHelp()
	s.workers[3].endHelp()
	if got := s.idle.Load(); got != ^uint64(8) {
		t.Errorf("%x", got)
	}
	for i := range 63 {
		want := i
		if i >= 3 {
			want++
		}
		if w := s.claimHelp(); w != s.workers[want] {
			t.Errorf("claim %d: worker %d, want %d", i, w.Index(), want)
		}
	}
	if s.claimHelp() != nil {
		t.Error("a claim too many")
	}
}

// napper waits for a timer from a message on.
type napper struct{ nap bool }

type napStack struct {
	notice
	f stack.Future[int]
}

func (a *napper) hear(s *napStack) stack.Yield {
	if !a.nap {
		return s.Return()
	}
	a.nap = false
	s.Alarm(s.f.Promise(), 1_000_000_000, 0)
	return stack.Suspend(s, (*napper).woke)
}

func (a *napper) woke(s *napStack) stack.Yield { return s.Return() }

var napHear = newNotice((*napper).hear)

// A step ends its goroutine, and with it the turn, in which an actor began to wait. That actor is
// given away at the beginning of the next turn: with what it waits for.
func TestShareBehindGoexit(t *testing.T) {
	d := newCrowd(t, Config{Workers: 2, ShareAfter: time.Millisecond}, 4)
	a, b := d.a, d.s.workers[1]
	n, exits := &napper{}, false
	naps, _ := stack.NewHouse(func() *napper { return n })
	d.s.register(naps, nil, a)
	for range 10 * turnMax {
		a.hot.Push(naps, a.hot.Begin(napHear))
	}
	leaver, _ := stack.NewHouse(func() *doer {
		return &doer{do: func(*stack.Engine) {
			if exits {
				exits = false
				runtime.Goexit()
			}
		}}
	})
	d.s.register(leaver, nil, a)
	tell(&a.hot, leaver, 10*turnMax)
	for range shareTurns - 1 {
		d.now += 3_000_000
		a.Turn()
	}
	b.Turn() // it offers help
	a.behind = shareTurns
	d.now += 3_000_000
	n.nap, exits, a.system.config.ShareAfter = true, true, time.Hour
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Turn()
	}()
	<-done
	if exits || n.nap {
		t.Fatal("the turn wasn't cut")
	}
	d.now += 3_000_000
	a.system.config.ShareAfter, a.behind = time.Millisecond, shareTurns
	a.Turn()
	if naps.Owner() != &b.hot {
		t.Fatal("it hasn't moved")
	}
	b.Turn()
	if a.wheel.Len() != 0 || b.wheel.Len() != 1 {
		t.Errorf("%d timers of the giver, %d of the receiver; want 0 and 1", a.wheel.Len(), b.wheel.Len())
	}
}

// asked does something in its step.
type asked struct{ do func() }

func (a *asked) answer(s *ask) stack.Yield {
	a.do()
	return s.Return(0)
}

var askedAnswer = newAsk((*asked).answer)

// Who can't be woken, as somebody runs its turn, is given nothing, and offers help again when
// that turn is over.
func TestShareWithWhoseTurnIsBorrowed(t *testing.T) {
	s, err := New(Config{Workers: 2, Manual: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.workers[0], s.workers[1]
	a.offerHelp()
	b.offerHelp()
	a.hot.Park()
	h, _ := stack.NewHouse(func() *asked {
		return &asked{func() {
			if w := s.claimHelp(); w != b {
				t.Error("the other one wasn't claimed")
			}
			if w := s.claimHelp(); w != nil {
				t.Errorf("worker %d was claimed, too", w.Index())
			}
			a.endHelp()
		}}
	})
	s.register(h, nil, a)
	c := s.guests.Call(h, askedAnswer)
	if err := s.guests.Wait(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s.guests.Done(c)
	if got := s.idle.Load(); got != 1 {
		t.Errorf("offers of help: %b, want 1", got)
	}
	a.hot.Unpark()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// Who spins for long offers help as who parks does, finds what it is given, and takes the offer
// back before it does something else.
func TestShareWithWhoSpins(t *testing.T) {
	d := newCrowd(t, Config{Workers: 2, ShareAfter: time.Millisecond, Spin: 10 * time.Millisecond}, 8)
	d.s.config.Manual = false // its workers offer help as loops do
	t.Cleanup(func() { d.s.config.Manual = true })
	b := d.s.workers[1]
	offers := func(what string, want uint64) {
		t.Helper()
		if got := d.s.idle.Load(); got != want {
			t.Errorf("%s: offers of help %b, want %b", what, got, want)
		}
	}
	spins := func() {
		t.Helper()
		want(t, "it spins", b.pass(t), true)
		offers("for a moment", 0)
		d.now += shortSpin
		want(t, "it spins on", b.pass(t), true)
		offers("for long", 2)
	}
	spins()
	for range shareTurns {
		d.now += 1_000_000
		d.turn()
	}
	offers("claimed", 0)
	d.wants("given", d.turn(), 4)
	want(t, "it is busy", b.Turn() && !b.spinsLong, true)
	b.resume()
	for b.Turn() {
	}
	spins()
	during := uint64(9)
	h, _ := stack.NewHouse(func() *doer { return &doer{do: func(*stack.Engine) { during = d.s.idle.Load() }} })
	b.Register(h, nil)
	tell(&d.a.hot, h, 1)
	d.a.hot.RunDeferred()
	want(t, "it has mail", b.Turn(), true)
	if during != 0 {
		t.Errorf("offers of help in a step: %b", during)
	}
}
