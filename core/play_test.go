package core_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// player is an actor that does what each message says: its messages are scripts.
// The closures of scripts are the tests' business; real handlers have none.
type player struct {
	steps int // plain, so that the race detector sees two threads in one actor
	saved core.Yield
}

type script func(*player, *scene) core.Yield

// scene is one ask of a player in progress.
type scene struct {
	core.AskStack[script, int]
	f     [8]core.Future[int]
	tick  core.Future[core.Tick]
	then  script
	ready func(*scene) bool
	calls int
}

// cue is one notice of a player in progress.
type cue struct {
	core.NoticeStack[func(*player, *cue) core.Yield]
	f    core.Future[int]
	tick core.Future[core.Tick]
	then func(*player, *cue) core.Yield
}

var (
	play = core.Handle((*player).open)
	hint = core.HandleNotice((*player).hear)
)

func (p *player) open(s *scene) core.Yield { p.steps++; return s.Req(p, s) }
func (p *player) next(s *scene) core.Yield { p.steps++; s.calls++; return s.then(p, s) }
func (p *player) enough(s *scene) bool     { p.steps++; return s.ready(s) }
func (p *player) hear(s *cue) core.Yield   { p.steps++; return s.Msg(p, s) }
func (p *player) more(s *cue) core.Yield   { p.steps++; return s.then(p, s) }

func (s *scene) wait(then script) core.Yield {
	s.then = then
	return core.Suspend(s, (*player).next)
}

func (s *scene) waitAny(then script) core.Yield {
	s.then = then
	return core.SuspendAny(s, (*player).next)
}

func (s *scene) waitUntil(ready func(*scene) bool, then script) core.Yield {
	s.ready, s.then = ready, then
	return core.SuspendUntil(s, (*player).enough, (*player).next)
}

func (s *cue) wait(then func(*player, *cue) core.Yield) core.Yield {
	s.then = then
	return core.Suspend(s, (*player).more)
}

// answer replies at once.
func answer(n int) script {
	return func(_ *player, s *scene) core.Yield { return s.Return(n) }
}

// answerIn replies after a time.
func answerIn(d time.Duration, n int) script {
	return func(_ *player, s *scene) core.Yield {
		core.Timer.Ask(s, &s.tick, d)
		return s.wait(func(_ *player, s *scene) core.Yield {
			if _, err := s.tick.Get(); err != nil {
				return s.Throw(err)
			}
			return s.Return(n)
		})
	}
}

// get passes on the answer of the first future.
func get(_ *player, s *scene) core.Yield {
	n, err := s.f[0].Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

// relay asks another player to act, and passes its answer on.
func relay(to core.Port[script, int], act script) script {
	return func(_ *player, s *scene) core.Yield {
		to.Ask(s, &s.f[0], act)
		return s.wait(get)
	}
}

// deadlineOfTests is for what takes seconds at most, on a machine that others use too.
const deadlineOfTests = 2 * time.Minute

var quiet = slog.New(slog.DiscardHandler)

// stage is a simulation without log lines.
func stage(t testing.TB, seed uint64, workers int) *housetest.Sim {
	t.Helper()
	return housetest.New(t, seed, house.Config{Workers: workers, Supervise: resumes, Logger: quiet})
}

// cast spawns a player on a worker.
func cast(sim *housetest.Sim, worker int) (core.Address[player], core.Port[script, int]) {
	a := core.Spawn(sim.Workers()[worker], func() *player { return &player{} })
	return a, play.At(a)
}

// crowded spawns a player on a worker for as many messages as come.
func crowded(sim *housetest.Sim, worker int) (core.Address[player], core.Port[script, int]) {
	a := roomy(sim.Workers()[worker], func() *player { return &player{} })
	return a, play.At(a)
}

// roomy spawns an actor for as many messages as come.
func roomy[A any](at core.Place, factory func() *A) core.Address[A] {
	a, err := core.SpawnWith(at, factory, core.Props{Mailbox: core.Unbounded()})
	if err != nil {
		panic(err)
	}
	return a
}

// open starts a system with threads; it is shut down, and found balanced, at the end.
func open(t testing.TB, c house.Config) *house.System {
	if c.Supervise == nil {
		c.Supervise = resumes
	}
	t.Helper()
	if c.Logger == nil {
		c.Logger = quiet
	}
	sys, err := house.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeSystem(t, sys) })
	return sys
}

func closeSystem(t testing.TB, sys *house.System) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadlineOfTests)
	defer cancel()
	if err := sys.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
		return
	}
	if n := sys.Outstanding(); n != 0 && !t.Failed() {
		t.Errorf("%d pooled objects are still out after shutdown", n)
	}
}

// stats returns what a simulation at rest counted: workers show their counts
// every 64 turns.
func stats(sim *housetest.Sim) house.Stats {
	for _, w := range sim.Workers() {
		for range 64 {
			w.Turn()
		}
	}
	return sim.Stats()
}

func wantStat(t *testing.T, name string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("counted %d %s, want %d", got, name, want)
	}
}

// wantAnswer asks and compares the reply.
func wantAnswer(t *testing.T, sim *housetest.Sim, to core.Port[script, int], act script, want int) {
	t.Helper()
	if got, err := housetest.Ask(t, sim, to, act); err != nil || got != want {
		t.Errorf("seed %d: answer %d, %v; want %d", sim.Seed, got, err, want)
	}
}

// wantError asks and compares why there is no reply.
func wantError(t *testing.T, sim *housetest.Sim, to core.Port[script, int], act script, want error) {
	t.Helper()
	if got, err := housetest.Ask(t, sim, to, act); !errors.Is(err, want) {
		t.Errorf("seed %d: answer %d, %v; want %v", sim.Seed, got, err, want)
	}
}

// wantPanic requires err to be the contained panic with a text.
func wantPanic(t *testing.T, err error, text string) {
	t.Helper()
	var p *core.PanicError
	if !errors.As(err, &p) || !errors.Is(err, core.ErrPanic) || !strings.Contains(p.Error(), text) {
		t.Errorf("error %v, want a panic about %q", err, text)
	} else if len(p.Trace) == 0 || p.Actor == "" || p.Step == "" {
		t.Errorf("the panic %v doesn't say where", p)
	}
}

// descriptors counts the process's open files.
func descriptors(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(all)
}
