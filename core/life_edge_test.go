package core_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// The tests of this file are of moments in a life at which something else happens.

// A hook may panic behind the panic for which it runs.
func TestHookPanicsBehindAPanic(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: always(core.Restart)}, func(g *ghost) { g.breaks = "end/hot" })
	fails := core.Begin(ghostDo.At(a), panics(errHot))
	next := core.Begin(ghostDo.At(a), says("a"))
	sim.Rest()
	require.Equal(t, "g1:start g1:end/hot g2:again/hot g2:a", d.took())
	endedAs(t, core.ErrPanic, fails)
	endedAs(t, nil, next)
}

// Who has stopped doesn't restart, with a record of its life or without: its place in the
// register is another's.
func TestRestartOfTheDead(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	plain, full := core.Spawn(sim, func() *player { return &player{} }), haunt(t, sim, d, "g", core.Props{})
	plain.Stop()
	full.Stop()
	sim.Rest()
	d.took()
	made := 0
	for range 2 {
		core.Spawn(sim, func() *ghost { made++; return &ghost{diary: d, name: "o"} })
	}
	sim.Rest()
	d.took()
	plain.Restart(errHot)
	full.Restart(errHot)
	sim.Rest()
	require.Empty(t, d.took())
	require.Equal(t, 2, made)
	wantStat(t, "restarts", stats(sim).Restarts, 0)
}

// A child born while the system closes never lives: it has no place in the register, and is not
// waited for.
func TestSpawnUnderWhileClosing(t *testing.T) {
	for _, hook := range []string{"stop", "start"} {
		sim := stage(t, 1, 1)
		d := &diary{}
		var child core.Address[ghost]
		bears := func(g *ghost, s *core.HookStack) {
			child = haunt(t, core.Under(s), d, "c", core.Props{})
		}
		other := core.Spawn(sim, func() *player { return &player{} })
		haunt(t, sim, d, "p", core.Props{}, func(g *ghost) {
			g.bears, g.bearsAt = bears, hook
		})
		if hook == "stop" {
			sim.Rest()
		}
		require.NoError(t, sim.Shutdown(t.Context()))
		require.NotContains(t, d.took(), "c1")
		require.Zero(t, sim.Actors())
		child.Restart(errHot)
		_, err := housetest.Ask(t, sim, ghostDo.At(child), says("a"))
		require.ErrorIs(t, err, core.ErrStopped)
		_, err = housetest.Ask(t, sim, play.At(other), answer(1))
		require.ErrorIs(t, err, core.ErrStopped)
	}
}

// A child born in the hook that ends an instance stops, too, before the next instance begins.
func TestChildBornInPreRestart(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "p", core.Props{OnFailure: always(core.Restart)}, func(g *ghost) {
		g.bearsAt = "end/hot"
		g.bears = func(g *ghost, s *core.HookStack) { haunt(t, core.Under(s), d, "c", core.Props{}) }
	})
	sim.Rest()
	a.Restart(errHot)
	sim.Rest()
	require.Equal(t, "p1:start p1:end/hot c1:start c1:stop p2:again/hot", d.took())
	require.Equal(t, 1, sim.Actors())
}

// What a parent tells a child comes behind the child's birth; who never started has no end hook.
func TestParentFailsBehindABirth(t *testing.T) {
	eachSeed(t, 5, 1, func(t *testing.T, sim *housetest.Sim) {
		d := &diary{}
		p := haunt(t, sim, d, "p", core.Props{OnFailure: always(core.Restart), Children: &core.Strategy{Scope: core.AllForOne}})
		fails := core.Begin(ghostDo.At(p), func(g *ghost, s *ghostStack) core.Yield {
			haunt(t, core.Under(s), d, "c", core.Props{})
			panic(errHot)
		})
		sim.Rest()
		endedAs(t, core.ErrPanic, fails)
		require.Equal(t, "p1:start c1:start c1:stop p1:end/hot p2:again/hot", d.took())
	})
}

// A stop that comes while children hold up a restart is no restart: its end hook has no cause.
func TestStopWhileChildrenHoldUpARestart(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "p", core.Props{}, func(g *ghost) {
		g.bearsAt = "stop"
		g.bears = func(_ *ghost, s *core.HookStack) { d.note("cause:%v", s.Cause()) }
	})
	_, err := housetest.Ask(t, sim, ghostDo.At(a), func(_ *ghost, s *ghostStack) core.Yield {
		haunt(t, core.Under(s), d, "c", core.Props{}, func(g *ghost) { g.slow = time.Millisecond })
		return s.Return(0)
	})
	require.NoError(t, err)
	sim.Run(time.Second)
	a.Restart(errHot)
	sim.Rest()
	a.Stop()
	sim.Run(time.Second)
	require.Equal(t, "p1:start c1:start c1:stop p1:stop cause:<nil>", d.took())
}

// A child born when its parent has been told to stop never starts, and so never ends.
func TestChildBornInPostStop(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "p", core.Props{}, func(g *ghost) {
		g.bearsAt = "stop"
		g.bears = func(g *ghost, s *core.HookStack) { haunt(t, core.Under(s), d, "c", core.Props{}) }
	})
	sim.Rest()
	a.Stop()
	sim.Rest()
	require.Equal(t, "p1:start p1:stop", d.took())
	require.Zero(t, sim.Actors())
}

// Who drains, and fails, and is told by its supervisor to go on, drains on.
func TestResumeOfADrain(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	_, all := family(t, sim, d, core.Props{OnFailure: always(core.Resume), Children: always(core.Escalate)})
	p := ghostDo.At(all[1])
	begun := core.Begin(p, sleeps(2*time.Second, "a"))
	fails := core.Begin(p, func(_ *ghost, s *ghostStack) core.Yield {
		core.Timer.Ask(s, &s.wait, time.Second)
		s.Req = panics(errHot)
		return core.Suspend(s, (*ghost).do)
	})
	all[1].Drain()
	late := core.Begin(p, says("never"))
	sim.Run(3 * time.Second)
	require.Equal(t, "b1:a b1:stop", d.took())
	endedAs(t, nil, begun)
	endedAs(t, core.ErrPanic, fails)
	endedAs(t, core.ErrStopped, late)
}

// A Throw in a notice is a failure, whatever is thrown: also what a nested ask ended with.
func TestThrowOfASentinel(t *testing.T) {
	sim := stage(t, 1, 1)
	for i, err := range []error{core.ErrStopped, core.ErrRestarted, core.ErrTimeout, core.ErrCancelled, core.ErrMailboxFull} {
		a := core.Spawn(sim, func() *thrower { return &thrower{} })
		core.Notice(throws.At(a), err)
		sim.Rest()
		wantStat(t, "failures", stats(sim).Failures, uint64(i+1))
	}
}

type thrower struct{}

func (*thrower) throw(s *core.NoticeStack[error]) core.Yield { return s.Throw(s.Msg) }

var throws = core.HandleNotice((*thrower).throw)

// A group pauses before it restarts, as one actor does.
func TestBackoffOfAGroup(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	_, all := family(t, sim, d, core.Props{Children: &core.Strategy{Scope: core.RestForOne, Backoff: 1e9}})
	core.Notice(ghostFail.At(all[1]), errHot)
	sim.Run(400 * time.Millisecond)
	require.Equal(t, "b1:end/hot c1:end/hot", d.took())
	sim.Run(time.Second)
	require.Equal(t, "b2:again/hot c2:again/hot", d.took())
}

// A decider that says something else when it is asked for the group: nobody stops who was told to
// go on.
func TestDeciderOfAGroupChangesItsMind(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	said := []core.Directive{core.Restart, core.Resume}
	_, all := family(t, sim, d, core.Props{Children: &core.Strategy{Scope: core.AllForOne, Decide: func(error) core.Directive {
		says := said[0]
		said = said[1:]
		return says
	}}})
	core.Notice(ghostFail.At(all[1]), errHot)
	sim.Rest()
	require.Empty(t, d.took())
	require.Empty(t, said)
	for _, a := range all {
		_, err := housetest.Ask(t, sim, ghostDo.At(a), func(_ *ghost, s *ghostStack) core.Yield { return s.Return(0) })
		require.NoError(t, err)
	}
}

// The restarts of an actor and those of its children together are limited apart.
func TestGroupHasItsOwnLimit(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	p, all := family(t, sim, d, core.Props{
		OnFailure: &core.Strategy{Restarts: 1}, Children: &core.Strategy{Scope: core.AllForOne, Restarts: 1},
	})
	core.Notice(ghostFail.At(all[1]), errHot)
	sim.Rest()
	require.Contains(t, d.took(), "b2:again/hot")
	core.Notice(ghostFail.At(p), errHot)
	sim.Rest()
	require.Contains(t, d.took(), "p2:again/hot")
}

// The scope of a strategy that an actor has of its own concerns nobody else.
func TestScopeOfOnesOwnStrategy(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	p, _ := family(t, sim, d, core.Props{})
	housetest.Ask(t, sim, ghostDo.At(p), func(g *ghost, s *ghostStack) core.Yield {
		own := haunt(t, core.Under(s), d, "o", core.Props{OnFailure: &core.Strategy{Scope: core.AllForOne}})
		core.Notice(ghostFail.At(own), errHot)
		return s.Return(0)
	})
	sim.Rest()
	require.Equal(t, "o1:start o1:end/hot o2:again/hot", d.took())
}

// A parent that is told to go on tells its children, and that ends no pause before a restart.
func TestResumeOfWhoRests(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	var p, c core.Address[ghost]
	top := haunt(t, sim, d, "t", core.Props{OnFailure: always(core.Resume)})
	_, err := housetest.Ask(t, sim, ghostDo.At(top), func(g *ghost, s *ghostStack) core.Yield {
		p = haunt(t, core.Under(s), d, "p", core.Props{OnFailure: always(core.Escalate)})
		return s.Return(0)
	})
	require.NoError(t, err)
	_, err = housetest.Ask(t, sim, ghostDo.At(p), func(g *ghost, s *ghostStack) core.Yield {
		c = haunt(t, core.Under(s), d, "c", core.Props{OnFailure: &core.Strategy{Backoff: 4 * time.Second}})
		return s.Return(0)
	})
	require.NoError(t, err)
	fails := core.Begin(ghostDo.At(c), panics(errHot))
	sim.Rest()
	d.took()
	escalates := core.Begin(ghostDo.At(p), panics(errCold))
	begun := core.Begin(ghostDo.At(c), says("a"))
	sim.Run(time.Second)
	require.Empty(t, d.took(), "it goes on before its pause has ended")
	sim.Run(3 * time.Second)
	require.Equal(t, "c2:again/hot c2:a", d.took())
	endedAs(t, core.ErrPanic, fails, escalates)
	endedAs(t, nil, begun)
}

// A stop that comes while a restart ends the instance ends what the end hook has begun, too.
func TestStopDuringPreRestart(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: always(core.Restart)}, func(g *ghost) {
		g.slow, g.bearsAt = time.Second, "end/hot"
		g.bears = func(g *ghost, s *core.HookStack) { core.ReceiveTimeout(s, time.Hour, ghostQuiet) }
	})
	sim.Run(2 * time.Second)
	a.Restart(errHot)
	sim.Rest()
	a.Stop()
	sim.Run(2 * time.Second)
	require.Equal(t, "g1:start g1:end/hot", d.took())
	require.Zero(t, sim.Actors())
}

var ghostQuiet = core.HandleNotice((*ghost).ignore)

func (g *ghost) ignore(s *core.NoticeStack[core.Quiet]) core.Yield { return s.Return() }

// Who is restarted before it has started, by one who looked it up, starts once.
func TestRestartBeforeStart(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, hasty{sim}, d, "g", core.Props{})
	sim.Rest()
	a.Stop()
	sim.Rest()
	require.Equal(t, "g2:again/hot g2:stop", d.took())
}

// hasty is a place where who is born is restarted before its start.
type hasty struct{ *housetest.Sim }

func (p hasty) Register(h *stack.House, make stack.Factory) *stack.House {
	taken := p.Workers()[0].Register(h, make)
	h.Restart(h.Owner().Guests, errHot)
	return taken
}

// A factory that fails in a restart, by a panic or runtime.Goexit, leaves nobody whose end could
// come once more: it is tried again, or, if the actor stops, its end hook doesn't run again.
func TestFactoryFailsOnce(t *testing.T) {
	for _, fails := range []func(){func() { panic("no more") }, runtime.Goexit} {
		for _, again := range []bool{true, false} {
			sim := stage(t, 1, 1)
			d := &diary{}
			made := 0
			own := &core.Strategy{} // which stops who doesn't start
			if again {
				own = always(core.Restart)
			}
			a, err := core.SpawnWith(sim, func() *ghost {
				if made++; made == 2 {
					fails()
				}
				return &ghost{diary: d, name: "g", life: made}
			}, core.Props{OnFailure: own})
			require.NoError(t, err)
			sim.Rest()
			a.Restart(errHot)
			done := make(chan struct{})
			go func() {
				defer close(done)
				sim.Rest()
			}()
			<-done
			sim.Rest()
			if !again {
				require.Equal(t, "g1:start g1:end/hot", d.took())
				require.Zero(t, sim.Actors())
				continue
			}
			require.Regexp(t, "^g1:start g1:end/hot g3:again/", d.took())
			_, err = housetest.Ask(t, sim, ghostDo.At(a), says("a"))
			require.NoError(t, err)
		}
	}
}

type (
	misspelt     struct{}
	misspeltStop struct{ core.HookStack }
)

func (*misspelt) PostStop(s *misspeltStop) core.Yield                { return s.Return() }
func (*misspelt) hear(s *core.NoticeStack[int]) core.Yield           { return s.Return() }
func (*misspelt) answer(s *core.AskStack[int, int]) core.Yield       { return s.Return(0) }
func (*misspelt) hearAll(s *core.BatchNoticeStack[int]) core.Yield   { return s.Return() }
func (*misspelt) answerAll(*core.BatchAskStack[int, int]) core.Yield { return core.Yield{} }

// A method that looks like a hook, and would never be called, is refused where the first handler of
// its actor is made.
func TestMethodThatIsNoHook(t *testing.T) {
	for name, f := range map[string]func(){
		"Handle":            func() { core.Handle((*misspelt).answer) },
		"HandleBatch":       func() { core.HandleBatch((*misspelt).answerAll, 0) },
		"HandleNotice":      func() { core.HandleNotice((*misspelt).hear) },
		"HandleNoticeBatch": func() { core.HandleNoticeBatch((*misspelt).hearAll, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			require.PanicsWithValue(t, "core: (*core_test.misspelt).PostStop is no hook: that takes a *core.HookStack and returns a core.Yield", f)
		})
	}
}

type (
	startsBadly    struct{}
	restartsBadly  struct{}
	restartedBadly struct{}
)

func (*startsBadly) PreStart()                                   {}
func (*restartsBadly) PreRestart(*core.HookStack)                {}
func (*restartedBadly) PostRestart(error) core.Yield             { return core.Yield{} }
func (*startsBadly) hear(s *core.NoticeStack[int]) core.Yield    { return s.Return() }
func (*restartsBadly) hear(s *core.NoticeStack[int]) core.Yield  { return s.Return() }
func (*restartedBadly) hear(s *core.NoticeStack[int]) core.Yield { return s.Return() }

// Each hook's name is looked at.
func TestEachNameOfAHook(t *testing.T) {
	for name, f := range map[string]func(){
		"PreStart":    func() { core.HandleNotice((*startsBadly).hear) },
		"PreRestart":  func() { core.HandleNotice((*restartsBadly).hear) },
		"PostRestart": func() { core.HandleNotice((*restartedBadly).hear) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { require.Contains(t, recover(), name+" is no hook") }()
			f()
		})
	}
}
