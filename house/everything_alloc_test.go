//go:build linux && !portable

// The portable poller waits on a channel, for which the Go runtime allocates now and then.

package house_test

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// A guardian has a child that it supervises and watches, and asks it with a deadline, and tells it.

type (
	guardian struct {
		mail  core.Mailbox
		tells int // notices between two asks
		ask   core.Port[uint64, uint64]
		take  core.NoticePort[uint64]
		gone  int
		wrong int // notices that had no room
	}
	guarding struct {
		core.AskStack[int, int] // that many operations
		got                     core.Future[uint64]
		left                    int
		begun                   bool
	}
	guardianGone struct {
		core.NoticeStack[core.Terminated]
	}
)

func (g *guardian) PreStart(s *core.HookStack) core.Yield {
	a, err := core.SpawnWith(core.Under(s), func() *target { return &target{} }, core.Props{Name: "ward", Mailbox: g.mail, OnFailure: resumes})
	if err != nil {
		return s.Throw(err)
	}
	core.Watch(s, a, onGuardianGone)
	g.ask, g.take = onGuardedAsk.At(a).Through(unchanged), onGuardedTake.At(a).Through(unchanged)
	return s.Return()
}

func (g *guardian) run(s *guarding) core.Yield {
	if !s.begun {
		s.begun, s.left = true, s.Req
	} else if _, err := s.got.Get(); err != nil {
		return s.Throw(err)
	}
	if s.left <= 0 {
		return s.Return(s.Req)
	}
	s.left -= g.tells + 1
	for range g.tells {
		if g.take.Notice(s, 1) != nil {
			g.wrong++
		}
	}
	g.ask.AskWithin(s, &s.got, 1, time.Minute)
	return core.Suspend(s, (*guardian).run)
}

func (g *guardian) terminated(s *guardianGone) core.Yield { g.gone++; return s.Return() }

// turnstile is middleware that counts.
type turnstile struct{ in, out atomic.Int64 }

func (c *turnstile) Begins(s core.Running) error {
	core.SetTrace(s, core.Trace{ID: [16]byte{1}})
	c.in.Add(1)
	return core.SetPair(s, "in", "1")
}

func (c *turnstile) Ended(core.Running, error) { c.out.Add(1) }
func unchanged(n uint64) (uint64, error)       { return n, nil }

var (
	through       turnstile
	onGuardedAsk  = core.Handle((*target).ask, &through)
	onGuardedTake = core.HandleNotice((*target).take, &through)

	onGuard        = core.Handle((*guardian).run)
	onGuardianGone = core.HandleNotice((*guardian).terminated)
)

// everything is the mailboxes of an actor that has all else, too.
var everything = map[string]core.Mailbox{
	"reject":      core.Bounded(32, core.Reject),
	"drop newest": core.Bounded(32, core.DropNewest),
	"drop oldest": core.Bounded(32, core.DropOldest),
	"priority":    core.ByPriority(32, onGuardedAsk.Class(func(*uint64) int { return core.Classes - 1 })),
	"fair":        core.FairBySender(32),
	"unbounded":   core.Unbounded(),
	"ordered":     core.Ordered(32, func() core.Order { return &fifo{} }),
}

// fifo is the order of arrival, as a user's own.
type fifo struct{ waiting []core.Waiting }

func (f *fifo) Put(m core.Waiting) { f.waiting = append(f.waiting, m) }
func (f *fifo) Len() int           { return len(f.waiting) }

func (f *fifo) Take() core.Waiting {
	m := f.waiting[0]
	f.waiting = slices.Delete(f.waiting, 0, 1)
	return m
}

// everythingOn does n operations at actors with a name, a parent, a strategy, a bounded mailbox,
// a deadline, middleware and a watcher, of a system whose events are listened to.
func everythingOn(t *testing.T, n int) {
	if invariant.Race {
		t.Skip("the race detector allocates, and finds nothing here that it doesn't elsewhere")
	}
	for name, mail := range everything {
		t.Run(name, func(t *testing.T) {
			sys := started(t, house.Config{Workers: 2, AskTimeout: 10 * time.Minute})
			core.Events[core.DeadLetter](sys).Listen(10)
			core.Events[core.ActorStopped](sys).Listen(10)
			g := &guardian{mail: mail, tells: 15}
			a, err := core.SpawnWith(sys, func() *guardian { return g }, core.Props{Name: "guardian"})
			if err != nil {
				t.Fatal(err)
			}
			run := func(n int) {
				if got, err := core.Begin(onGuard.At(a), n).Get(); got != n || err != nil {
					t.Fatal(got, err)
				}
			}
			passed := through.in.Load()
			run(10_000)
			housetest.ZeroAlloc(t, n, run)
			if passed += int64(n); through.in.Load() < passed || through.in.Load() != through.out.Load() {
				t.Errorf("%d calls begun, %d ended, want %d at least", through.in.Load(), through.out.Load(), passed)
			}
			if full := sys.Stats().Full; full != 0 || g.wrong != 0 {
				t.Errorf("%d messages had no room, %d senders heard of it", full, g.wrong)
			}
		})
	}
}

func TestZeroAllocWithEverything(t *testing.T) { everythingOn(t, 100_000) }

func TestLongZeroAllocWithEverything(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1")
	}
	everythingOn(t, 1_000_000)
}

// TestIdleActorWithParentBytes: the record of a life, with a name and a parent, comes on top of
// what TestIdleActorBytes bounds. It is reported, and bounded by what it is today.
func TestIdleActorWithParentBytes(t *testing.T) {
	childBytes(t, 576, func(name string) core.Props { return core.Props{Name: name} })
}

// TestPassiveChildBytes bounds what a child costs that stops by itself when it has been idle.
func TestPassiveChildBytes(t *testing.T) {
	childBytes(t, 600, func(string) core.Props { return core.Props{Passivate: core.Passivation{Idle: time.Hour}} })
}

func childBytes(t *testing.T, most float64, props func(name string) core.Props) {
	const n, atOnce = 20_000, 100
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	p := onDo.At(core.Spawn(sim, func() *actor { return &actor{} }))
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	all := make([]core.Address[idler], n)
	before := liveHeap()
	for i := 0; i < n; i += atOnce { // or what tells them to start lies about
		if _, err := housetest.Ask(t, sim, p, func(s *task) core.Yield {
			for j := range atOnce {
				all[i+j], _ = core.SpawnWith(core.Under(s), func() *idler { return &idler{} }, props(names[i+j]))
			}
			return s.Return(0)
		}); err != nil {
			t.Fatal(err)
		}
	}
	after := liveHeap()
	bytes := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / n
	t.Logf("%.1f bytes each", bytes)
	if bytes > most && !invariant.Enabled { // whose houses note more
		t.Errorf("%.1f bytes each, want at most %v", bytes, most)
	}
	if got, err := housetest.Ask(t, sim, onIdle.At(all[n-1]), struct{}{}); got != 1 || err != nil {
		t.Fatal(got, err)
	}
}
