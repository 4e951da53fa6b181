package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// chronicle writes down what a system tells of its actors.
	chronicle        struct{ lines map[core.AnyAddress]string }
	chronicleStarted struct {
		core.NoticeStack[core.ActorStarted]
	}
	chronicleStopped struct {
		core.NoticeStack[core.ActorStopped]
	}
	chronicleRestarted struct {
		core.NoticeStack[core.ActorRestarted]
	}
	chronicleFailure struct{ core.NoticeStack[core.Failure] }
)

func (d *chronicle) started(s *chronicleStarted) core.Yield {
	d.lines[s.Msg.Actor] += "started "
	return s.Return()
}

func (d *chronicle) stopped(s *chronicleStopped) core.Yield {
	d.lines[s.Msg.Actor] += "stopped "
	return s.Return()
}

func (d *chronicle) restarted(s *chronicleRestarted) core.Yield {
	if !errors.Is(s.Msg.Err, core.ErrPanic) {
		d.lines[s.Msg.Actor] += "oddly "
	}
	d.lines[s.Msg.Actor] += "restarted "
	return s.Return()
}

func (d *chronicle) failed(s *chronicleFailure) core.Yield {
	if errors.Is(s.Msg.Err, core.ErrPanic) {
		d.lines[s.Msg.Actor] += "panicked "
	} else {
		d.lines[s.Msg.Actor] += "failed "
	}
	return s.Return()
}

var (
	chronicleOnStarted   = core.HandleNotice((*chronicle).started)
	chronicleOnStopped   = core.HandleNotice((*chronicle).stopped)
	chronicleOnRestarted = core.HandleNotice((*chronicle).restarted)
	chronicleOnFailure   = core.HandleNotice((*chronicle).failed)
)

// TestEventsOfLives: each start, failure and stop of each actor is told once, in order, to an
// actor and to a goroutine, wherever the actors are spawned from.
func TestEventsOfLives(t *testing.T) {
	eachSeed(t, 30, 3, func(t *testing.T, sim *housetest.Sim) {
		r := rand.New(rand.NewPCG(sim.Seed, 85))
		d := &chronicle{lines: map[core.AnyAddress]string{}}
		spawner := hint.At(core.Spawn(sim.Workers()[0], func() *player { return &player{} }))
		at := core.Spawn(sim.Workers()[r.IntN(3)], func() *chronicle { return d })
		core.Events[core.ActorStarted](sim).Subscribe(chronicleOnStarted.At(at))
		core.Events[core.ActorStopped](sim).Subscribe(chronicleOnStopped.At(at))
		core.Events[core.ActorRestarted](sim).Subscribe(chronicleOnRestarted.At(at))
		core.Events[core.Failure](sim).Subscribe(chronicleOnFailure.At(at))
		started, stopped := core.Events[core.ActorStarted](sim).Listen(1000), core.Events[core.ActorStopped](sim).Listen(1000)
		defer started.Close()
		defer stopped.Close()
		want := map[core.AnyAddress]string{}
		var life []string
		spawn := func(at core.Place) {
			switch r.IntN(7) {
			case 0:
				a := core.Spawn(at, func() *mayfly { return &mayfly{life: &life, start: errors.New("rain")} })
				want[a.Any()] = "failed stopped "
			case 1:
				a := core.Spawn(at, func() *mayfly { return &mayfly{life: &life, panic: "stop"} })
				a.Stop()
				want[a.Any()] = "started panicked stopped "
			case 2:
				a := core.Spawn(at, func() *mayfly { return &mayfly{life: &life} })
				want[a.Any()] = "started "
			case 3:
				a := core.Spawn(at, func() *player { return &player{} })
				a.Stop()
				want[a.Any()] = "started stopped "
			case 4:
				a := core.Spawn(at, func() *player { return &player{} })
				core.Notice(hint.At(a), func(*player, *cue) core.Yield { panic("stage fright") })
				core.Notice(hint.At(a), func(_ *player, s *cue) core.Yield { return s.Throw(errors.New("missed")) })
				want[a.Any()] = "started panicked failed "
			case 5: // without hooks
				a, _ := core.SpawnWith(at, func() *player { return &player{} }, core.Props{OnFailure: always(core.Restart)})
				core.Notice(hint.At(a), func(*player, *cue) core.Yield { panic("stage fright") })
				want[a.Any()] = "started panicked restarted "
			case 6:
				starts := 0
				a, _ := core.SpawnWith(at, func() *mayfly {
					if starts++; starts == 1 {
						return &mayfly{life: &life, panic: "start"}
					}
					return &mayfly{life: &life}
				}, core.Props{OnFailure: always(core.Restart)})
				want[a.Any()] = "panicked started "
			}
		}
		for range 100 {
			switch r.IntN(3) {
			case 0:
				spawn(sim)
			case 1:
				core.Notice(spawner, func(_ *player, s *cue) core.Yield {
					spawn(core.Beside(s))
					spawn(sim)
					return s.Return()
				})
			default:
				sim.Turn()
			}
		}
		sim.Rest()
		starts, stops := 0, 0
		for a, lines := range want {
			if d.lines[a] != lines {
				t.Errorf("told of %v: %q, want %q", a, d.lines[a], lines)
			}
			starts += strings.Count(" "+lines, " started")
			stops += strings.Count(lines, "stopped")
		}
		if len(d.lines) != len(want) {
			t.Errorf("told of %d actors, want %d", len(d.lines), len(want))
		}
		if a, b := len(drained(started)), len(drained(stopped)); a != starts || b != stops {
			t.Errorf("heard of %d starts and %d stops, want %d and %d", a, b, starts, stops)
		}
	})
}

// TestEventsOfARestartWithAStart: who has a PreStart, and had started, restarts; it doesn't start
// once more.
func TestEventsOfARestartWithAStart(t *testing.T) {
	sim := stage(t, 1, 1)
	started, restarted := core.Events[core.ActorStarted](sim).Listen(10), core.Events[core.ActorRestarted](sim).Listen(10)
	defer started.Close()
	defer restarted.Close()
	a := haunt(t, sim, &diary{}, "g", core.Props{OnFailure: always(core.Restart)})
	sim.Rest()
	failTimes(sim, a, 2)
	require.Len(t, drained(started), 1)
	require.Len(t, drained(restarted), 2)
}

// TestEventsOfSlowSteps: each is told, also when no line is due.
func TestEventsOfSlowSteps(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, SlowStep: 10 * time.Millisecond, Logger: quiet})
	slow := core.Events[core.SlowStep](sim).Listen(10)
	defer slow.Close()
	a := core.Spawn(sim, func() *player { return &player{} })
	takes := func(d time.Duration) {
		core.Notice(hint.At(a), func(_ *player, s *cue) core.Yield {
			sim.Now += int64(d)
			return s.Return()
		})
		sim.Rest()
	}
	takes(9 * time.Millisecond)
	takes(30 * time.Millisecond)
	takes(time.Microsecond)
	takes(20 * time.Millisecond) // no line is due, but an event is
	all := drained(slow)
	if len(all) != 2 {
		t.Fatalf("%d slow steps, want 2: %+v", len(all), all)
	}
	for i, took := range []time.Duration{30 * time.Millisecond, 20 * time.Millisecond} {
		e := all[i]
		if e.Actor != a.Any() || e.Step != "core_test.(*player).hear" || e.Worker != 0 || e.Messages == 0 || e.Took < took || e.Took > took+time.Millisecond {
			t.Errorf("slow step %+v, want one of %v that took %v", e, a, took)
		}
	}
}

// dawdler takes its time in hooks.
type dawdler struct{ start, stop func() }

func (d *dawdler) PreStart(s *core.HookStack) core.Yield { d.start(); return s.Return() }
func (d *dawdler) PostStop(s *core.HookStack) core.Yield { d.stop(); return s.Return() }

// TestSlowHooks: a hook counts as part of the message that it follows from, also behind a panic
// or a drain.
func TestSlowHooks(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, SlowStep: 10 * time.Millisecond, Logger: quiet})
	slow := core.Events[core.SlowStep](sim).Listen(10)
	defer slow.Close()
	starts, takes := 0, func() { sim.Now += int64(30 * time.Millisecond) }
	a := core.Spawn(sim, func() *dawdler {
		starts++
		return &dawdler{start: func() {
			if starts == 2 {
				takes()
			}
		}, stop: func() {
			if starts == 2 {
				takes()
			}
		}}
	})
	sim.Rest()
	require.Empty(t, drained(slow))
	core.Notice(core.HandleNotice(func(*dawdler, *cueOf) core.Yield { panic("once") }).At(a), 1)
	sim.Rest()
	told := drained(slow)
	require.Len(t, told, 1)
	require.Equal(t, a.Any(), told[0].Actor)
	a.Drain()
	sim.Rest()
	told = drained(slow)
	require.Len(t, told, 1)
	require.Equal(t, a.Any(), told[0].Actor)
}

type cueOf struct{ core.NoticeStack[int] }

// slowLog is a Logger's handler that takes its time, on the clock of the simulation.
type slowLog struct {
	slog.Handler
	sim  *housetest.Sim
	took time.Duration
}

func (l *slowLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *slowLog) Handle(context.Context, slog.Record) error {
	l.sim.Now += int64(l.took)
	return nil
}

// TestSlowLoggerIsNoSlowStep: what the line about a slow step takes isn't the next step's.
func TestSlowLoggerIsNoSlowStep(t *testing.T) {
	log := &slowLog{Handler: slog.DiscardHandler, took: 30 * time.Millisecond}
	sim := housetest.New(t, 1, house.Config{Workers: 1, SlowStep: 10 * time.Millisecond, TurnTime: time.Hour, Logger: slog.New(log)})
	log.sim = sim
	slow := core.Events[core.SlowStep](sim).Listen(10)
	defer slow.Close()
	a := core.Spawn(sim, func() *player { return &player{} })
	for i := range 300 { // in one turn, which reads the clock now and then
		core.Notice(hint.At(a), func(_ *player, s *cue) core.Yield {
			if i == 0 {
				sim.Now += int64(20 * time.Millisecond)
			}
			return s.Return()
		})
	}
	before := sim.Now
	sim.Rest()
	require.Greater(t, sim.Now-before, int64(log.took), "there was no line")
	require.Len(t, drained(slow), 1)
}

// TestAnyAddress: it prints as the address does, and tells actors apart.
func TestAnyAddress(t *testing.T) {
	sim := stage(t, 1, 1)
	a, b := core.Spawn(sim, func() *player { return &player{} }), core.Spawn(sim, func() *player { return &player{} })
	all := []core.AnyAddress{a.Any(), b.Any(), core.Address[player]{}.Any(), {}}
	if got, want := fmt.Sprint(all), fmt.Sprint([]any{a, b, "nobody", "nobody"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if all[0] == all[1] || all[0] != a.Any() || all[2] != all[3] {
		t.Error("addresses are equal that are not, or the other way round")
	}
	a.Stop()
	sim.Rest()
	if got := all[0].String(); got != a.String() {
		t.Errorf("a stopped actor is %s, want %s", got, a)
	}
}

// TestEventsOfEachKind: each kind has a topic of its own, always the same.
func TestEventsOfEachKind(t *testing.T) {
	one, two := stage(t, 1, 1), stage(t, 2, 1)
	var all []any
	for _, sim := range []*housetest.Sim{one, two} {
		all = append(all, core.Events[core.ActorStarted](sim), core.Events[core.ActorStopped](sim),
			core.Events[core.ActorRestarted](sim), core.Events[core.Failure](sim), core.Events[core.SlowStep](sim),
			core.Events[core.DeadLetter](sim), core.Events[core.OpenedLetter](sim))
	}
	for i := range all {
		if j := slices.Index(all, all[i]); j != i {
			t.Errorf("topics %d and %d are one", i, j)
		}
	}
	if core.Events[core.SlowStep](one) != all[4] {
		t.Error("the topic is another one the second time")
	}
}
