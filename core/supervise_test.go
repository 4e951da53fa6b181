package core_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// The tests of this file have actors fail, restart, stop and watch each other.

// diary is what the ghosts of a test write down, in order.
type diary struct{ lines []string }

func (d *diary) note(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// took returns what was written since the last call.
func (d *diary) took() string {
	text := strings.Join(d.lines, " ")
	d.lines = nil
	return text
}

// ghost has every hook, writes down what happens to it, and does what it is told.
type ghost struct {
	diary   *diary
	name    string
	life    int                           // which instance it is, from 1
	slow    time.Duration                 // how long each hook waits
	fails   string                        // the hook that throws, if any
	breaks  string                        // the hook that panics, if any
	bears   func(*ghost, *core.HookStack) // what it does in the hook bearsAt
	bearsAt string
	wait    core.Future[core.Tick]
	hook    string
}

func (g *ghost) run(s *core.HookStack, hook string) core.Yield {
	g.hook = hook
	g.diary.note("%s%d:%s", g.name, g.life, hook)
	if g.bearsAt == hook && hook != "" {
		g.bears(g, s)
	}
	if g.slow > 0 {
		core.Timer.Ask(s, &g.wait, g.slow)
		return core.Suspend(s, (*ghost).ran)
	}
	return g.ran(s)
}

func (g *ghost) ran(s *core.HookStack) core.Yield {
	if g.breaks == g.hook {
		panic(errHook)
	}
	if g.fails == g.hook {
		return s.Throw(errHook)
	}
	return s.Return()
}

func (g *ghost) PreStart(s *core.HookStack) core.Yield    { return g.run(s, "start") }
func (g *ghost) PostStop(s *core.HookStack) core.Yield    { return g.run(s, "stop") }
func (g *ghost) PreRestart(s *core.HookStack) core.Yield  { return g.run(s, "end/"+cause(s)) }
func (g *ghost) PostRestart(s *core.HookStack) core.Yield { return g.run(s, "again/"+cause(s)) }

// cause is the last word of why there is a restart.
func cause(s *core.HookStack) string {
	words := strings.Fields(s.Cause().Error())
	return words[len(words)-1]
}

// ghostStack is one word to a ghost.
type ghostStack struct {
	core.AskStack[func(g *ghost, s *ghostStack) core.Yield, int]
	wait core.Future[core.Tick]
}

func (g *ghost) do(s *ghostStack) core.Yield { return s.Req(g, s) }

func (g *ghost) bequeath(s *core.NoticeStack[core.Terminated]) core.Yield {
	g.diary.note("%s:saw:%s", g.name, s.Msg.Actor.Path().Local())
	return s.Return()
}

// fail panics, or throws what is no error of its own.
func (g *ghost) fail(s *core.NoticeStack[error]) core.Yield {
	if s.Msg == errCold {
		return s.Throw(s.Msg)
	}
	panic(s.Msg)
}

var (
	ghostFail    = core.HandleNotice((*ghost).fail)
	ghostDo      = core.Handle((*ghost).do)
	ghostWatches = core.HandleNotice((*ghost).bequeath)

	errHook = errors.New("hook")
	errHot  = errors.New("hot")
	errCold = errors.New("cold")
)

// haunt spawns a ghost.
func haunt(t *testing.T, at core.Place, d *diary, name string, p core.Props, more ...func(*ghost)) core.Address[ghost] {
	t.Helper()
	life := 0
	p.Name = name
	a, err := core.SpawnWith(at, func() *ghost {
		life++
		g := &ghost{diary: d, name: name, life: life}
		for _, f := range more {
			f(g)
		}
		return g
	}, p)
	require.NoError(t, err)
	return a
}

// always has a directive for every failure.
func always(d core.Directive) *core.Strategy {
	return &core.Strategy{Restarts: -1, Decide: func(error) core.Directive { return d }}
}

// says is a step that writes a word down.
func says(word string) func(*ghost, *ghostStack) core.Yield {
	return func(g *ghost, s *ghostStack) core.Yield {
		g.diary.note("%s%d:%s", g.name, g.life, word)
		return s.Return(g.life)
	}
}

// panics is a step that fails with err.
func panics(err error) func(*ghost, *ghostStack) core.Yield {
	return func(*ghost, *ghostStack) core.Yield { panic(err) }
}

// sleeps is a step that waits for d before it says something.
func sleeps(d time.Duration, word string) func(*ghost, *ghostStack) core.Yield {
	return func(_ *ghost, s *ghostStack) core.Yield {
		core.Timer.Ask(s, &s.wait, d)
		s.Req = says(word)
		return core.Suspend(s, (*ghost).do)
	}
}

func endedAs(t *testing.T, want error, calls ...core.Pending[int]) {
	t.Helper()
	for i, c := range calls {
		require.True(t, c.Ready(), "call %d waits", i)
		if _, err := c.Get(); want == nil {
			require.NoError(t, err, "call %d", i)
		} else {
			require.ErrorIs(t, err, want, "call %d", i)
		}
	}
}

// A failure makes a new instance; what was begun ends, what is queued stays, in its order.
func TestRestart(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		d := &diary{}
		p := ghostDo.At(haunt(t, sim, d, "g", core.Props{OnFailure: always(core.Restart)}))
		begun := core.Begin(p, sleeps(time.Hour, "never"))
		sim.Rest()
		fails := core.Begin(p, panics(errHot))
		after := []core.Pending[int]{core.Begin(p, says("a")), core.Begin(p, says("b")), core.Begin(p, says("c"))}
		sim.Rest()
		require.Equal(t, "g1:start g1:end/hot g2:again/hot g2:a g2:b g2:c", d.took())
		endedAs(t, core.ErrRestarted, begun)
		endedAs(t, core.ErrPanic, fails)
		endedAs(t, nil, after...)
	})
}

// Hooks may wait; messages do meanwhile, and a stop acts behind.
func TestHooksSuspend(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: always(core.Restart)}, func(g *ghost) { g.slow = time.Second })
	p := ghostDo.At(a)
	first := core.Begin(p, says("a"))
	sim.Run(999 * time.Millisecond)
	require.Equal(t, "g1:start", d.took())
	require.False(t, first.Ready())
	sim.Run(time.Millisecond)
	require.Equal(t, "g1:a", d.took())
	endedAs(t, nil, first)
	fails, next := core.Begin(p, panics(errHot)), core.Begin(p, says("b"))
	sim.Run(1999 * time.Millisecond)
	require.Equal(t, "g1:end/hot g2:again/hot", d.took())
	a.Stop() // while it starts
	sim.Run(time.Millisecond)
	require.Equal(t, "g2:stop", d.took())
	endedAs(t, core.ErrPanic, fails)
	endedAs(t, core.ErrStopped, next)
	late := core.Begin(p, says("c"))
	sim.Run(time.Second)
	endedAs(t, core.ErrStopped, late)
	require.Empty(t, d.took())
	require.Zero(t, sim.Actors())
}

// A stop while an instance ends for a restart: its hook goes on, and there is no other instance.
func TestStopWhileRestarting(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: always(core.Restart)}, func(g *ghost) { g.slow = time.Second })
	sim.Run(time.Second)
	fails, queued := core.Begin(ghostDo.At(a), panics(errHot)), core.Begin(ghostDo.At(a), says("a"))
	sim.Run(time.Millisecond)
	a.Stop()
	sim.Run(10 * time.Millisecond)
	endedAs(t, core.ErrStopped, queued)
	require.Equal(t, 1, sim.Actors(), "its hook runs")
	sim.Run(time.Second)
	endedAs(t, core.ErrPanic, fails)
	require.Zero(t, sim.Actors())
	require.Equal(t, "g1:start g1:end/hot", d.took())
}

func TestDirectives(t *testing.T) {
	by := &core.Strategy{Restarts: -1, Decide: core.Decide(core.Restart,
		core.OnIs(errCold, core.Resume), core.OnAs[*core.StartError](core.Restart), core.OnIs(errHook, core.Stop))}
	for _, c := range []struct {
		name string
		with core.Props
		err  error
		want string
		life int // of the instance that answers then; 0: it has stopped
	}{
		{"default", core.Props{}, errHot, "g1:end/hot g2:again/hot", 2},
		{"resume", core.Props{OnFailure: by}, errCold, "", 1},
		{"stop", core.Props{OnFailure: by}, errHook, "g1:stop", 0},
		{"otherwise", core.Props{OnFailure: by}, errHot, "g1:end/hot g2:again/hot", 2},
		{"escalate at the top", core.Props{OnFailure: always(core.Escalate)}, errHot, "g1:stop", 0},
		{"a decider that panics", core.Props{OnFailure: &core.Strategy{Decide: func(error) core.Directive { panic("no") }}}, errHot, "g1:stop", 0},
		{"nonsense", core.Props{OnFailure: always(77)}, errHot, "g1:stop", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: quiet})
			d := &diary{}
			p := ghostDo.At(haunt(t, sim, d, "g", c.with))
			sim.Rest()
			d.took()
			fails := core.Begin(p, panics(c.err))
			sim.Rest()
			endedAs(t, c.err, fails)
			require.Equal(t, c.want, d.took())
			life, err := housetest.Ask(t, sim, p, says("a"))
			require.Equal(t, c.life, life)
			require.Equal(t, c.life == 0, errors.Is(err, core.ErrStopped), "%v", err)
		})
	}
}

// A start that fails is the supervisor's business, too; it can't be resumed.
func TestStartFails(t *testing.T) {
	for _, c := range []struct {
		name string
		with *core.Strategy
		want string
	}{
		{"default", nil, "g1:start g1:stop"},
		{"resume", always(core.Resume), "g1:start g1:stop"},
		{"restart twice", &core.Strategy{Restarts: 2, Decide: func(error) core.Directive { return core.Restart }},
			"g1:start g1:end/hook g2:again/hook g2:end/hook g3:again/hook g3:stop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := stage(t, 1, 1)
			d := &diary{}
			a := haunt(t, sim, d, "g", core.Props{OnFailure: c.with}, func(g *ghost) { g.fails = "start" }, func(g *ghost) {
				if g.life > 1 {
					g.fails = "again/hook"
				}
			})
			queued := core.Begin(ghostDo.At(a), says("never"))
			sim.Rest()
			require.Equal(t, c.want, d.took())
			endedAs(t, core.ErrStopped, queued)
		})
	}
}

// The factory of a new instance may fail, too.
func TestFactoryFails(t *testing.T) {
	for _, nothing := range []bool{false, true} {
		sys := open(t, house.Config{Workers: 1})
		var made atomic.Int64
		more := make(chan struct{})
		a, err := core.SpawnWith(sys, func() *ghost {
			if n := made.Add(1); n == 1 {
				return &ghost{diary: &diary{}}
			} else if n == 1000 {
				close(more)
			}
			if nothing {
				return nil
			}
			panic("no more")
		}, core.Props{OnFailure: always(core.Restart)})
		require.NoError(t, err)
		a.Restart(errHot)
		late := core.Begin(ghostDo.At(a), says("never"))
		<-more // over and over, but others, and a stop, get their turn
		require.NoError(t, a.StopWait(t.Context()))
		_, err = late.Get()
		require.ErrorIs(t, err, core.ErrStopped)
	}
}

// So many restarts within a window, not one more; they are counted anew behind it.
func TestRestartsAreLimited(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: &core.Strategy{Restarts: 2, Window: 10e9}})
	p := ghostDo.At(a)
	fail := func() { core.Notice(ghostFail.At(a), errHot); sim.Rest() }
	for range 3 {
		fail()
		sim.Run(5100 * time.Millisecond) // the one before the last is forgotten
	}
	life, err := housetest.Ask(t, sim, p, says("a"))
	require.NoError(t, err)
	require.Equal(t, 4, life)
	fail()
	fail()
	_, err = housetest.Ask(t, sim, p, says("b"))
	require.ErrorIs(t, err, core.ErrStopped)
}

// The pause before a restart doubles up to a limit, and begins anew behind a quiet window.
func TestBackoff(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: &core.Strategy{Restarts: -1, Window: 60e9, Backoff: 1e9, BackoffMax: 4e9}})
	p := ghostDo.At(a)
	sim.Rest()
	pause := func() float64 {
		begun := core.Begin(p, sleeps(time.Hour, "never"))
		sim.Rest()
		began := sim.Now
		core.Notice(ghostFail.At(a), errHot)
		answer := core.Begin(p, says("a"))
		sim.Rest()
		endedAs(t, core.ErrRestarted, begun) // at once, not behind the pause
		for !answer.Ready() {
			sim.Run(10 * time.Millisecond)
		}
		endedAs(t, nil, answer)
		return float64(sim.Now-began) / 1e9
	}
	for _, full := range []float64{1, 2, 4, 4} {
		took := pause()
		require.GreaterOrEqual(t, took, full/2)
		require.LessOrEqual(t, took, full+0.02)
	}
	sim.Run(61 * time.Second)
	require.LessOrEqual(t, pause(), 1.02)
	core.Notice(ghostFail.At(a), errHot)
	sim.Rest()
	a.Stop() // in the pause
	sim.Rest()
	require.Zero(t, sim.Actors())
}
