//go:build explore

package house

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/explore"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/internal/turns"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// protocols are the scenarios by which the explorer drives loops as they ship: turns with the wheel
// and assisting, how they park and how they leave.
var protocols = []struct {
	name string
	run  func(s *stage)
}{
	{"alarm", exploreAlarm},   // worker.go: Borrowed, NextWake
	{"assist", exploreAssist}, // worker.go: assist
	{"leave", exploreLeave},   // loop.go: work, park, leave
}

func TestExplore(t *testing.T) { proveAll(t, 2) }

func TestExploreLong(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("takes minutes: set STACKHOUSE_LONG")
	}
	proveAll(t, 3)
}

func proveAll(t *testing.T, bound int) {
	seams := explore.Seams{Point: &invariant.AtPoint, Await: &invariant.AtAwait, Self: &invariant.AtSelf}
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			explore.Prove(t, explore.Config{Seams: seams, Bound: bound}, func(r *explore.Run) { p.run(&stage{Run: r}) })
		})
	}
}

// stage is a system whose workers are threads of an explorer.
type stage struct {
	*explore.Run
	*System
	now  int64
	told []uint64 // how many turns each worker had begun when it was told to leave
}

// bell is a worker's driver, whose Wait is for its Wake, or the clock.
type bell struct {
	*driver
	s    *stage
	rung bool
}

func (b *bell) Wake() {
	b.s.Point("bell.ring")
	b.rung = true
}

func (b *bell) Wait(ns int64, _ bool) {
	b.s.Await("bell.wait", func() bool { return b.rung || ns >= 0 && b.s.now >= b.wakeAt })
	b.rung = false
}

func (s *stage) workers(n int) {
	s.now = 1000
	var err error
	s.System, err = New(Config{Workers: n, Spin: -1, OffloadQueue: 1, Logger: slog.New(slog.DiscardHandler), Clock: func() int64 { return s.now }})
	if err != nil {
		s.Fail("%v", err)
	}
	for _, w := range s.System.workers {
		w.hot.Driver = &bell{driver: (*driver)(w), s: s}
		w.poller = new(netio.Poller) // which has nothing
	}
}

// start has every worker work until end.
func (s *stage) start() {
	for i, w := range s.System.workers {
		s.Go(fmt.Sprint("worker ", i), func() {
			defer turns.Begin().End()
			w.work()
		})
	}
}

// end has every worker leave.
func (s *stage) end() {
	for _, w := range s.System.workers {
		s.told = append(s.told, w.turns)
		w.dismiss()
	}
}

// sleeper answers after a while.
type sleeper struct{}

type sleeperStack struct {
	ask
	f stack.Future[struct{}]
}

func (*sleeper) asked(s *sleeperStack) stack.Yield {
	s.Alarm(s.f.Promise(), int64(s.Req), 0)
	return stack.Suspend(s, (*sleeper).awake)
}

func (*sleeper) awake(s *sleeperStack) stack.Yield { return s.Return(s.Req) }

var sleeperAsk = newAsk((*sleeper).asked)

// A guest's borrowed turn sets an alarm, for earlier than the parked worker would wake: that
// sleeps anew, and the guest gets its answer when the time has come.
func exploreAlarm(s *stage) {
	s.workers(1)
	h, _ := stack.NewHouse(func() *sleeper { return &sleeper{} })
	w := s.System.workers[0]
	w.Register(h, nil)
	s.Go("guest", func() {
		c := s.guests.Call(h, sleeperAsk)
		*stack.Request[int, int](c.Stack()) = 500
		if err := s.guests.Wait(context.Background(), c); err != nil {
			s.Fail("the ask failed: %v", err)
		}
		if n := *stack.Reply[int](c.Stack()); n != 500 {
			s.Fail("the answer is %d", n)
		}
		s.guests.Done(c)
		s.end()
	})
	s.Go("time", func() {
		s.Await("time.passes", func() bool { return w.wheel.Len() > 0 })
		s.now += 600
	})
	s.start()
}

// relay passes on what it is told, after some time, less one, until that is nothing.
type relay struct {
	s     *stage
	takes int64 // ns
	to    *stack.House
	heard int
}

func (a *relay) hear(s *notice) stack.Yield {
	a.heard++
	a.s.now += a.takes
	if s.Msg > 0 {
		n := s.Engine().Begin(relayHear)
		*stack.Message[int](n) = s.Msg - 1
		s.Engine().Push(a.to, n)
	} else {
		a.s.end()
	}
	return s.Return()
}

var relayHear *stack.Handler

func init() { relayHear = newNotice((*relay).hear) } // which hear refers to

// A message goes to and fro between two workers, one time more than a turn assists: the one runs
// the turn of the other, or wakes it, always if its turns are slow.
func exploreAssist(s *stage) {
	s.workers(2)
	here, there := &relay{s: s}, &relay{s: s}
	if s.Choose(2) == 1 {
		here.takes = slowTurn
	}
	there.to, _ = stack.NewHouse(func() *relay { return here })
	here.to, _ = stack.NewHouse(func() *relay { return there })
	s.System.workers[0].Register(there.to, nil)
	s.System.workers[1].Register(here.to, nil)
	s.Go("guest", func() {
		times := 2 * (assistsMax + 1)
		stack.Tell(&s.guests, there.to, relayHear, &times)
	})
	s.start()
}

// witness counts what it hears.
type witness struct{ heard int }

func (a *witness) hear(s *notice) stack.Yield { a.heard++; return s.Return() }

var witnessHear = newNotice((*witness).hear)

// A worker is told to leave while a guest tells an actor something, again and again: it leaves
// when it has done what was there, whatever comes.
func exploreLeave(s *stage) {
	s.workers(1)
	w := s.System.workers[0]
	a := &witness{}
	h, _ := stack.NewHouse(func() *witness { return a })
	w.Register(h, nil)
	accepted := 0
	s.Go("guest", func() {
		for range 3 {
			if stack.Tell(&s.guests, h, witnessHear, new(int)) == nil {
				accepted++
			}
		}
	})
	s.Go("system", s.end)
	s.start()
	s.After(func() {
		if n := w.turns - s.told[0]; n > 3 {
			s.Fail("%d turns after it was told to leave, want at most one that was under way, one for what there was, and one more", n)
		}
		if lost := int(s.Stats().DeadLetter); a.heard+lost != accepted {
			s.Fail("%d notices were heard and %d are dead letters, of %d that were accepted", a.heard, lost, accepted)
		}
		if n := s.Outstanding(); n != 0 {
			s.Fail("%d pooled objects are still out", n)
		}
	})
}
