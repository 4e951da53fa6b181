package core_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// bears is a step that spawns children.
func bears(t *testing.T, out *[]core.Address[ghost], names ...string) func(*ghost, *ghostStack) core.Yield {
	return func(g *ghost, s *ghostStack) core.Yield {
		for _, name := range names {
			*out = append(*out, haunt(t, core.Under(s), g.diary, name, core.Props{}))
		}
		return s.Return(0)
	}
}

// family is a parent p with the children a, b and c, and a with x and y. Children is the strategy
// of p.
func family(t *testing.T, sim *housetest.Sim, d *diary, with core.Props) (p core.Address[ghost], all []core.Address[ghost]) {
	p = haunt(t, sim, d, "p", with)
	housetest.Ask(t, sim, ghostDo.At(p), bears(t, &all, "a", "b", "c"))
	housetest.Ask(t, sim, ghostDo.At(all[0]), bears(t, &all, "x", "y"))
	sim.Rest()
	d.took()
	return p, all
}

// Children stop before their parent, and theirs before them.
func TestChildrenStopFirst(t *testing.T) {
	eachSeed(t, 10, 1, func(t *testing.T, sim *housetest.Sim) {
		d := &diary{}
		p, all := family(t, sim, d, core.Props{})
		require.Equal(t, "/user/p/a/x", all[3].Path().Local())
		p.Stop()
		late := core.Begin(ghostDo.At(p), says("never"))
		sim.Rest()
		require.Equal(t, "b1:stop c1:stop x1:stop y1:stop a1:stop p1:stop", d.took())
		endedAs(t, core.ErrStopped, late)
		require.Zero(t, sim.Actors())
	})
}

// A restart of the parent stops its children.
func TestChildrenStopBeforeARestart(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	p, all := family(t, sim, d, core.Props{OnFailure: always(core.Restart)})
	core.Notice(ghostFail.At(p), errHot)
	queued := core.Begin(ghostDo.At(p), bears(t, &all, "a")) // its name is free again
	sim.Rest()
	require.Equal(t, "b1:stop c1:stop x1:stop y1:stop a1:stop p1:end/hot p2:again/hot a1:start", d.took())
	endedAs(t, nil, queued)
	require.Equal(t, 2, sim.Actors())
}

// What a strategy says is for one, for all, or for those born later.
func TestScopes(t *testing.T) {
	for _, c := range []struct {
		name string
		with core.Strategy
		want string
	}{
		{"one", core.Strategy{Scope: core.OneForOne}, "b1:end/hot b2:again/hot"},
		{"all", core.Strategy{Scope: core.AllForOne}, "b1:end/hot b2:again/hot c1:end/hot c2:again/hot x1:stop y1:stop a1:end/hot a2:again/hot"},
		{"rest", core.Strategy{Scope: core.RestForOne}, "b1:end/hot b2:again/hot c1:end/hot c2:again/hot"},
		{"all stop", core.Strategy{Scope: core.AllForOne, Decide: always(core.Stop).Decide}, "b1:stop c1:stop x1:stop y1:stop a1:stop"},
		{"rest stop", core.Strategy{Scope: core.RestForOne, Decide: always(core.Stop).Decide}, "b1:stop c1:stop"},
		{"all resume", core.Strategy{Scope: core.AllForOne, Decide: always(core.Resume).Decide}, ""},
		{"escalate", core.Strategy{Decide: always(core.Escalate).Decide}, "b1:stop c1:stop x1:stop y1:stop a1:stop p1:end/hot p2:again/hot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: quiet})
			d := &diary{}
			_, all := family(t, sim, d, core.Props{Children: &c.with})
			core.Notice(ghostFail.At(all[1]), errHot)
			sim.Rest()
			require.Equal(t, c.want, d.took())
		})
	}
}

// A group restarts together so many times, and then stops.
func TestGroupRestartsAreLimited(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	_, all := family(t, sim, d, core.Props{Children: &core.Strategy{Scope: core.AllForOne, Restarts: 3}})
	for i := range 3 {
		core.Notice(ghostFail.At(all[1+i%2]), errHot)
		sim.Rest()
		require.Contains(t, d.took(), "again/hot")
	}
	core.Notice(ghostFail.At(all[1]), errHot)
	sim.Rest()
	require.Equal(t, 1, sim.Actors(), "the parent")
}

// Who escalated goes on if its parent does: messages wait meanwhile.
func TestEscalateAndResume(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	_, all := family(t, sim, d, core.Props{OnFailure: always(core.Resume), Children: always(core.Escalate)})
	core.Notice(ghostFail.At(all[1]), errHot)
	life, err := housetest.Ask(t, sim, ghostDo.At(all[1]), says("a"))
	require.NoError(t, err)
	require.Equal(t, 1, life)
	require.Equal(t, "b1:a", d.took())
}

func TestNames(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	p, all := family(t, sim, d, core.Props{})
	for path, want := range map[string]core.Address[ghost]{"/user/p": p, "/user/p/b": all[1], "/user/p/a/y": all[4]} {
		got, err := core.Lookup[ghost](sim, path)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, path := range []string{"", "/user", "/user/q", "/user/p/", "p", "/user/b"} {
		_, err := core.Lookup[ghost](sim, path)
		require.ErrorIs(t, err, core.ErrNotFound, path)
	}
	_, err := core.Lookup[player](sim, "/user/p")
	require.ErrorIs(t, err, core.ErrNotFound)
	require.ErrorContains(t, err, "is no core_test.player")

	same, err := core.SpawnWith(sim, func() *ghost { return &ghost{diary: d} }, core.Props{Name: "p"})
	require.ErrorIs(t, err, core.ErrAlreadyExists)
	require.Equal(t, p, same)
	other, err := core.SpawnWith(sim, func() *player { return &player{} }, core.Props{Name: "p"})
	require.ErrorIs(t, err, core.ErrAlreadyExists)
	require.Zero(t, other)
	for _, name := range []string{"a/b", " ", "é", "$7", "\x00", string(make([]byte, 256))} {
		_, err := core.SpawnWith(sim, func() *player { return &player{} }, core.Props{Name: name})
		require.Error(t, err, "%q", name)
	}
	again, err := housetest.Ask(t, sim, ghostDo.At(p), func(g *ghost, s *ghostStack) core.Yield {
		_, err := core.SpawnWith(core.Under(s), func() *ghost { return &ghost{diary: d} }, core.Props{Name: "b"})
		require.ErrorIs(t, err, core.ErrAlreadyExists)
		return s.Return(1)
	})
	require.NoError(t, err)
	require.Equal(t, 1, again)
	p.Stop() // who was refused is nobody's child
	sim.Rest()
	require.Zero(t, sim.Actors())
	_, err = core.Lookup[ghost](sim, "/user/p/b")
	require.ErrorIs(t, err, core.ErrNotFound)
}

// A path says in which system an actor stands, and is looked up in that alone.
func TestPaths(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, Name: "shop", Advertise: "10.0.0.7:7400"})
	d := &diary{}
	_, all := family(t, sim, d, core.Props{})
	b, p := all[1], all[1].Path()
	require.Equal(t, "stackhouse://shop@10.0.0.7:7400/user/p/b", p.String())
	require.Equal(t, p, b.Any().Path())
	again, err := core.ParsePath(p.String())
	require.NoError(t, err)
	require.Equal(t, p, again)
	for _, path := range []string{p.String(), p.Local()} {
		got, err := core.Lookup[ghost](sim, path)
		require.NoError(t, err)
		require.Equal(t, b, got)
	}
	for _, path := range []string{
		"stackhouse://shop/user/p/b", "stackhouse://shop@10.0.0.8:7400/user/p/b", "stackhouse://store@10.0.0.7:7400/user/p/b",
		"stackhouse://shop@10.0.0.7:7400/system/p/b",
	} {
		_, err := core.Lookup[ghost](sim, path)
		require.ErrorIs(t, err, core.ErrNotFound, path)
	}
	b.Stop()
	sim.Rest()
	require.Equal(t, p, b.Path())
	require.Zero(t, core.Address[ghost]{}.Path())
	require.Zero(t, core.AnyAddress{}.Path())

	nameless := core.Spawn(sim, func() *player { return &player{} })
	require.Regexp(t, `^stackhouse://shop@10\.0\.0\.7:7400/user/\$[0-9]+$`, nameless.Path().String())

	for _, c := range []house.Config{{Name: "a b"}, {Name: "a@b"}, {Advertise: "10.0.0.7"}, {Advertise: ":7400"}, {Advertise: "h:0"}} {
		_, err := house.New(c)
		require.Error(t, err, "%+v", c)
	}
}

// Who watches hears once, whenever it began to, and after the name is free.
func TestWatch(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		d := &diary{}
		w := sim.Workers()
		watcher := haunt(t, w[0], d, "w", core.Props{})
		dies, lives := haunt(t, w[1], d, "d", core.Props{}), haunt(t, w[1], d, "l", core.Props{})
		watches := func(a core.Address[ghost]) func(*ghost, *ghostStack) core.Yield {
			return func(_ *ghost, s *ghostStack) core.Yield {
				core.Watch(s, a, ghostWatches)
				return s.Return(0)
			}
		}
		for range 2 {
			housetest.Ask(t, sim, ghostDo.At(watcher), watches(dies))
			housetest.Ask(t, sim, ghostDo.At(watcher), watches(lives))
		}
		housetest.Ask(t, sim, ghostDo.At(watcher), func(_ *ghost, s *ghostStack) core.Yield {
			core.Unwatch(s, lives, ghostWatches)
			return s.Return(0)
		})
		sim.Rest()
		d.took()
		dies.Stop()
		lives.Stop()
		sim.Rest()
		require.Contains(t, []string{"d1:stop l1:stop w:saw:/user/d", "l1:stop d1:stop w:saw:/user/d", "d1:stop w:saw:/user/d l1:stop"}, d.took())
		housetest.Ask(t, sim, ghostDo.At(watcher), watches(dies))
		sim.Rest()
		require.Equal(t, "w:saw:/user/d", d.took())
		plain := core.Spawn(w[1], func() *player { return &player{} })
		plain.Stop()
		sim.Rest()
		housetest.Ask(t, sim, ghostDo.At(watcher), func(_ *ghost, s *ghostStack) core.Yield {
			core.Watch(s, plain, ghostWatches)
			return s.Return(0)
		})
		sim.Rest()
		require.Equal(t, "w:saw:"+plain.Path().Local(), d.took())
	})
}

// A drain lets end what was there; what comes behind is refused.
func TestDrain(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{})
	p := ghostDo.At(a)
	begun := []core.Pending[int]{core.Begin(p, says("a")), core.Begin(p, sleeps(time.Second, "b")), core.Begin(p, says("c"))}
	a.Drain()
	late := core.Begin(p, says("never"))
	sim.Rest()
	require.Equal(t, "g1:start g1:a g1:c", d.took())
	sim.Run(time.Second)
	require.Equal(t, "g1:b g1:stop", d.took())
	endedAs(t, nil, begun...)
	endedAs(t, core.ErrStopped, late)
	a.Drain()
	sim.Rest()

	idle := haunt(t, sim, d, "i", core.Props{})
	idle.Drain()
	sim.Rest()
	require.Equal(t, "i1:start i1:stop", d.took())
	require.Zero(t, sim.Actors())
}

func TestPause(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: always(core.Restart)})
	p := ghostDo.At(a)
	begun := core.Begin(p, sleeps(time.Second, "a"))
	sim.Rest()
	a.Pause()
	a.Pause()
	sim.Rest()
	waits := []core.Pending[int]{core.Begin(p, says("b")), core.Begin(p, says("c"))}
	sim.Run(2 * time.Second)
	require.Equal(t, "g1:start g1:a", d.took())
	endedAs(t, nil, begun)
	a.Restart(errHot) // and still
	sim.Rest()
	require.Equal(t, "g1:end/hot g2:again/hot", d.took())
	a.Continue()
	sim.Rest()
	require.Equal(t, "g2:b g2:c", d.took())
	endedAs(t, nil, waits...)
}

// While a stack of a serial actor waits, or one has a barrier, no other begins; answers come.
func TestSerialAndBarrier(t *testing.T) {
	bars := func(_ *ghost, s *ghostStack) core.Yield {
		s.Barrier()
		s.Barrier()
		return sleeps(time.Second, "c")(nil, s)
	}
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		d := &diary{}
		serial := ghostDo.At(haunt(t, sim, d, "s", core.Props{Serial: true}))
		calls := []core.Pending[int]{
			core.Begin(serial, says("a")), core.Begin(serial, sleeps(time.Second, "b")), core.Begin(serial, says("c")),
			core.Begin(serial, sleeps(time.Second, "d")), core.Begin(serial, sleeps(time.Second, "e")), core.Begin(serial, says("f")),
		}
		sim.Run(5 * time.Second)
		require.Equal(t, "s1:start s1:a s1:b s1:c s1:d s1:e s1:f", d.took())
		endedAs(t, nil, calls...)

		other := ghostDo.At(haunt(t, sim, d, "o", core.Props{}))
		calls = []core.Pending[int]{
			core.Begin(other, sleeps(time.Second/2, "a")), core.Begin(other, says("b")), core.Begin(other, bars),
			core.Begin(other, says("d")), core.Begin(other, sleeps(time.Second, "e")), core.Begin(other, says("f")),
		}
		sim.Run(5 * time.Second)
		require.Equal(t, "o1:start o1:b o1:a o1:c o1:d o1:f o1:e", d.took())
		endedAs(t, nil, calls...)
	})
}

// What ends the stack that has the barrier ends the barrier: a panic, a restart, its asker.
func TestBarrierEndsWithItsStack(t *testing.T) {
	for _, serial := range []bool{false, true} {
		sim := stage(t, 1, 1)
		d := &diary{}
		a := haunt(t, sim, d, "g", core.Props{Serial: serial, OnFailure: always(core.Resume)})
		p := ghostDo.At(a)
		bars := func(then func(*ghost, *ghostStack) core.Yield) func(*ghost, *ghostStack) core.Yield {
			return func(_ *ghost, s *ghostStack) core.Yield {
				s.Barrier()
				core.Timer.Ask(s, &s.wait, time.Second)
				s.Req = then
				return core.Suspend(s, (*ghost).do)
			}
		}
		_, err := housetest.Ask(t, sim, p, func(_ *ghost, s *ghostStack) core.Yield {
			s.Barrier()
			panic(errHot)
		})
		require.ErrorIs(t, err, errHot)
		begun := core.Begin(p, bars(says("never")))
		next := core.Begin(p, says("a"))
		sim.Rest()
		require.False(t, next.Ready())
		a.Restart(errHot)
		sim.Rest()
		endedAs(t, core.ErrRestarted, begun)
		endedAs(t, nil, next)
		fails := core.Begin(p, bars(panics(errCold)))
		next = core.Begin(p, says("b"))
		sim.Run(2 * time.Second)
		_, err = fails.Get()
		require.Error(t, err)
		endedAs(t, nil, next)
		require.Equal(t, "g1:start g1:end/hot g2:again/hot g2:a g2:b", d.took())
	}
}

// TestWatchByTwoHandlers: each is told, and to end one watch leaves the other.
func TestWatchByTwoHandlers(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "w", core.Props{})
	also := core.HandleNotice(func(g *ghost, s *core.NoticeStack[core.Terminated]) core.Yield {
		g.diary.note("also")
		return s.Return()
	})
	for _, ends := range []bool{false, true} {
		target, _ := cast(sim, 0)
		_, err := housetest.Ask(t, sim, ghostDo.At(a), func(_ *ghost, s *ghostStack) core.Yield {
			core.Watch(s, target, also)
			core.Watch(s, target, ghostWatches)
			if ends {
				core.Unwatch(s, target, ghostWatches)
			}
			return s.Return(0)
		})
		require.NoError(t, err)
		d.took()
		target.Stop()
		sim.Rest()
		want := "also"
		if !ends {
			want += " w:saw:" + target.Path().Local()
		}
		require.Equal(t, want, d.took())
	}
}

// A full mailbox takes Terminated all the same, from whichever worker.
func TestWatchWithAFullMailbox(t *testing.T) {
	for on := range 2 {
		for name, mailbox := range map[string]core.Mailbox{"reject": core.Bounded(1, core.Reject), "newest": core.Bounded(1, core.DropNewest), "priority": core.ByPriority(1)} {
			sim := stage(t, 1, 2)
			d := &diary{}
			a := haunt(t, sim.Workers()[0], d, "w", core.Props{Mailbox: mailbox})
			target, _ := cast(sim, on)
			housetest.Ask(t, sim, ghostDo.At(a), attends(target))
			a.Pause()
			sim.Rest()
			call := core.Begin(ghostDo.At(a), says("a"))
			target.Stop()
			sim.Rest()
			a.Continue()
			sim.Rest()
			endedAs(t, nil, call)
			require.Equal(t, "w1:start w1:a w:saw:"+target.Path().Local(), d.took(), "%s, worker %d", name, on)
		}
	}
}

// Who is to be told by no handler fails at once, and not the worker where there is something to
// tell.
func TestToldByNoHandler(t *testing.T) {
	sim := stage(t, 1, 1)
	a := haunt(t, sim, &diary{}, "w", core.Props{})
	target, _ := cast(sim, 0)
	_, err := housetest.Ask(t, sim, ghostDo.At(a), func(_ *ghost, s *ghostStack) core.Yield {
		core.Watch(s, target, core.NoticeHandler[ghost, core.Terminated]{})
		return s.Return(0)
	})
	require.ErrorIs(t, err, core.ErrPanic)
	require.Panics(t, func() {
		core.Events[core.ActorStopped](sim).Subscribe(core.NoticeHandler[ghost, core.ActorStopped]{}.At(a))
	})
	target.Stop()
	sim.Rest()
}

// attends is a step that watches target.
func attends(target core.Address[player]) func(*ghost, *ghostStack) core.Yield {
	return func(_ *ghost, s *ghostStack) core.Yield {
		core.Watch(s, target, ghostWatches)
		return s.Return(0)
	}
}

// TestWatchersAreToldInTheirOrder: those on one worker, in the order in which they began to
// watch, whoever has stopped to in between; so the same seed tells them in the same order.
func TestWatchersAreToldInTheirOrder(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		rng := rand.New(rand.NewPCG(sim.Seed, 8))
		for worker := range 2 {
			target, _ := cast(sim, worker)
			d := &diary{}
			var want []string
			for _, i := range rng.Perm(9) {
				name := fmt.Sprintf("w%d%d", worker, i)
				p := ghostDo.At(haunt(t, sim.Workers()[0], d, name, core.Props{}))
				housetest.Ask(t, sim, p, func(_ *ghost, s *ghostStack) core.Yield {
					core.Watch(s, target, ghostWatches)
					if i%3 == 0 {
						core.Unwatch(s, target, ghostWatches)
					}
					return s.Return(0)
				})
				if i%3 != 0 {
					want = append(want, fmt.Sprintf("%s:saw:%s", name, target.Path().Local()))
				}
			}
			d.took()
			target.Stop()
			sim.Rest()
			require.Equal(t, strings.Join(want, " "), d.took(), "seed %d", sim.Seed)
		}
	})
}

// heir takes the name of whom it watches, when that has gone.
type heir struct {
	sys  *house.System
	took chan error
}

func (h *heir) watch(s *core.AskStack[core.Address[player], int]) core.Yield {
	core.Watch(s, s.Req, heirTakes)
	return s.Return(0)
}

func (h *heir) take(s *core.NoticeStack[core.Terminated]) core.Yield {
	_, err := core.SpawnWith(h.sys.Workers()[0], func() *player { return &player{} }, core.Props{Name: "crown"})
	h.took <- err
	return s.Return()
}

var (
	heirWatch = core.Handle((*heir).watch)
	heirTakes = core.HandleNotice((*heir).take)
)

// TestTerminatedFindsTheNameFree: also on another worker, which hears of it at once, while others
// keep the system busy with names.
func TestTerminatedFindsTheNameFree(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	took := make(chan error)
	watch := heirWatch.At(core.Spawn(sys.Workers()[1], func() *heir { return &heir{sys: sys, took: took} }))
	king, err := core.SpawnWith(sys.Workers()[0], func() *player { return &player{} }, core.Props{Name: "crown"})
	require.NoError(t, err)
	rest := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-rest:
				return
			default:
				core.Lookup[player](sys, "/user/crown")
			}
		}
	})
	for range 500 {
		_, err := core.Ask(t.Context(), watch, king)
		require.NoError(t, err)
		king.Stop()
		require.NoError(t, <-took)
		king, err = core.Lookup[player](sys, "/user/crown")
		require.NoError(t, err)
	}
	close(rest)
	all.Wait()
}
