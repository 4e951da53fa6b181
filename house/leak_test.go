package house_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Mayflies have hooks, a name, a child with the same, watchers, an armed timer, stacks that wait
// for it and for the child, and a mailbox of any kind. They end in every way that there is. Half
// of them are children.

type (
	mayfly struct {
		lives *atomic.Int64 // PreStarts, less PostStops and PreRestarts
		child core.Address[mayfly]
		tick  core.Future[core.Tick]
	}
	mayflyHold struct { // waits for its own timer, and for the child, for so long
		core.AskStack[time.Duration, struct{}]
		tick  core.Future[core.Tick]
		child core.Future[struct{}]
	}
	mayflyTell struct { // the same, of a notice
		core.NoticeStack[time.Duration]
		tick core.Future[core.Tick]
	}
	mayflyReady struct{ core.AskStack[int, struct{}] }
	mayflyFail  struct{ core.NoticeStack[int] }

	// swarm spawns mayflies in steps, and watches them.
	swarm struct {
		sys   *house.System
		lives *atomic.Int64
		born  int
		gone  int // of those that it watched
	}
	swarming struct {
		core.AskStack[int, int] // answers how many holds were answered oddly
		hold                    [swarmSize]core.Future[struct{}]
		ready                   [swarmSize]core.Future[struct{}]
		all                     [swarmSize]core.Address[mayfly]
		tick                    core.Future[core.Tick]
		until                   int
	}
	swarmGone struct {
		core.NoticeStack[core.Terminated]
	}
	swarmCount struct {
		core.AskStack[int, house.Held]
	}
)

const (
	swarmSize = 60 // a multiple of the ways to end and of the kinds of mailbox
	longTime  = 10 * time.Minute
)

// The ways to end.
const (
	byStop = iota
	byDrain
	byFailure // behind a restart
	byStopWait
	byPanic
	ways
)

var (
	errAgain = errors.New("begin anew")
	errOver  = errors.New("it is over")

	mayflyEnds = &core.Strategy{Decide: core.Decide(core.Stop, core.OnIs(errAgain, core.Restart))}
	mailboxes  = []core.Mailbox{
		{}, core.Unbounded(), core.Bounded(8, core.Reject), core.Bounded(8, core.DropNewest), core.Bounded(8, core.DropOldest),
		core.ByPriority(8), core.FairBySender(8), core.Bounded(100_000, core.Reject), core.Bounded(300, core.DropOldest), core.Bounded(300, core.Reject),
	}
)

func (m *mayfly) PreStart(s *core.HookStack) core.Yield {
	m.lives.Add(1)
	if stack.Of(s).House().Parent() == nil { // no child itself
		m.child, _ = core.SpawnWith(core.Under(s), newMayfly(m.lives), core.Props{Name: "child"})
		core.Watch(s, m.child, onMayflyGone)
	}
	core.Timer.Ask(s, &m.tick, 0)
	return core.Suspend(s, (*mayfly).started)
}

func (m *mayfly) started(s *core.HookStack) core.Yield { return s.Return() }

func (m *mayfly) PostStop(s *core.HookStack) core.Yield {
	m.lives.Add(-1)
	return s.Return()
}

func (m *mayfly) hold(s *mayflyHold) core.Yield {
	core.Timer.Ask(s, &s.tick, s.Req)
	if m.child != (core.Address[mayfly]{}) {
		onMayflyHold.At(m.child).AskWithin(s, &s.child, s.Req, longTime)
	}
	return core.Suspend(s, (*mayfly).held)
}

func (m *mayfly) held(s *mayflyHold) core.Yield { return s.Return(struct{}{}) }

func (m *mayfly) tell(s *mayflyTell) core.Yield {
	core.Timer.Ask(s, &s.tick, s.Msg)
	return core.Suspend(s, (*mayfly).told)
}

func (m *mayfly) told(s *mayflyTell) core.Yield     { return s.Return() }
func (m *mayfly) ready(s *mayflyReady) core.Yield   { return s.Return(struct{}{}) }
func (m *mayfly) childGone(s *swarmGone) core.Yield { return s.Return() }
func (a *swarm) terminated(s *swarmGone) core.Yield { a.gone++; return s.Return() }
func (a *swarm) count(s *swarmCount) core.Yield     { return s.Return(house.Holds(s)) }
func newMayfly(lives *atomic.Int64) func() *mayfly {
	return func() *mayfly { return &mayfly{lives: lives} }
}

func (m *mayfly) fail(s *mayflyFail) core.Yield {
	if s.Msg == 0 {
		return s.Throw(errAgain)
	} else if s.Msg == byPanic {
		panic(errOver)
	}
	return s.Throw(errOver)
}

var (
	onMayflyHold  core.Handler[mayfly, time.Duration, struct{}]
	onMayflyTell  = core.HandleNotice((*mayfly).tell)
	onMayflyReady = core.Handle((*mayfly).ready)
	onMayflyFail  = core.HandleNotice((*mayfly).fail)
	onMayflyGone  = core.HandleNotice((*mayfly).childGone)
	onSwarm       = core.Handle((*swarm).begin)
	onSwarmGone   = core.HandleNotice((*swarm).terminated)
	onSwarmCount  = core.Handle((*swarm).count)
)

func init() { onMayflyHold = core.Handle((*mayfly).hold) } // which asks by it

// holdTime is how long a mayfly's stacks wait: to drain it is to wait for them.
func holdTime(way int) time.Duration {
	if way == byDrain {
		return time.Microsecond
	}
	return time.Hour
}

// spawnMayfly spawns the i-th.
func spawnMayfly(at core.Place, lives *atomic.Int64, name string, i int) (core.Address[mayfly], error) {
	p := core.Props{Name: name, OnFailure: mayflyEnds, Mailbox: mailboxes[i/ways%len(mailboxes)], Serial: i%7 == 0}
	return core.SpawnWith(at, newMayfly(lives), p)
}

// begin spawns, and has all of them wait for something.
func (a *swarm) begin(s *swarming) core.Yield {
	for i := range s.all {
		at := core.Place(a.sys)
		if i%2 == 0 {
			at = core.Beside(s)
		}
		a.born++
		m, err := spawnMayfly(at, a.lives, fmt.Sprintf("%d.%d", stack.Of(s).House().Serial(), a.born), i)
		if err != nil {
			return s.Throw(err)
		}
		s.all[i] = m
		core.Watch(s, m, onSwarmGone)
		onMayflyTell.At(m).Notice(s, holdTime(i%ways))
		onMayflyReady.At(m).Ask(s, &s.ready[i], 0)
		onMayflyHold.At(m).AskWithin(s, &s.hold[i], holdTime(i%ways), longTime)
	}
	s.until = a.gone + len(s.all)
	core.Timer.Ask(s, &s.tick, time.Microsecond)
	return core.SuspendAny(s, (*swarm).end)
}

// end ends them, once the timer has fired: some have started, and some haven't.
func (a *swarm) end(s *swarming) core.Yield {
	if !s.tick.Ready() {
		return core.SuspendAny(s, (*swarm).end)
	}
	for i, m := range s.all {
		switch i % ways {
		case byStop, byStopWait:
			m.Stop()
		case byDrain:
			m.Drain()
		default:
			onMayflyFail.At(m).Notice(s, 0)
			onMayflyFail.At(m).Notice(s, i%ways)
			if i%7 == 0 || i/ways%len(mailboxes) > 1 {
				m.Stop() // nothing begins in it while a stack waits, or the notice had no room
			}
		}
	}
	return core.Suspend(s, (*swarm).ended)
}

// ended waits until all are said to be gone.
func (a *swarm) ended(s *swarming) core.Yield {
	if a.gone < s.until {
		core.Timer.Ask(s, &s.tick, time.Microsecond)
		return core.Suspend(s, (*swarm).ended)
	}
	odd := 0
	for i := range s.hold {
		_, err := s.hold[i].Get()
		if err == nil && i%ways != byDrain || err != nil && !errors.Is(err, core.ErrStopped) && !errors.Is(err, core.ErrRestarted) && !errors.Is(err, core.ErrMailboxFull) {
			odd++
		}
	}
	return s.Return(odd)
}

// swarmOutside is what a swarm does, of a guest.
func swarmOutside(t *testing.T, sys *house.System, lives *atomic.Int64, name string) {
	var all [swarmSize]core.Address[mayfly]
	var held, ready [swarmSize]core.Pending[struct{}]
	for i := range all {
		m, err := spawnMayfly(sys, lives, fmt.Sprintf("%s.%d", name, i), i)
		if err != nil {
			t.Error(err)
			return
		}
		all[i] = m
		core.Notice(onMayflyTell.At(m), holdTime(i%ways))
		held[i] = core.Begin(onMayflyHold.At(m), holdTime(i%ways))
		ready[i] = core.Begin(onMayflyReady.At(m), 0)
	}
	for i, m := range all {
		switch i % ways {
		case byStop:
			m.Stop()
		case byDrain:
			m.Drain()
		case byFailure, byPanic:
			core.Notice(onMayflyFail.At(m), 0)
			core.Notice(onMayflyFail.At(m), i%ways)
		}
	}
	for i, m := range all {
		if err := m.StopWait(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := held[i].Get(); err == nil && i%ways != byDrain {
			t.Errorf("mayfly %d answered for nothing", i)
		}
		ready[i].Get()
	}
}

// left is what a process and a system hold.
type left struct {
	goroutines, descriptors, names int
	lives                          int64
	heap                           uint64
	held                           house.Held
}

// leftOf returns what is left when the actors are as many as they were, and the goroutines too:
// one that has said that it is done hasn't ended yet.
func leftOf(t *testing.T, sys *house.System, swarms []core.Address[swarm], lives *atomic.Int64, goroutines int) (l left) {
	t.Helper()
	for began := time.Now(); ; runtime.Gosched() {
		l.held = sys.GuestsHold()
		for _, a := range swarms {
			h, err := core.Begin(onSwarmCount.At(a), 0).Get()
			if err != nil {
				t.Fatal(err)
			}
			l.held.Add(h)
		}
		// Each swarm keeps the table of its promises, which is empty.
		l.goroutines = runtime.NumGoroutine()
		if sys.Actors() == len(swarms) && l.held.Armed == 0 && l.held.Out == len(swarms) && l.goroutines <= goroutines {
			break
		} else if time.Since(began) > 20*time.Second {
			t.Errorf("%d actors are left, %d goroutines, and %+v", sys.Actors()-len(swarms), l.goroutines-goroutines, l.held)
			break
		}
	}
	l.descriptors = descriptors(t)
	l.names, l.lives, l.heap = sys.Names(), lives.Load(), liveHeap().HeapAlloc
	return l
}

// spawnsAndStops has n mayflies live and end, and looks for what they leave.
func spawnsAndStops(t *testing.T, n int) {
	sys := started(t, house.Config{Workers: 2, AskTimeout: longTime, Supervise: resumes})
	var lives atomic.Int64
	var swarms []core.Address[swarm]
	for _, w := range sys.Workers() {
		swarms = append(swarms, core.Spawn(w, func() *swarm { return &swarm{sys: sys, lives: &lives} }))
	}
	rounds := 0
	run := func(n int) {
		for end := rounds + n; rounds < end; rounds++ {
			var group sync.WaitGroup
			for i, a := range swarms {
				group.Go(func() {
					if odd, err := core.Begin(onSwarm.At(a), 0).Get(); odd != 0 || err != nil {
						t.Errorf("%d odd answers, %v", odd, err)
					}
				})
				group.Go(func() { swarmOutside(t, sys, &lives, fmt.Sprintf("guest.%d.%d", rounds, i)) })
			}
			group.Wait()
			if t.Failed() {
				return
			}
		}
	}
	goroutines := runtime.NumGoroutine()
	const each = 2 * 2 * 2 * swarmSize // in steps and of guests, on two workers, with a child
	run(10)                            // pools and maps find their sizes
	before := leftOf(t, sys, swarms, &lives, goroutines)
	run(max(1, n/each))
	after := leftOf(t, sys, swarms, &lives, goroutines)
	t.Logf("%d spawns; before %+v, after %+v", max(1, n/each)*each, before, after)
	if after.lives != 0 || after.names != 0 {
		t.Errorf("%d names are taken; starts less stops are %d", after.names, after.lives)
	}
	if after.descriptors > before.descriptors {
		t.Errorf("%d descriptors, %d before", after.descriptors, before.descriptors)
	}
	// Pools have grown to what the worst timing had in use, in objects of some hundred bytes; a
	// house is more than the rest.
	limit := before.heap + 512*uint64(max(0, after.held.Made-before.held.Made)) + uint64(max(n, 1<<19))
	if after.heap > limit {
		t.Errorf("%d bytes are live, %d before", after.heap, before.heap)
	}
}

func TestG19SpawnsAndStopsLeaveNothing(t *testing.T) {
	n := 100_000
	if invariant.Enabled || invariant.Race {
		n = 10_000
	}
	spawnsAndStops(t, n)
}

func TestLongSpawnsAndStopsLeaveNothing(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1")
	}
	spawnsAndStops(t, 1_000_000)
}
