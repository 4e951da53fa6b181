package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// witness is middleware that writes down what it is told, and refuses or panics if it is to.
type witness struct {
	diary  *diary
	name   string
	refuse error
	panics string // "begins" or "ended"
}

func (w *witness) Begins(core.Running) error {
	w.diary.note("%s+", w.name)
	if w.panics == "begins" {
		panic(errHot)
	}
	return w.refuse
}

func (w *witness) Ended(_ core.Running, err error) {
	w.diary.note("%s-%v", w.name, err)
	if w.panics == "ended" {
		panic(errCold)
	}
}

// watched is an actor whose handlers have middleware.
type watched struct{ diary *diary }

type (
	watchedAsk struct {
		core.AskStack[func(*watched, *watchedAsk) core.Yield, int]
		tick core.Future[core.Tick]
	}
	watchedNotice struct {
		core.NoticeStack[func(*watched, *watchedNotice) core.Yield]
	}
)

func (a *watched) ask(s *watchedAsk) core.Yield {
	a.diary.note("step")
	if s.Req == nil {
		return s.Return(1)
	}
	return s.Req(a, s)
}

func (a *watched) notice(s *watchedNotice) core.Yield {
	a.diary.note("step")
	if s.Msg == nil {
		return s.Return()
	}
	return s.Msg(a, s)
}

func spawnWatched(sim *housetest.Sim, d *diary, all ...core.Middleware) (core.Port[func(*watched, *watchedAsk) core.Yield, int], core.NoticePort[func(*watched, *watchedNotice) core.Yield], core.Address[watched]) {
	a, _ := core.SpawnWith(sim, func() *watched { return &watched{d} }, core.Props{OnFailure: always(core.Restart)})
	return core.Handle((*watched).ask, all...).At(a), core.HandleNotice((*watched).notice, all...).At(a), a
}

// Each call is told of when it begins and when it has ended, however it ends, the outer
// middleware first and last.
func TestMiddleware(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	ask, tell, a := spawnWatched(sim, d, &witness{diary: d, name: "a"}, &witness{diary: d, name: "b"})
	waits := func(_ *watched, s *watchedAsk) core.Yield {
		s.Barrier()
		core.Timer.Ask(s, &s.tick, time.Second)
		s.Req = nil
		return core.Suspend(s, (*watched).ask)
	}
	say := func(what func(*watched, *watchedAsk) core.Yield, want string) {
		t.Helper()
		c := core.Begin(ask, what)
		sim.Run(2 * time.Second)
		_, _ = c.Get()
		require.Equal(t, want, d.took())
	}
	say(nil, "a+ b+ step b-<nil> a-<nil>")
	say(waits, "a+ b+ step step b-<nil> a-<nil>")
	say(func(_ *watched, s *watchedAsk) core.Yield { return s.Throw(errCold) }, "a+ b+ step b-cold a-cold")
	core.Notice(tell, nil)
	core.Notice(tell, func(_ *watched, s *watchedNotice) core.Yield { return s.Throw(errHot) })
	core.Notice(tell, nil)
	sim.Rest()
	require.Equal(t, "a+ b+ step b-<nil> a-<nil> a+ b+ step b-hot a-hot a+ b+ step b-<nil> a-<nil>", d.took())

	begun := core.Begin(ask, waits)
	sim.Rest()
	late := core.Begin(ask, nil)
	sim.Rest()
	a.Stop()
	sim.Rest()
	endedAs(t, core.ErrStopped, begun, late)
	require.Equal(t, "a+ b+ step b-stackhouse: actor stopped a-stackhouse: actor stopped", d.took(), "what never began isn't told of")
}

// What middleware refuses doesn't begin: an ask is answered so, a notice is a dead letter, no
// failure.
func TestMiddlewareRefuses(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	lost := core.Events[core.DeadLetter](sim).Listen(10)
	defer lost.Close()
	ask, tell, a := spawnWatched(sim, d, &witness{diary: d, name: "a"}, &witness{diary: d, name: "b", refuse: errCold}, &witness{diary: d, name: "c"})
	_, err := housetest.Ask(t, sim, ask, nil)
	require.ErrorIs(t, err, errCold)
	require.Equal(t, "a+ b+ a-cold", d.took())
	core.Notice(tell, nil)
	sim.Rest()
	require.Equal(t, "a+ b+ a-cold", d.took())
	letters := drained(lost)
	require.Len(t, letters, 1)
	require.Equal(t, core.LostRefused, letters[0].Reason)
	require.Equal(t, a.Any(), letters[0].To)
	require.Zero(t, stats(sim).Failures)
}

// A panic in middleware is a failure, before the first step of the actor, behind the last of
// nobody.
func TestMiddlewarePanics(t *testing.T) {
	for when, want := range map[string]string{"begins": "a+ b+ a-", "ended": "a+ b+ step b-<nil> a-<nil>"} {
		sim := stage(t, 1, 1)
		d := &diary{}
		ask, tell, _ := spawnWatched(sim, d, &witness{diary: d, name: "a"}, &witness{diary: d, name: "b", panics: when})
		_, err := housetest.Ask(t, sim, ask, nil)
		require.Contains(t, d.took(), want)
		core.Notice(tell, nil)
		sim.Rest()
		require.Contains(t, d.took(), want)
		require.EqualValues(t, 2, stats(sim).Failures)
		if when == "begins" {
			require.ErrorIs(t, err, errHot)
			require.EqualValues(t, 2, stats(sim).Restarts)
		} else {
			require.NoError(t, err)
			require.Zero(t, stats(sim).Restarts)
		}
	}
}

// A call that is stashed has ended for its middleware, and begins again.
func TestMiddlewareOfStashed(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	ask, _, _ := spawnWatched(sim, d, &witness{diary: d, name: "a"})
	c := core.Begin(ask, func(_ *watched, s *watchedAsk) core.Yield {
		s.Req = nil
		return core.Stash(s)
	})
	sim.Rest()
	require.False(t, c.Ready())
	_, err := housetest.Ask(t, sim, ask, func(_ *watched, s *watchedAsk) core.Yield {
		core.Unstash(s)
		return s.Return(2)
	})
	require.NoError(t, err)
	endedAs(t, nil, c)
	require.Equal(t, "a+ step a-<nil> a+ step a-<nil> a+ step a-<nil>", d.took())
}

// A port through a function sends what that returns, or nothing, from steps and from guests, to
// an actor and to a router.
func TestThrough(t *testing.T) {
	sim := stage(t, 1, 2)
	_, double := core.SpawnFunc(sim, func(s *core.AskStack[int, int]) core.Yield { return s.Return(2 * s.Req) })
	heard := 0
	_, hear := core.SpawnNoticeFunc(sim, func(s *core.NoticeStack[int]) core.Yield { heard += s.Msg; return s.Return() })
	odd := func(n int) (int, error) {
		if n%2 == 1 {
			return n + 10, nil
		}
		return 0, errCold
	}
	asks, tells := double.Through(odd).Through(odd), hear.Through(odd)
	got, err := housetest.Ask(t, sim, asks, 1)
	require.NoError(t, err)
	require.Equal(t, 42, got)
	_, err = housetest.Ask(t, sim, asks, 2)
	require.ErrorIs(t, err, errCold)
	require.NoError(t, core.Notice(tells, 1))
	require.ErrorIs(t, core.Notice(tells, 2), errCold)
	_, from := cast(sim, 1)
	sum, err := housetest.Ask(t, sim, from, func(_ *player, s *scene) core.Yield {
		if tells.Notice(s, 3) != nil || !errors.Is(tells.Notice(s, 4), errCold) {
			t.Error("a notice through a function")
		}
		asks.Ask(s, &s.f[0], 3)
		asks.Ask(s, &s.f[1], 4)
		return s.wait(func(_ *player, s *scene) core.Yield {
			n, err := s.f[0].Get()
			if _, refused := s.f[1].Get(); err != nil || !errors.Is(refused, errCold) {
				t.Error(err, refused)
			}
			return s.Return(n)
		})
	})
	require.NoError(t, err)
	require.Equal(t, 46, sum)
	sim.Rest()
	require.Equal(t, 11+13, heard)
	require.Panics(t, func() { core.Port[int, int]{}.Through(odd) })
	require.Panics(t, func() { core.NoticePort[int]{}.Through(odd) })
	require.Panics(t, func() { double.Through(nil) })
}

// Functions are actors: they fail, stop, and have a state, which is what they capture.
func TestFunctions(t *testing.T) {
	extensions := map[string]any{"tracer": "T"}
	sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: quiet, Extensions: extensions})
	extensions["tracer"] = "another" // the map is the caller's
	total := 0
	a, add := core.SpawnFunc(sim, func(s *core.AskStack[int, string]) core.Yield {
		if s.Req < 0 {
			panic(errHot)
		}
		total += s.Req
		name, ok := core.Extension[string](s, "tracer")
		_, other := core.Extension[int](s, "tracer")
		_, none := core.Extension[string](s, "logger")
		return s.Return(fmt.Sprint(total, name, ok, other, none))
	})
	_, twice := core.SpawnFunc(sim, func(s *core.AskStack[int, string]) core.Yield { return s.Return(fmt.Sprint(2 * s.Req)) })
	for _, step := range []struct {
		n    int
		want string
	}{{1, "1Ttrue false false"}, {-1, ""}, {2, "3Ttrue false false"}} {
		got, err := housetest.Ask(t, sim, add, step.n)
		require.Equal(t, step.want, got)
		require.Equal(t, step.n < 0, errors.Is(err, core.ErrPanic))
	}
	got, err := housetest.Ask(t, sim, twice, 4)
	require.NoError(t, err)
	require.Equal(t, "8", got)
	a.Stop()
	_, err = housetest.Ask(t, sim, add, 1)
	require.ErrorIs(t, err, core.ErrStopped)
	require.Panics(t, func() { core.SpawnFunc[int, int](sim, nil) })
	require.Panics(t, func() { core.SpawnNoticeFunc[int](sim, nil) })
}

// ledger is middleware that counts the calls of each handler.
type ledger struct{ begun, failed int }

func (l *ledger) Begins(core.Running) error { l.begun++; return nil }
func (l *ledger) Ended(_ core.Running, err error) {
	if err != nil {
		l.failed++
	}
}

func ExampleMiddleware() {
	type till struct{ sum int }
	calls := &ledger{}
	pay := core.Handle(func(a *till, s *core.AskStack[int, int]) core.Yield {
		if s.Req <= 0 {
			return s.Throw(errors.New("no money"))
		}
		a.sum += s.Req
		return s.Return(a.sum)
	}, calls)

	sys, _ := house.New(house.Config{})
	_ = sys.Start(context.Background())
	port := pay.At(core.Spawn(sys, func() *till { return &till{} }))
	for _, n := range []int{5, 0, 7} {
		fmt.Println(core.Ask(context.Background(), port, n))
	}
	_ = sys.Shutdown(context.Background())
	fmt.Println(calls.begun, "calls,", calls.failed, "failed")
	// Output:
	// 5 <nil>
	// 0 no money
	// 12 <nil>
	// 3 calls, 1 failed
}
