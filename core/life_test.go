package core_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// mayfly writes down its life.
type mayfly struct {
	life  *[]string
	start error // what PreStart returns
	end   error // what PostStop returns
	panic string
}

type flyStack struct {
	core.AskStack[string, int]
	tick core.Future[core.Tick]
}

func (m *mayfly) note(what string) { *m.life = append(*m.life, what) }

func (m *mayfly) PreStart(s *core.HookStack) core.Yield {
	if m.note("start"); m.panic == "start" {
		panic("at the start")
	}
	return ends(s, m.start)
}

// resumes has actors go on that have failed.
var resumes = &core.Strategy{Decide: func(error) core.Directive { return core.Resume }}

// ends is the end of a hook.
func ends(s *core.HookStack, err error) core.Yield {
	if err != nil {
		return s.Throw(err)
	}
	return s.Return()
}

func (m *mayfly) PostStop(s *core.HookStack) core.Yield {
	if m.note("stop"); m.panic == "stop" {
		panic("at the end")
	}
	return ends(s, m.end)
}

// fly answers at once, or suspends for an hour.
func (m *mayfly) fly(s *flyStack) core.Yield {
	m.note(s.Req)
	if s.Req == "wait" {
		core.Timer.Ask(s, &s.tick, time.Hour)
		return core.Suspend(s, (*mayfly).landed)
	}
	return s.Return(len(*m.life))
}

func (m *mayfly) landed(s *flyStack) core.Yield { return s.Return(0) }

var fly = core.Handle((*mayfly).fly)

func wantLife(t *testing.T, life []string, want string) {
	t.Helper()
	if got := strings.Join(life, " "); got != want {
		t.Errorf("life %q, want %q", got, want)
	}
}

// TestPreStartRunsFirst: before the first message, wherever it comes from and
// however soon; PostStop once, after the last stack has ended.
func TestPreStartRunsFirst(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		var life []string
		at := core.Spawn(sim.Workers()[0], func() *mayfly { return &mayfly{life: &life} })
		wantLife(t, life, "")
		first, second, waits := core.Begin(fly.At(at), "a"), core.Begin(fly.At(at), "b"), core.Begin(fly.At(at), "wait")
		sim.Rest()
		at.Stop()
		at.Stop()
		sim.Rest()
		wantLife(t, life, "start a b wait stop")
		for i, c := range []core.Pending[int]{first, second} {
			if n, err := c.Get(); n != i+2 || err != nil {
				t.Errorf("answer %d, %v", n, err)
			}
		}
		if _, err := waits.Get(); err != core.ErrStopped {
			t.Errorf("the suspended one got %v", err)
		}
		if _, err := housetest.Ask(t, sim, fly.At(at), "c"); err != core.ErrStopped {
			t.Errorf("after the stop: %v", err)
		}
		wantLife(t, life, "start a b wait stop")
	})
}

// TestSpawnFromAStep: beside the parent or elsewhere, and asked in the same step.
func TestSpawnFromAStep(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		for i, place := range []func(s *scene) core.Place{
			func(s *scene) core.Place { return core.Beside(s) },
			func(*scene) core.Place { return sim.Workers()[0] },
			func(*scene) core.Place { return sim.Workers()[1] },
			func(*scene) core.Place { return sim },
		} {
			var life []string
			var answer core.Future[int]
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				at := core.Spawn(place(s), func() *mayfly { return &mayfly{life: &life} })
				if beside := at.House().Owner() == stack.Of(s).Engine(); beside != (i < 2) && i < 3 {
					t.Errorf("place %d: beside %t", i, beside)
				}
				fly.At(at).Ask(s, &answer, "a")
				return s.wait(func(_ *player, s *scene) core.Yield {
					n, err := answer.Get()
					if err != nil {
						return s.Throw(err)
					}
					return s.Return(n)
				})
			}, 2)
			wantLife(t, life, "start a")
		}
		if n := sim.Actors(); n != 5 {
			t.Errorf("%d actors, want 5", n)
		}
	})
}

// TestPreStartFails: the actor stops before its first message.
func TestPreStartFails(t *testing.T) {
	for name, fly1 := range map[string]mayfly{
		"error": {start: errors.New("no wings")},
		"panic": {panic: "start"},
	} {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
				var life []string
				fly1.life = &life
				at := core.Spawn(sim.Workers()[0], func() *mayfly { one := fly1; return &one })
				if _, err := housetest.Ask(t, sim, fly.At(at), "a"); err != core.ErrStopped {
					t.Errorf("error %v", err)
				}
				wantLife(t, life, "start stop")
				wantStat(t, "failures", stats(sim).Failures, 1)
				if n := sim.Actors(); n != 0 {
					t.Errorf("%d actors, want 0", n)
				}
			})
		})
	}
}

// TestPostStopFails: it is reported, and the actor is gone all the same.
func TestPostStopFails(t *testing.T) {
	for name, fly1 := range map[string]mayfly{
		"error": {end: errors.New("still flying")},
		"panic": {panic: "stop"},
	} {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
				var life []string
				fly1.life = &life
				at := core.Spawn(sim.Workers()[0], func() *mayfly { one := fly1; return &one })
				waits := core.Begin(fly.At(at), "wait")
				sim.Rest()
				at.Stop()
				sim.Rest()
				if _, err := waits.Get(); err != core.ErrStopped {
					t.Errorf("error %v", err)
				}
				wantLife(t, life, "start wait stop")
				wantStat(t, "failures", stats(sim).Failures, 1)
				if n := sim.Actors(); n != 0 {
					t.Errorf("%d actors, want 0", n)
				}
			})
		})
	}
}

// starterOnly and stopperOnly implement one end each.
type (
	starterOnly struct{ began *int }
	stopperOnly struct{ ended *int }
)

func (a *starterOnly) PreStart(s *core.HookStack) core.Yield { *a.began++; return s.Return() }
func (a *stopperOnly) PostStop(s *core.HookStack) core.Yield { *a.ended++; return s.Return() }

func TestOneEndOfALife(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		began, ended := 0, 0
		a := core.Spawn(sim, func() *starterOnly { return &starterOnly{&began} })
		b := core.Spawn(sim, func() *stopperOnly { return &stopperOnly{&ended} })
		sim.Rest()
		a.Stop()
		b.Stop()
		sim.Rest()
		if began != 1 || ended != 1 {
			t.Errorf("began %d, ended %d times", began, ended)
		}
	})
}

// lateParent has a child when it is too late.
type lateParent struct {
	at    core.Place
	life  *[]string
	child *core.Address[mayfly]
}

func (a *lateParent) PostStop(s *core.HookStack) core.Yield {
	*a.child = core.Spawn(a.at, func() *mayfly { return &mayfly{life: a.life} })
	return s.Return()
}

// TestSpawnWhileClosing: who is born while the system closes is stopped from
// birth; neither end of its life is run.
func TestSpawnWhileClosing(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		var life []string
		var child core.Address[mayfly]
		core.Spawn(sim, func() *lateParent { return &lateParent{sim, &life, &child} })
		if err := sim.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantLife(t, life, "")
		if _, err := housetest.Ask(t, sim, fly.At(child), "a"); err != core.ErrStopped {
			t.Errorf("error %v", err)
		}
		wantLife(t, life, "")
	})
}

// TestStopOnThreads: asks race with the stop; each is answered or told, PostStop
// runs once.
func TestStopOnThreads(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	for round := range 100 {
		var life []string
		at := core.Spawn(sys.Workers()[round%2], func() *mayfly { return &mayfly{life: &life} })
		ended := make(chan error)
		for g := range 4 {
			go func() {
				what := "a"
				if g == 0 {
					what = "wait"
				}
				for {
					if _, err := core.Ask(t.Context(), fly.At(at), what); err != nil {
						ended <- err
						return
					}
				}
			}()
		}
		if err := at.StopWait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if err := <-ended; err != core.ErrStopped {
				t.Errorf("an ask ended with %v", err)
			}
		}
		if n := len(life); n < 2 || life[0] != "start" || life[n-1] != "stop" {
			t.Fatalf("life %v", life)
		}
	}
}
