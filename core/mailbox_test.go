package core_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// desk is an actor with a small mailbox.
type desk struct {
	handled []int
	freed   *atomic.Int32 // carriages released
	hold    chan struct{} // what the first message waits for, if set: it holds the worker up
	entered chan struct{}
}

// carriage is a message that is released.
type carriage struct{ freed *atomic.Int32 }

func (c *carriage) Release() {
	if c.freed != nil {
		c.freed.Add(1)
	}
}

func (d *desk) note(n int) {
	if d.hold != nil && len(d.handled) == 0 {
		close(d.entered)
		<-d.hold
	}
	d.handled = append(d.handled, n)
}

func (d *desk) take(s *core.NoticeStack[int]) core.Yield       { d.note(s.Msg); return s.Return() }
func (d *desk) carry(s *core.NoticeStack[carriage]) core.Yield { return s.Return() }
func (d *desk) ask(s *core.AskStack[int, int]) core.Yield      { d.note(s.Req); return s.Return(s.Req) }
func (d *desk) count(s *core.AskStack[struct{}, int]) core.Yield {
	return s.Return(len(d.handled))
}

var (
	deskTake  = core.HandleNotice((*desk).take)
	deskCarry = core.HandleNotice((*desk).carry)
	deskAsk   = core.Handle((*desk).ask)
	deskCount = core.Handle((*desk).count)
)

// spawnDesk spawns a desk with a mailbox of its own.
func spawnDesk(t testing.TB, at core.Place, m core.Mailbox) (*desk, core.Address[desk]) {
	t.Helper()
	d := &desk{freed: new(atomic.Int32)}
	a, err := core.SpawnWith(at, func() *desk { return d }, core.Props{Mailbox: m})
	if err != nil {
		t.Fatal(err)
	}
	return d, a
}

// TestMailboxFull: whichever way a message is sent to an actor whose mailbox is full, its sender
// gets ErrMailboxFull, and messages that are released are.
func TestMailboxFull(t *testing.T) {
	eachSeed(t, 2, 2, func(t *testing.T, sim *housetest.Sim) {
		d, a := spawnDesk(t, sim.Workers()[0], core.Bounded(2, core.Reject))
		var group core.Group[desk]
		group.Join(a)
		take, carry, ask := deskTake.At(a), deskCarry.At(a), deskAsk.At(a)
		notices := map[string]core.NoticePort[int]{
			"the actor":   take,
			"round-robin": deskTake.RoundRobin(&group),
			"random":      deskTake.Random(&group, 1),
			"by key":      deskTake.ByKey(&group, func(n *int) uint64 { return uint64(*n) }),
			"queued":      deskTake.LeastQueued(&group),
			"broadcast":   deskTake.Broadcast(&group),
		}
		asks := map[string]core.Port[int, int]{
			"the actor":   ask,
			"round-robin": deskAsk.RoundRobin(&group),
			"by key":      deskAsk.ByKey(&group, func(n *int) uint64 { return uint64(*n) }),
			"queued":      deskAsk.LeastQueued(&group),
			"first":       core.First(deskAsk, &group),
		}
		fails := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, core.ErrMailboxFull) {
				t.Errorf("%s: %v", what, err)
			}
		}
		fill := func() {
			for i := range 2 {
				if err := core.Notice(take, i); err != nil {
					t.Fatal(err)
				}
			}
		}
		fill()
		sent := 0
		for name, p := range notices {
			fails("a guest's notice to "+name, core.Notice(p, 9))
			sent++
		}
		fails("a guest's notice that is released", core.Notice(carry, carriage{d.freed}))
		sent++
		for name, p := range asks {
			c := core.Begin(p, 9)
			sim.Rest()
			// of which an actor asks, when the desk may have room again
			if _, err := c.Get(); name != "first" {
				fails("a guest's ask of "+name, err)
				sent++
			}
			fill()
		}
		sim.Rest()
		for worker := range 2 {
			_, from := cast(sim, worker)
			begun := core.Begin(from, func(_ *player, s *scene) core.Yield {
				w := stack.Of(s).Engine().Index
				for i := range 2 {
					if err := take.Notice(s, i); err != nil {
						t.Error(err)
					}
				}
				for name, p := range notices {
					fails(fmt.Sprint("worker ", w, "'s notice to ", name), p.Notice(s, 9))
				}
				fails("a notice that is released", carry.Notice(s, carriage{d.freed}))
				i := 0
				for _, p := range asks {
					p.Ask(s, &s.f[i], 9)
					if s.f[i].Ready() {
						t.Error("an ask is answered within Ask")
					}
					i++
				}
				return s.wait(func(_ *player, s *scene) core.Yield {
					for i := range len(asks) {
						_, err := s.f[i].Get()
						fails(fmt.Sprint("worker ", w, "'s ask ", i), err)
					}
					return s.Return(1)
				})
			})
			sim.Rest()
			if _, err := begun.Get(); err != nil {
				t.Error(err)
			}
			sent += len(notices) + 1 + len(asks)
		}
		for i, n := range d.handled {
			if n == 9 && slices.Contains(d.handled[i+1:], 9) {
				t.Error("more than the guest's ask by First was handled")
			}
		}
		if n := d.freed.Load(); n != 3 {
			t.Errorf("%d messages were released, want 3", n)
		}
		wantStat(t, "dead letters", stats(sim).DeadLetter, uint64(3*(len(notices)+1)))
		if full := stats(sim).Full; full < uint64(sent) {
			t.Errorf("%d messages are counted as refused, want %d at least", full, sent)
		}
	})
}

// TestBroadcastWhereOneIsFull: the sender gets ErrMailboxFull, whichever of them it is, and the
// others are told.
func TestBroadcastWhereOneIsFull(t *testing.T) {
	for full := range 3 {
		eachSeed(t, 2, 2, func(t *testing.T, sim *housetest.Sim) {
			var group core.Group[desk]
			var desks [3]*desk
			var ports [3]core.NoticePort[int]
			for i := range desks {
				bound := 100
				if i == full {
					bound = 1
				}
				var a core.Address[desk]
				desks[i], a = spawnDesk(t, sim.Workers()[0], core.Bounded(bound, core.Reject))
				ports[i] = deskTake.At(a)
				group.Join(a)
			}
			tell := deskTake.Broadcast(&group)
			told := func(err error) {
				t.Helper()
				if !errors.Is(err, core.ErrMailboxFull) {
					t.Errorf("desk %d of three is full: %v", full, err)
				}
			}
			core.Notice(ports[full], 1)
			told(core.Notice(tell, 2))
			sim.Rest()
			for worker := range 2 {
				_, from := cast(sim, worker)
				wantAnswer(t, sim, from, func(_ *player, s *scene) core.Yield {
					ports[full].Notice(s, 1)
					told(tell.Notice(s, 2))
					return s.Return(1)
				}, 1)
				sim.Rest()
			}
			for i, d := range desks {
				want := []int{2, 2, 2}
				if i == full {
					want = []int{1, 1, 1}
				}
				if !slices.Equal(d.handled, want) {
					t.Errorf("desk %d of three is full: desk %d handled %v", full, i, d.handled)
				}
			}
		})
	}
}

// TestDropPolicies: a notice that is dropped is a dead letter, an ask says why.
func TestDropPolicies(t *testing.T) {
	for _, c := range []struct {
		policy  core.WhenFull
		handled string
	}{{core.DropNewest, "[0 1]"}, {core.DropOldest, "[3 4]"}} {
		sim := stage(t, 1, 1)
		d, a := spawnDesk(t, sim.Workers()[0], core.Bounded(2, c.policy))
		_, from := cast(sim, 0)
		begun := core.Begin(from, func(_ *player, s *scene) core.Yield {
			for i := range 5 {
				if i == 1 || i == 3 {
					deskAsk.At(a).Ask(s, &s.f[i], i)
				} else if err := deskTake.At(a).Notice(s, i); err != nil {
					t.Error(err)
				}
			}
			return s.wait(func(_ *player, s *scene) core.Yield {
				_, first := s.f[1].Get()
				_, second := s.f[3].Get()
				if c.policy == core.DropOldest {
					first, second = second, first
				}
				if first != nil || !errors.Is(second, core.ErrMailboxFull) {
					t.Errorf("policy %d: %v, %v", c.policy, first, second)
				}
				return s.Return(1)
			})
		})
		sim.Rest()
		if _, err := begun.Get(); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(d.handled); got != c.handled {
			t.Errorf("policy %d: %s are handled, want %s", c.policy, got, c.handled)
		}
		wantStat(t, "full", stats(sim).Full, 3)
		wantStat(t, "dead letters", stats(sim).DeadLetter, 2)
	}
}

// TestG7FloodOfAStuckActor: goroutines that send to an actor whose step doesn't end use no more
// memory than its mailbox takes; what it took is handled once it goes on, and nothing else.
func TestG7FloodOfAStuckActor(t *testing.T) {
	for name, m := range map[string]core.Mailbox{
		"the default": {},
		"few":         core.Bounded(3, core.Reject),
		"drop oldest": core.Bounded(100, core.DropOldest),
		"priority":    core.ByPriority(100),
		"fair":        core.FairBySender(100),
	} {
		sys := open(t, house.Config{Workers: 1})
		d, a := spawnDesk(t, sys, m)
		d.hold, d.entered = make(chan struct{}), make(chan struct{})
		if err := core.Notice(deskTake.At(a), 0); err != nil {
			t.Fatal(err)
		}
		<-d.entered
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const guests, each = 8, 50_000
		var accepted, refused atomic.Int64
		var all sync.WaitGroup
		for range guests {
			all.Go(func() {
				for i := range each {
					if core.Notice(deskTake.At(a), i+1) == nil {
						accepted.Add(1)
					} else {
						refused.Add(1)
					}
					if i%10 == 0 {
						if c := core.Begin(deskAsk.At(a), i+1); c.Ready() {
							if _, err := c.Get(); !errors.Is(err, core.ErrMailboxFull) {
								t.Errorf("%s: %v", name, err)
							}
						} else {
							accepted.Add(1)
							all.Go(func() { _, _ = c.Get() })
						}
					}
				}
			})
		}
		for sys.Stats().Full+uint64(accepted.Load()) < guests*(each+each/10) {
			runtime.Gosched()
		}
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 16<<20 {
			t.Errorf("%s: the heap grew by %d KB", name, grown>>10)
		}
		if n := accepted.Load(); n > 2048 {
			t.Errorf("%s: %d messages were accepted", name, n)
		}
		close(d.hold)
		all.Wait()
		n, err := core.Ask(t.Context(), deskCount.At(a), struct{}{})
		for errors.Is(err, core.ErrMailboxFull) { // what was accepted last isn't handled yet
			n, err = core.Ask(t.Context(), deskCount.At(a), struct{}{})
		}
		st := sys.Stats()
		if err != nil || int64(n)-1+int64(st.DeadLetter)-refused.Load() > accepted.Load() || n < 2 {
			t.Errorf("%s: %d of %d messages are handled, %d dead letters, %v", name, n, accepted.Load(), st.DeadLetter, err)
		}
	}
}

func ExampleBounded() {
	sys, _ := house.New(house.Config{Manual: true}) // nobody takes messages
	at, _ := core.SpawnWith(sys, func() *desk { return &desk{} }, core.Props{Mailbox: core.Bounded(1, core.Reject)})
	fmt.Println(core.Notice(deskTake.At(at), 1))
	fmt.Println(core.Notice(deskTake.At(at), 2))
	// Output:
	// <nil>
	// stackhouse: mailbox full
}

func ExampleByPriority() {
	urgent := deskTake.Class(func(n *int) int {
		if *n < 0 {
			return 0
		}
		return 1
	})
	d := &desk{}
	sys, _ := house.New(house.Config{Manual: true, Workers: 1})
	at, _ := core.SpawnWith(sys, func() *desk { return d }, core.Props{Mailbox: core.ByPriority(100, urgent)})
	for _, n := range []int{1, 2, -3, 4, -5} {
		if err := core.Notice(deskTake.At(at), n); err != nil {
			fmt.Println(err)
		}
	}
	for sys.Workers()[0].Turn() { // more than one, if this process is kept waiting in the first
	}
	fmt.Println(d.handled)
	// Output: [-3 -5 1 2 4]
}

// TestFairKeepsASendersOrder: notices and asks of one actor, on the worker of the mailbox or
// another.
func TestFairKeepsASendersOrder(t *testing.T) {
	for _, script := range []string{"nna", "aan", "naanannaa"} { // notices and asks
		for worker := range 2 {
			sim := stage(t, 1, 2)
			d, a := spawnDesk(t, sim.Workers()[0], core.FairBySender(100))
			_, from := cast(sim, worker)
			begun := core.Begin(from, func(_ *player, s *scene) core.Yield {
				asks := 0
				for i, what := range script {
					if what == 'n' {
						deskTake.At(a).Notice(s, i)
						continue
					}
					deskAsk.At(a).Ask(s, &s.f[asks], i)
					asks++
				}
				return s.wait(answer(0))
			})
			sim.Rest()
			if _, err := begun.Get(); err != nil || len(d.handled) != len(script) || !slices.IsSorted(d.handled) {
				t.Errorf("%s from worker %d: handled %v, %v", script, worker, d.handled, err)
			}
		}
	}
}

// TestRefusedIsNotQueued: what a full mailbox refuses, or drops, doesn't count as queued for
// LeastQueued.
func TestRefusedIsNotQueued(t *testing.T) {
	for _, policy := range []core.WhenFull{core.Reject, core.DropNewest, core.DropOldest} {
		sim := stage(t, 1, 2)
		var group core.Group[desk]
		_, a := spawnDesk(t, sim.Workers()[0], core.Bounded(2, policy))
		group.Join(a)
		take, ask := deskTake.LeastQueued(&group), deskAsk.LeastQueued(&group)
		for worker := range 2 {
			_, from := cast(sim, worker)
			begun := core.Begin(from, func(_ *player, s *scene) core.Yield {
				for range 5 {
					_ = take.Notice(s, 1)
				}
				for i := range s.f {
					ask.Ask(s, &s.f[i], 1)
				}
				return s.wait(func(_ *player, s *scene) core.Yield { return s.Return(1) })
			})
			for range 5 {
				_ = core.Notice(take, 1)
				if c := core.Begin(ask, 1); c.Ready() {
					_, _ = c.Get()
				} else {
					defer func() { _, _ = c.Get() }()
				}
			}
			sim.Rest()
			if _, err := begun.Get(); err != nil {
				t.Error(err)
			}
		}
		sim.Rest()
		if n := a.House().Queued(nil); n != 0 {
			t.Errorf("policy %d: %d calls count as queued, and none is", policy, n)
		}
	}
}

// TestPriorityOfTheUnnamed: what no rule names goes behind all that one does.
func TestPriorityOfTheUnnamed(t *testing.T) {
	sim := stage(t, 1, 1)
	last := deskTake.Class(func(*int) int { return core.Classes - 2 })
	d, a := spawnDesk(t, sim, core.ByPriority(10, last))
	unnamed := core.Begin(deskAsk.At(a), 1)
	if err := core.Notice(deskTake.At(a), 2); err != nil {
		t.Fatal(err)
	}
	sim.Rest()
	if _, err := unnamed.Get(); err != nil || !slices.Equal(d.handled, []int{2, 1}) {
		t.Errorf("handled %v, %v", d.handled, err)
	}
}

// TestMailboxBoundsAreChecked: a bound of less than one message, or of more than can be
// counted, is the program's mistake.
func TestMailboxBoundsAreChecked(t *testing.T) {
	for n, good := range map[int]bool{-1: false, 0: false, 1: true, 1 << 19: true, 1<<19 + 1: false} {
		for what, make := range map[string]func(){
			"Bounded":      func() { core.Bounded(n, core.Reject) },
			"ByPriority":   func() { core.ByPriority(n) },
			"FairBySender": func() { core.FairBySender(n) },
		} {
			func() {
				defer func() {
					if panics := recover() != nil; panics == good {
						t.Errorf("%s(%d) panics: %t", what, n, panics)
					}
				}()
				make()
			}()
		}
	}
}

// TestFairAmongMany: more senders than a fair mailbox begins with wait at a time; each has its
// turn.
func TestFairAmongMany(t *testing.T) {
	const many, each = 100, 3
	sim := stage(t, 1, 2)
	d, a := spawnDesk(t, sim, core.FairBySender(many*each))
	a.Pause()
	sim.Rest()
	ask := deskAsk.At(a)
	var calls []core.Pending[int]
	for n := range many {
		_, p := cast(sim, n%2)
		calls = append(calls, core.Begin(p, func(_ *player, s *scene) core.Yield {
			for i := range each {
				ask.Ask(s, &s.f[i], n*each+i)
			}
			return s.wait(func(_ *player, s *scene) core.Yield { return s.Return(1) })
		}))
		sim.Rest()
	}
	a.Continue()
	sim.Rest()
	for _, c := range calls {
		if _, err := c.Get(); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.handled) != many*each {
		t.Fatalf("%d were handled", len(d.handled))
	}
	for i, n := range d.handled {
		if n%each != i/many {
			t.Fatalf("message %d of sender %d has turn %d", n%each, n/each, i/many)
		}
	}
}
