//go:build explore

package house

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/explore"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack"
)

// protocols are the scenarios by which the explorer drives turns as they ship, with the wheel
// and assisting: what the scenarios of package stack have of their own.
var protocols = []struct {
	name string
	run  func(s *stage)
}{
	{"alarm", exploreAlarm},   // worker.go: Lend, NextWake
	{"assist", exploreAssist}, // worker.go: assist
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
	now   int64
	bells []*bell
}

// bell is a worker's driver, whose Wake is heard by parked.
type bell struct {
	*driver
	s    *stage
	rung bool
}

func (b *bell) Wake() {
	b.s.Point("bell.ring")
	b.rung = true
}

func (s *stage) workers(n int) {
	s.now = 1000
	var err error
	s.System, err = New(Config{Workers: n, Manual: true, OffloadQueue: 1, Clock: func() int64 { return s.now }})
	if err != nil {
		s.Fail("%v", err)
	}
	for _, w := range s.System.workers {
		b := &bell{driver: (*driver)(w), s: s}
		w.hot.Driver = b
		s.bells = append(s.bells, b)
	}
}

// start has every worker turn, and park as Worker.park does, until over holds.
func (s *stage) start(over func() bool) {
	for i, w := range s.System.workers {
		s.Go(fmt.Sprint("worker ", i), func() {
			for !over() {
				if !w.Turn() {
					s.park(w, s.bells[i], over)
				}
			}
		})
	}
}

func (s *stage) park(w *Worker, b *bell, over func() bool) {
	ns := w.NextWake()
	if ns == 0 {
		return
	}
	until := s.now + ns
	if w.hot.Park() {
		s.Await("bell.wait", func() bool { return b.rung || s.now >= until || over() })
		b.rung = false
	}
	for !w.hot.Unpark() {
		s.Await("bell.wanted", func() bool { return b.rung })
		b.rung = false
	}
	w.hot.Now = s.now
}

// sleeper answers after a while.
type sleeper struct{}

type sleeperStack struct {
	stack.AskStack[int, int]
	f stack.Future[struct{}]
}

func (*sleeper) asked(s *sleeperStack) stack.Yield {
	s.Alarm(s.f.Promise(), int64(s.Req), 0)
	return stack.Suspend(s, (*sleeper).awake)
}

func (*sleeper) awake(s *sleeperStack) stack.Yield { return s.Return(s.Req) }

var sleeperAsk = stack.NewAsk((*sleeper).asked)

// A guest's borrowed turn sets an alarm, for earlier than the parked worker would wake: that
// sleeps anew, and the guest gets its answer when the time has come.
func exploreAlarm(s *stage) {
	s.workers(1)
	h, _ := stack.NewHouse(func() *sleeper { return &sleeper{} })
	w := s.System.workers[0]
	w.Settle(h, nil)
	asking := true
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
		asking = false
	})
	s.Go("time", func() {
		s.Await("time.passes", func() bool { return w.wheel.Len() > 0 })
		s.now += 600
	})
	s.start(func() bool { return !asking })
}

// relay passes on what it is told, after some time, less one, until that is nothing.
type relay struct {
	s     *stage
	takes int64 // ns
	to    *stack.House
	heard int
}

func (a *relay) hear(s *stack.NoticeStack[int]) stack.Yield {
	a.heard++
	a.s.now += a.takes
	if s.Msg > 0 {
		n := s.Worker().Begin(relayHear)
		*stack.Message[int](n) = s.Msg - 1
		s.Worker().Push(a.to, n)
	}
	return s.Return()
}

var relayHear *stack.Handler

func init() { relayHear = stack.NewNotice((*relay).hear) } // which hear refers to

// A message goes to and fro between two workers, one time more than a turn assists: the one runs the
// turn of the other, or wakes it, always if its turns are slow.
func exploreAssist(s *stage) {
	s.workers(2)
	here, there := &relay{s: s}, &relay{s: s}
	if s.Choose(2) == 1 {
		here.takes = slowTurn
	}
	there.to, _ = stack.NewHouse(func() *relay { return here })
	here.to, _ = stack.NewHouse(func() *relay { return there })
	s.System.workers[0].Settle(there.to, nil)
	s.System.workers[1].Settle(here.to, nil)
	s.Go("guest", func() {
		times := 2 * (assistsMax + 1)
		stack.Tell(&s.guests, there.to, relayHear, &times)
	})
	s.start(func() bool { return here.heard+there.heard == 2*(assistsMax+1)+1 })
}
