package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// clerk is a member: it answers with its number, and notes what it is told.
	clerk struct {
		id    int
		asked int
		last  map[int]int // of each sender, the number of its last message
		bad   int         // messages that came after a later one of their sender
	}
	clerkStack struct {
		core.AskStack[numbered, int]
		tick core.Future[core.Tick]
	}
	clerkNotice struct{ core.NoticeStack[numbered] }
	clerkBatch  struct {
		core.BatchAskStack[numbered, int]
	}
)

func (c *clerk) see(m numbered) {
	c.asked++
	if c.last[m.From] >= m.N {
		c.bad++
	}
	c.last[m.From] = m.N
}

// ask answers with the clerk's number; at once if the message has one, and in a
// millisecond if that is negative.
func (c *clerk) ask(s *clerkStack) core.Yield {
	if s.Req.N < 0 {
		core.Timer.Ask(s, &s.tick, time.Millisecond)
		return core.Suspend(s, (*clerk).slept)
	}
	c.see(s.Req)
	return s.Return(c.id)
}

func (c *clerk) slept(s *clerkStack) core.Yield { return s.Return(c.id) }

func (c *clerk) tell(s *clerkNotice) core.Yield { c.see(s.Msg); return s.Return() }

func (c *clerk) batch(s *clerkBatch) core.Yield {
	for _, m := range s.All() {
		c.see(*m)
	}
	return s.ReturnAll(c.id)
}

var (
	clerkAsk    = core.Handle((*clerk).ask)
	clerkTell   = core.HandleNotice((*clerk).tell)
	clerkBatch5 = core.HandleBatch((*clerk).batch, 5)
)

// office is clerks, and what they are.
type office struct {
	group  core.Group[clerk]
	clerks []*clerk
	all    []core.Address[clerk]
}

func (o *office) hire(at core.Place) core.Address[clerk] {
	a := core.Spawn(at, o.make)
	o.all = append(o.all, a)
	o.group.Join(a)
	return a
}

func (o *office) make() *clerk {
	c := &clerk{id: len(o.clerks), last: map[int]int{}}
	o.clerks = append(o.clerks, c)
	return c
}

// staffed returns an office of n clerks, dealt to the workers in turn.
func staffed(sim *housetest.Sim, n int) *office {
	o := &office{}
	for i := range n {
		o.hire(sim.Workers()[i%len(sim.Workers())])
	}
	return o
}

// counts returns how many messages each clerk got, and forgets them.
func (o *office) counts() []int {
	n := make([]int, len(o.clerks))
	for i, c := range o.clerks {
		n[i], c.asked = c.asked, 0
	}
	return n
}

// asks has a player ask n times, one after the other.
func asks[Req, Rep any](p core.Port[Req, Rep], n int, req func(i int) Req, got func(i int, rep Rep, err error)) script {
	var f core.Future[Rep]
	var next script
	i := 0
	next = func(_ *player, s *scene) core.Yield {
		if i > 0 {
			rep, err := f.Get()
			got(i-1, rep, err)
		}
		if i == n {
			return s.Return(n)
		}
		p.Ask(s, &f, req(i))
		i++
		return s.wait(next)
	}
	return next
}

// chosen has the player a ask n times and returns who answered.
func chosen(t *testing.T, sim *housetest.Sim, a core.Port[script, int], p core.Port[numbered, int], n int) []int {
	t.Helper()
	var who []int
	wantAnswer(t, sim, a, asks(p, n, func(i int) numbered { return numbered{N: 1} }, func(_ int, rep int, err error) {
		if err != nil {
			rep = -1
		}
		who = append(who, rep)
	}), n)
	return who
}

func same(t *testing.T, sim *housetest.Sim, what string, got, want []int) {
	t.Helper()
	if len(got) == len(want) {
		for i := range got {
			if got[i] != want[i] {
				break
			}
			if i == len(got)-1 {
				return
			}
		}
	}
	t.Errorf("seed %d: %s: %v, want %v", sim.Seed, what, got, want)
}

// TestLocal: a step asks the replica of its own worker, a guest all in turn.
func TestLocal(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		o := &office{}
		r := core.Replicate(sim, o.make)
		if r.Len() != 3 || len(r.All()) != 3 {
			t.Fatalf("%d replicas, %d of them there", r.Len(), len(r.All()))
		}
		p, n := clerkAsk.Local(r), clerkTell.Local(r)
		for w := range 3 {
			if r.At(w).House().Owner().Index != w {
				t.Errorf("replica %d lives on worker %d", w, r.At(w).House().Owner().Index)
			}
			_, a := cast(sim, w)
			same(t, sim, "a step asks", chosen(t, sim, a, p, 4), []int{w, w, w, w})
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				n.Notice(s, numbered{1, 1})
				return s.Return(1)
			}, 1)
		}
		sim.Rest()
		same(t, sim, "messages", o.counts(), []int{5, 5, 5})
		for i := range 6 {
			if id, err := housetest.Ask(t, sim, p, numbered{N: 1}); id != i%3 || err != nil {
				t.Errorf("seed %d: a guest's ask %d went to %d, %v", sim.Seed, i, id, err)
			}
			if err := core.Notice(n, numbered{N: 1}); err != nil {
				t.Error(err)
			}
		}
		sim.Rest()
		same(t, sim, "guests' messages", o.counts(), []int{4, 4, 4})

		r.At(1).Stop()
		sim.Rest()
		_, a := cast(sim, 1)
		wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
			p.Ask(s, &s.f[0], numbered{})
			return s.wait(get)
		}, core.ErrStopped)
		for range 4 {
			if id, err := housetest.Ask(t, sim, p, numbered{N: 1}); id == 1 || err != nil {
				t.Errorf("seed %d: a guest's ask went to %d, %v", sim.Seed, id, err)
			}
		}
		if len(r.All()) != 2 {
			t.Errorf("%d replicas are there", len(r.All()))
		}
		r.Stop()
		sim.Rest()
		if len(r.All()) != 0 || r.Len() != 3 {
			t.Errorf("%d of %d replicas are there", len(r.All()), r.Len())
		}
	})
}

// TestLocalFromAnotherSystem: on a worker that has no replica beside it, as its system is
// another, the ask is refused as any other.
func TestLocalFromAnotherSystem(t *testing.T) {
	home, away := stage(t, 1, 2), stage(t, 2, 5)
	o := &office{}
	p := clerkAsk.Local(core.Replicate(home, o.make))
	for w := range 5 {
		_, a := cast(away, w)
		wantError(t, away, a, func(_ *player, s *scene) core.Yield {
			p.Ask(s, &s.f[0], numbered{N: 1})
			return s.wait(get)
		}, core.ErrOtherSystem)
	}
}

// TestRoundRobin: each worker asks all in turn, and begins elsewhere.
func TestRoundRobin(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		o := staffed(sim, 3)
		p := clerkAsk.RoundRobin(&o.group)
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		same(t, sim, "worker 0", chosen(t, sim, a, p, 5), []int{0, 1, 2, 0, 1})
		same(t, sim, "worker 1", chosen(t, sim, b, p, 5), []int{1, 2, 0, 1, 2})
		same(t, sim, "worker 0 again", chosen(t, sim, a, p, 2), []int{2, 0})
		for i := range 6 {
			if id, err := housetest.Ask(t, sim, p, numbered{N: 1}); id != i%3 || err != nil {
				t.Errorf("seed %d: a guest's ask %d went to %d, %v", sim.Seed, i, id, err)
			}
		}
		o.group.Leave(o.all[1])
		o.group.Leave(o.all[1]) // of no effect
		same(t, sim, "one left", chosen(t, sim, a, p, 4), []int{2, 0, 2, 0})
		o.group.Join(o.all[0]) // of no effect
		o.group.Join(o.all[1])
		if o.group.Len() != 3 || o.group.All()[2] != o.all[1] {
			t.Errorf("members %v", o.group.All())
		}
		same(t, sim, "it came back", chosen(t, sim, a, p, 3), []int{2, 1, 0})
		o.all[2].Stop()
		sim.Rest()
		same(t, sim, "one stopped", chosen(t, sim, a, p, 4), []int{1, 0, 1, 0})
		if o.group.Join(o.all[2]); o.group.Len() != 2 {
			t.Errorf("a stopped actor joined")
		}
	})
}

// TestRandom: the same seed draws the same, another seed something else, and each
// member gets its share.
func TestRandom(t *testing.T) {
	draw := func(seed uint64, worker int) []int {
		sim := stage(t, 1, 2)
		o := staffed(sim, 5)
		_, a := cast(sim, worker)
		return chosen(t, sim, a, clerkAsk.Random(&o.group, seed), 1000)
	}
	seen := map[[20]int][2]int{}
	for seed := range 10 {
		for w := range 2 {
			first := draw(uint64(seed), w)
			if seed == 0 {
				same(t, stage(t, 0, 1), "the same seed again", draw(0, w), first)
			}
			if other, ok := seen[[20]int(first)]; ok {
				t.Errorf("seeds and workers %v and %v draw the same", other, [2]int{seed, w})
			}
			seen[[20]int(first)] = [2]int{seed, w}
			n := [5]int{}
			for _, id := range first {
				n[id]++
			}
			for id, n := range n {
				if n < 140 || n > 260 { // 200 with a deviation of 13
					t.Errorf("seed %d: clerk %d was drawn %d times of 1000", seed, id, n)
				}
			}
		}
	}
	sim := stage(t, 1, 2)
	o := staffed(sim, 5)
	p := clerkTell.Random(&o.group, 7)
	for range 1000 {
		core.Notice(p, numbered{N: 1})
	}
	sim.Rest()
	for id, n := range o.counts() {
		if n < 140 || n > 260 {
			t.Errorf("clerk %d was drawn by guests %d times of 1000", id, n)
		}
	}
}

// TestByKey: a key stays with its member; who joins takes its share from all, who
// leaves gives its keys away, and nothing else moves.
func TestByKey(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		const keys = 1000
		o := staffed(sim, 4)
		p := clerkAsk.ByKey(&o.group, func(m *numbered) uint64 { return uint64(m.N) })
		_, a := cast(sim, 0)
		where := func() (at []int) {
			wantAnswer(t, sim, a, asks(p, keys, func(i int) numbered { return numbered{N: i + 1} }, func(_ int, rep int, err error) {
				at = append(at, rep)
			}), keys)
			return at
		}
		before := where()
		same(t, sim, "again", where(), before)
		for i := range 20 { // a guest's way is the same
			if id, err := housetest.Ask(t, sim, p, numbered{N: i + 1}); id != before[i] || err != nil {
				t.Errorf("seed %d: a guest finds key %d at %d, %v; want %d", sim.Seed, i+1, id, err, before[i])
			}
		}
		shares := func(at []int, members int) {
			t.Helper()
			n := map[int]int{}
			for _, id := range at {
				n[id]++
			}
			for id, n := range n {
				if want := keys / members; n < want*3/4 || n > want*5/4 {
					t.Errorf("seed %d: clerk %d has %d keys of %d", sim.Seed, id, n, keys)
				}
			}
			if len(n) != members {
				t.Errorf("seed %d: %d of %d members have keys", sim.Seed, len(n), members)
			}
		}
		shares(before, 4)

		o.hire(sim.Workers()[0])
		after := where()
		shares(after, 5)
		for i := range keys {
			if after[i] != before[i] && after[i] != 4 {
				t.Fatalf("seed %d: key %d moved from %d to %d", sim.Seed, i+1, before[i], after[i])
			}
		}

		o.group.Leave(o.all[4])
		same(t, sim, "the last one left", where(), before)
		o.group.Leave(o.all[1])
		after = where()
		for i := range keys {
			if (before[i] == 1) == (after[i] == before[i]) {
				t.Fatalf("seed %d: key %d moved from %d to %d", sim.Seed, i+1, before[i], after[i])
			}
		}
		o.group.Join(o.all[1])
		same(t, sim, "one came back", where(), before)
		o.all[2].Stop()
		sim.Rest()
		after = where()
		for i := range keys {
			if (before[i] == 2) == (after[i] == before[i]) {
				t.Fatalf("seed %d: key %d moved from %d to %d", sim.Seed, i+1, before[i], after[i])
			}
		}
	})
}

// TestByKeyOfTheSame: actors with names get the same keys in whatever order they are made and join;
// those without if they join in the same order, whoever was spawned before them.
func TestByKeyOfTheSame(t *testing.T) {
	where := func(before int, names []string) (at []int) {
		sim := stage(t, 1, 2)
		for range before {
			core.Spawn(sim, func() *loner { return &loner{} })
		}
		o := &office{clerks: make([]*clerk, len(names))}
		for _, name := range names {
			p := core.Props{}
			id := int(name[len(name)-1] - '0')
			if name[0] != '$' {
				p.Name = name
			}
			a, err := core.SpawnWith(sim, func() *clerk { return &clerk{id: id, last: map[int]int{}} }, p)
			require.NoError(t, err)
			o.group.Join(a)
		}
		p := clerkAsk.ByKey(&o.group, func(m *numbered) uint64 { return uint64(m.N) })
		for i := range 100 {
			id, err := housetest.Ask(t, sim, p, numbered{N: i})
			require.NoError(t, err)
			at = append(at, id)
		}
		return at
	}
	named := where(0, []string{"c0", "c1", "c2"})
	require.Equal(t, named, where(5, []string{"c2", "c0", "c1"}))
	require.Equal(t, where(0, []string{"$0", "$1", "$2"}), where(7, []string{"$0", "$1", "$2"}))
	require.NotEqual(t, where(0, []string{"$0", "$1", "$2"}), where(0, []string{"$1", "$0", "$2"}))
}

// TestByKeyBehindAStop: who joins takes the place of who has stopped, whether or not anybody has
// found that out.
func TestByKeyBehindAStop(t *testing.T) {
	where := func(look bool) (at []int) {
		sim := stage(t, 1, 2)
		o := staffed(sim, 3)
		p := clerkAsk.ByKey(&o.group, func(m *numbered) uint64 { return uint64(m.N) })
		o.all[1].Stop()
		sim.Rest()
		if look {
			require.Len(t, o.group.All(), 2)
		}
		o.hire(sim.Workers()[0])
		for i := range 100 {
			id, err := housetest.Ask(t, sim, p, numbered{N: i})
			require.NoError(t, err)
			at = append(at, id)
		}
		return at
	}
	require.Equal(t, where(true), where(false))
}

// TestLeastQueued: what one member doesn't take goes to the others.
func TestLeastQueued(t *testing.T) {
	eachSeed(t, 3, 3, func(t *testing.T, sim *housetest.Sim) {
		o := &office{}
		w := sim.Workers()
		o.hire(w[1])
		o.hire(w[2])
		p := clerkTell.LeastQueued(&o.group)
		_, a := cast(sim, 0)
		tell := func(n int) {
			c := core.Begin(a, func(_ *player, s *scene) core.Yield {
				for range n {
					p.Notice(s, numbered{N: 1})
				}
				return s.Return(n)
			})
			w[0].Turn() // nobody else
			c.Get()
		}
		waiting := func() []int {
			return []int{o.all[0].House().Queued(nil), o.all[1].House().Queued(nil)}
		}
		tell(20)
		same(t, sim, "nobody takes anything", waiting(), []int{10, 10})
		for w[1].Turn() {
		}
		same(t, sim, "the first takes all", waiting(), []int{0, 10})
		tell(6)
		same(t, sim, "it gets the next ones", waiting(), []int{6, 10})
		for range 4 {
			core.Notice(p, numbered{N: 1})
		}
		same(t, sim, "guests count", waiting(), []int{10, 10})
		q := clerkAsk.LeastQueued(&o.group)
		calls := []core.Pending[int]{core.Begin(q, numbered{N: 1}), core.Begin(q, numbered{N: 1})}
		same(t, sim, "and so do their asks", waiting(), []int{11, 11})
		sim.Rest()
		for _, c := range calls {
			c.Get()
		}
		same(t, sim, "all is taken", waiting(), []int{0, 0})
		same(t, sim, "messages", o.counts(), []int{21, 11})
	})
}

// TestLeastQueuedModel: steps of each worker, and guests, tell and ask routers and single
// members. Each member gets what it gets by a model that picks the one with the fewest waiting.
func TestLeastQueuedModel(t *testing.T) {
	const workers, members = 3, 5
	eachSeedOf(t, 40, workers, noSteps, func(t *testing.T, sim *housetest.Sim) {
		rng := rand.New(rand.NewPCG(sim.Seed, 83))
		o := staffed(sim, members)
		tell, ask := clerkTell.LeastQueued(&o.group), clerkAsk.LeastQueued(&o.group)
		var players [workers]core.Port[script, int]
		for i := range players {
			_, players[i] = cast(sim, i)
		}
		var waiting [members]int
		// of tell and ask, on each worker, and of guests
		turns := [2][workers + 1]int{{0, 1, 2, 0}, {0, 1, 2, 0}}
		pick := func(next *int) {
			least := *next % members
			*next = least + 1
			for i := range members {
				if m := (*next - 1 + i) % members; waiting[m] < waiting[least] {
					least = m
				}
			}
			waiting[least]++
		}
		take := func(round, worker int) {
			sim.Workers()[worker].Turn() // members there take all that waits
			for m := worker; m < members; m += workers {
				if c := o.clerks[m]; c.asked != waiting[m] {
					t.Errorf("seed %d: in round %d member %d gets %d, want %d", sim.Seed, round, m, c.asked, waiting[m])
				}
				o.clerks[m].asked, waiting[m] = 0, 0
			}
		}
		var calls []core.Pending[int]
		for n := range 200 {
			from := rng.IntN(workers + 1)
			if from == workers {
				switch rng.IntN(3) {
				case 0:
					core.Notice(tell, numbered{N: 1})
					pick(&turns[0][from])
				case 1:
					calls = append(calls, core.Begin(ask, numbered{N: 1}))
					pick(&turns[1][from])
				default:
					m := rng.IntN(members)
					// notices reserve places
					calls = append(calls, core.Begin(clerkAsk.At(o.all[m]), numbered{N: 1}))
					waiting[m]++
				}
				continue
			}
			take(n, from)
			calls = append(calls, core.Begin(players[from], func(_ *player, s *scene) core.Yield {
				asked := false
				for i := range rng.IntN(len(s.f) + 1) {
					switch rng.IntN(3) {
					case 0:
						tell.Notice(s, numbered{N: 1})
						pick(&turns[0][from])
					case 1:
						asked = true
						ask.Ask(s, &s.f[i], numbered{N: 1})
						pick(&turns[1][from])
					default:
						m := rng.IntN(members)
						clerkTell.At(o.all[m]).Notice(s, numbered{N: 1})
						waiting[m]++
					}
				}
				tell.Notice(s, numbered{N: 1})
				pick(&turns[0][from])
				if asked {
					return s.wait(answer(0))
				}
				return s.Return(0)
			}))
			take(n, from)
		}
		sim.Rest()
		for _, c := range calls {
			c.Get()
		}
	})
}

// TestLeastQueuedCountsToZero: whatever becomes of what was sent, handled, in
// batches, cancelled, expired, refused: at rest nothing waits.
func TestLeastQueuedCountsToZero(t *testing.T) {
	eachSeed(t, 20, 3, func(t *testing.T, sim *housetest.Sim) {
		o := staffed(sim, 4)
		ask, batch, tell := clerkAsk.LeastQueued(&o.group), clerkBatch5.LeastQueued(&o.group), clerkTell.LeastQueued(&o.group)
		var calls []core.Pending[int]
		for round := range 30 {
			_, a := cast(sim, round%3)
			calls = append(calls, core.Begin(a, func(_ *player, s *scene) core.Yield {
				ask.Ask(s, &s.f[0], numbered{N: 1})
				batch.Ask(s, &s.f[1], numbered{N: 2})
				batch.Ask(s, &s.f[2], numbered{N: 2})
				ask.AskWithin(s, &s.f[3], numbered{N: -1}, time.Duration(1+round*100))
				batch.AskWithin(s, &s.f[4], numbered{N: 3}, time.Duration(1+round*100))
				tell.Notice(s, numbered{N: 1})
				if round%3 == 0 { // all is cancelled
					return s.Return(0)
				}
				return s.wait(answer(1))
			}), core.Begin(ask, numbered{N: 1}), core.Begin(batch, numbered{N: 1}))
			core.Notice(tell, numbered{N: 4})
			if round == 20 {
				o.all[0].Stop()
			}
			for range int(sim.Seed) % 7 {
				sim.Turn()
			}
		}
		sim.Run(10 * time.Millisecond)
		for i, c := range calls {
			if !c.Ready() {
				t.Fatalf("seed %d: ask %d has no end", sim.Seed, i)
			}
			c.Get()
		}
		for i, a := range o.all {
			if n := a.House().Queued(nil); n != 0 {
				t.Errorf("seed %d: %d messages wait for clerk %d at rest", sim.Seed, n, i)
			}
		}
	})
}

// routers is every kind of router that asks one.
func (o *office) routers() (asks []core.Port[numbered, int], tells []core.NoticePort[numbered]) {
	key := func(m *numbered) uint64 { return uint64(m.From) }
	return []core.Port[numbered, int]{
			clerkAsk.RoundRobin(&o.group), clerkAsk.Random(&o.group, 1), clerkAsk.ByKey(&o.group, key), clerkAsk.LeastQueued(&o.group),
		}, []core.NoticePort[numbered]{
			clerkTell.RoundRobin(&o.group), clerkTell.Random(&o.group, 1), clerkTell.ByKey(&o.group, key), clerkTell.LeastQueued(&o.group),
		}
}

// TestMembersComeAndGo: while members join, leave and stop, every ask of every
// router ends, with an answer or with the reason that there is, and no message
// overtakes another of the same sender at the same member.
func TestMembersComeAndGo(t *testing.T) {
	eachSeedOf(t, 20, 3, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		o := staffed(sim, 2)
		ports, tells := o.routers()
		first, all := core.First(clerkAsk, &o.group), core.Broadcast(clerkAsk, &o.group)
		const senders, each = 6, 40
		ends := map[string]int{}
		end := func(err error) {
			switch {
			case err == nil:
				ends["answered"]++
			case errors.Is(err, core.ErrStopped):
				ends["stopped"]++
			case errors.Is(err, core.ErrNoMember):
				ends["nobody"]++
			default:
				t.Errorf("seed %d: %v", sim.Seed, err)
			}
		}
		var calls []core.Pending[int]
		for from := range senders {
			_, a := cast(sim, from%3)
			var f core.Future[int]
			var g core.Future[core.Answers[int]]
			n := 0
			var next script
			next = func(_ *player, s *scene) core.Yield {
				if n > 0 {
					_, err := f.Get()
					end(err)
					answers, err := g.Get()
					end(err)
					for range answers.All() {
						ends["members"]++
					}
				}
				if n++; n > each {
					return s.Return(0)
				}
				i := (from + n) % (len(ports) + 1)
				if i < len(ports) {
					tells[i].Notice(s, numbered{from, 3 * n})
					ports[i].Ask(s, &f, numbered{from, 3*n + 1})
				} else {
					first.Ask(s, &f, numbered{from, 3*n + 1})
				}
				all.Ask(s, &g, numbered{from, 3*n + 2})
				return s.wait(next)
			}
			calls = append(calls, core.Begin(a, next))
		}
		for i := range 200 {
			switch (i*7 + int(sim.Seed)) % 10 {
			case 0:
				o.hire(sim.Workers()[i%3])
			case 1:
				o.group.Leave(o.all[i%len(o.all)])
			case 2:
				o.group.Join(o.all[i%len(o.all)])
			case 3:
				if i < 100 {
					o.all[i%len(o.all)].Stop()
				}
			}
			sim.Turn()
		}
		sim.Rest()
		for i, c := range calls {
			if !c.Ready() {
				t.Fatalf("seed %d: sender %d waits", sim.Seed, i)
			}
			if _, err := c.Get(); err != nil {
				t.Errorf("seed %d: sender %d: %v", sim.Seed, i, err)
			}
		}
		if n := ends["answered"] + ends["stopped"] + ends["nobody"]; n != 2*senders*each || ends["answered"] == 0 {
			t.Errorf("seed %d: %d ends of %d asks: %v", sim.Seed, n, 2*senders*each, ends)
		}
		for i, c := range o.clerks {
			if c.bad != 0 {
				t.Errorf("seed %d: clerk %d got %d messages out of order", sim.Seed, i, c.bad)
			}
		}
	})
}

// TestNoMember: a router without members fails each ask, of steps and of guests,
// through the asker's lane of replies; a notice is a dead letter.
func TestNoMember(t *testing.T) {
	for _, c := range []struct {
		name string
		prep func(sim *housetest.Sim) *office
	}{
		{"never had one", func(*housetest.Sim) *office { return &office{} }},
		{"all left", func(sim *housetest.Sim) *office {
			o := staffed(sim, 2)
			o.group.Leave(o.all[0])
			o.group.Leave(o.all[1])
			return o
		}},
		{"all stopped", func(sim *housetest.Sim) *office {
			o := staffed(sim, 2)
			o.all[0].Stop()
			o.all[1].Stop()
			sim.Rest()
			return o
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSeed(t, 2, 2, func(t *testing.T, sim *housetest.Sim) {
				o := c.prep(sim)
				ports, tells := o.routers()
				ports = append(ports, core.First(clerkAsk, &o.group))
				_, a := cast(sim, 0)
				before := stats(sim).DeadLetter
				for i, p := range ports {
					same(t, sim, "a step", chosen(t, sim, a, p, 2), []int{-1, -1})
					if _, err := housetest.Ask(t, sim, p, numbered{}); !errors.Is(err, core.ErrNoMember) {
						t.Errorf("router %d tells a guest %v", i, err)
					}
					if _, err := core.Ask(t.Context(), p, numbered{}); !errors.Is(err, core.ErrNoMember) {
						t.Errorf("router %d tells a guest that waits %v", i, err)
					}
					wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
						p.Ask(s, &s.f[0], numbered{})
						if s.f[0].Ready() {
							t.Error("the answer is there before the step ends")
						}
						return s.wait(get)
					}, core.ErrNoMember)
				}
				for i, p := range tells {
					if err := core.Notice(p, numbered{}); !errors.Is(err, core.ErrNoMember) {
						t.Errorf("router %d tells a guest %v", i, err)
					}
					wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
						if err := p.Notice(s, numbered{}); !errors.Is(err, core.ErrNoMember) {
							t.Errorf("router %d tells a step %v", i, err)
						}
						return s.Return(1)
					}, 1)
				}
				wantStat(t, "dead letters", stats(sim).DeadLetter-before, uint64(len(tells)))
				_, err := housetest.Ask(t, sim, core.Broadcast(clerkAsk, &o.group), numbered{})
				if !errors.Is(err, core.ErrNoMember) {
					t.Errorf("a broadcast to nobody: %v", err)
				}
				if err := core.Notice(clerkTell.Broadcast(&o.group), numbered{}); err != nil {
					t.Errorf("a notice to all of nobody: %v", err)
				}
			})
		})
	}
}

// TestRoutedDeadlines: an ask by a router inherits, expires and is cancelled as any.
func TestRoutedDeadlines(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		var team core.Group[player]
		for w := range 2 {
			a, _ := cast(sim, w)
			team.Join(a)
		}
		var due int64
		look := func(_ *player, s *scene) core.Yield { due = s.Deadline(); return s.Return(1) }
		never := answerIn(time.Hour, 0)
		for name, p := range map[string]core.Port[script, int]{
			"round robin":  play.RoundRobin(&team),
			"random":       play.Random(&team, 1),
			"by key":       play.ByKey(&team, func(*script) uint64 { return 1 }),
			"least queued": play.LeastQueued(&team),
			"first":        core.First(play, &team),
		} {
			_, a := cast(sim, 0)
			var own int64
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				own = s.Deadline()
				p.Ask(s, &s.f[0], look)
				return s.wait(get)
			}, 1)
			if due != own || own == 0 {
				t.Errorf("seed %d: %s: deadline %d, want the asker's, %d", sim.Seed, name, due, own)
			}
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				own = s.Deadline()
				p.AskWithin(s, &s.f[0], look, time.Minute)
				return s.wait(get)
			}, 1)
			if due > own || due == 0 || due == own && time.Duration(own-sim.Now) > time.Minute {
				t.Errorf("seed %d: %s: deadline %d of %d, within a minute of %d", sim.Seed, name, due, own, sim.Now)
			}
			before := stats(sim)
			wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
				p.AskWithin(s, &s.f[0], never, time.Millisecond)
				return s.wait(get)
			}, core.ErrTimeout)
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				p.AskWithin(s, &s.f[0], never, time.Millisecond)
				return s.Return(2) // what it asked is cancelled
			}, 2)
			sim.Run(2 * time.Hour)
			after := stats(sim)
			if after.Timeouts == before.Timeouts || after.Cancelled == before.Cancelled {
				t.Errorf("seed %d: %s: %d timeouts, %d cancelled", sim.Seed, name, after.Timeouts-before.Timeouts, after.Cancelled-before.Cancelled)
			}
		}
	})
}

// TestKeyPanics: a key that panics ends the step, or the guest's call, and costs nothing else.
func TestKeyPanics(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		o := staffed(sim, 2)
		bad := func(*numbered) uint64 { panic("no key") }
		p, n := clerkAsk.ByKey(&o.group, bad), clerkTell.ByKey(&o.group, bad)
		_, a := cast(sim, 0)
		_, err := housetest.Ask(t, sim, a, func(_ *player, s *scene) core.Yield {
			p.Ask(s, &s.f[0], numbered{})
			return s.wait(get)
		})
		wantPanic(t, err, "no key")
		_, err = housetest.Ask(t, sim, a, func(_ *player, s *scene) core.Yield {
			n.Notice(s, numbered{})
			return s.Return(1)
		})
		wantPanic(t, err, "no key")
		wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
			func() {
				defer func() { recover() }()
				p.Ask(s, &s.f[0], numbered{})
			}()
			return s.wait(get)
		}, core.ErrPanic)
		for _, f := range []func(){
			func() { core.Begin(p, numbered{}) },
			func() { core.Notice(n, numbered{}) },
		} {
			func() {
				defer func() {
					if v := recover(); v != "no key" {
						t.Errorf("panic %v", v)
					}
				}()
				f()
			}()
		}
	})
}

// TestBesideAnActor: a guest, or a step elsewhere, spawns where an actor lives.
func TestBesideAnActor(t *testing.T) {
	eachSeed(t, 2, 3, func(t *testing.T, sim *housetest.Sim) {
		for w := range 3 {
			near, _ := cast(sim, w)
			on := func(a core.Address[player]) int { return a.House().Owner().Index }
			born := core.Spawn(near.Beside(), func() *player { return &player{} })
			if on(born) != w {
				t.Errorf("born on worker %d beside one on %d", on(born), w)
			}
			_, a := cast(sim, (w+1)%3)
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				born = core.Spawn(near.Beside(), func() *player { return &player{} })
				return s.Return(on(born))
			}, w)
			wantAnswer(t, sim, play.At(born), answer(3), 3)
			near.Stop()
			sim.Rest()
			if born = core.Spawn(near.Beside(), func() *player { return &player{} }); on(born) != w {
				t.Errorf("born on worker %d beside one that stopped on %d", on(born), w)
			}
			wantAnswer(t, sim, play.At(born), answer(4), 4)
		}
	})
}

// Misuse of what isn't in a step panics in the caller.
func TestRouterMisuse(t *testing.T) {
	var o office
	for want, f := range map[string]func(){
		"core: zero Replicas":                    func() { clerkAsk.Local(core.Replicas[clerk]{}) },
		"core: a router without members":         func() { clerkAsk.RoundRobin(nil) },
		"core: a router by key without a key":    func() { clerkTell.ByKey(&o.group, nil) },
		"core: nobody joins a Group":             func() { o.group.Join(core.Address[clerk]{}) },
		"core: a place beside nobody":            func() { core.Address[clerk]{}.Beside() },
		"core: a router of a zero Handler":       func() { core.Handler[clerk, int, int]{}.Random(&o.group, 1) },
		"core: a router of a zero NoticeHandler": func() { core.NoticeHandler[clerk, int]{}.Broadcast(&o.group) },
		"core: several actors would release copies of one message": func() {
			core.HandleNotice((*clerk).count).Broadcast(&o.group)
		},
		"core: replicas in a system without workers": func() {
			core.Replicate(desert{}, func() *clerk { return &clerk{} })
		},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if v := recover(); v != want {
					t.Errorf("panic %v", v)
				}
			}()
			f()
		})
	}
}

// counted is a message that is released.
type counted struct{}

func (*counted) Release() {}

type countedStack struct{ core.NoticeStack[counted] }

func (c *clerk) count(s *countedStack) core.Yield { return s.Return() }

// A broadcast says only whether somebody had no room: a member that stops just then is none any
// more.
func TestBroadcastToWhoStops(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	var group core.Group[player]
	to := core.HandleNotice((*player).hush).Broadcast(&group)
	spawn := func() core.Address[player] {
		a := core.Spawn(sys, func() *player { return &player{} })
		group.Join(a)
		return a
	}
	for range 4 {
		spawn()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 {
			spawn().Stop()
		}
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		if err := core.Notice(to, 1); err != nil && err != core.ErrMailboxFull {
			t.Fatal(err)
		}
	}
}

func (*player) hush(s *core.NoticeStack[int]) core.Yield { return s.Return() }

// desert is a system without workers.
type desert struct{}

func (desert) Workers() []*house.Worker { return nil }

// TestRoutersWithThreads: guests change a group while workers and guests ask it;
// run it under the race detector.
func TestRoutersWithThreads(t *testing.T) {
	sys := open(t, house.Config{Workers: 3})
	var team core.Group[player]
	spawn := func() core.Address[player] {
		return core.Spawn(sys, func() *player { return &player{} })
	}
	for range 3 {
		team.Join(spawn())
	}
	ports := []core.Port[script, int]{
		play.RoundRobin(&team), play.Random(&team, 1), play.LeastQueued(&team), core.First(play, &team),
		play.ByKey(&team, func(*script) uint64 { return 1 }), play.Local(core.Replicate(sys, func() *player { return &player{} })),
	}
	done := make(chan error, 4)
	for g := range 3 {
		go func() {
			self := play.At(spawn())
			for i := range 300 {
				p := ports[(g+i)%len(ports)]
				if n, err := core.Ask(t.Context(), self, relay(p, answer(i))); (err != nil || n != i) && !errors.Is(err, core.ErrStopped) {
					done <- fmt.Errorf("an actor got %d, %w of %d", n, err, i)
					return
				}
				if n, err := core.Ask(t.Context(), p, answer(-i)); (err != nil || n != -i) && !errors.Is(err, core.ErrStopped) {
					done <- fmt.Errorf("a guest got %d, %w of %d", n, err, -i)
					return
				}
			}
			done <- nil
		}()
	}
	go func() {
		for i := range 100 {
			a := spawn()
			team.Join(a)
			answers := 0
			err := core.AskInto(t.Context(), core.Broadcast(play, &team), answer(i), func(all *core.Answers[int]) {
				for n, err := range all.All() {
					if answers++; err != nil || n != i {
						t.Errorf("a member answered %d, %v to broadcast %d", n, err, i)
					}
				}
			})
			if err == nil && answers < 4 {
				err = fmt.Errorf("%d members answered broadcast %d, of 4", answers, i)
			}
			if err := errors.Join(err, a.StopWait(t.Context())); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestByKeyOfWhoHasStopped: its keys go to the others, also if no other router has found out that
// it stopped.
func TestByKeyOfWhoHasStopped(t *testing.T) {
	sim := stage(t, 1, 1)
	o := staffed(sim, 2)
	p := clerkAsk.ByKey(&o.group, func(m *numbered) uint64 { return uint64(m.N) })
	o.all[0].Stop()
	sim.Rest()
	for i := range 20 {
		if id, err := housetest.Ask(t, sim, p, numbered{N: i}); id != 1 || err != nil {
			t.Errorf("key %d is at %d, %v", i, id, err)
		}
	}
}
