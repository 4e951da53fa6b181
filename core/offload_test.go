package core_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Functions to offload. They capture nothing: what they need is in their input.

var errHeavy = errors.New("too heavy")

func double(_ context.Context, n int) (int, error) {
	if n < 0 {
		return 0, errHeavy
	}
	return 2 * n, nil
}

func explode(context.Context, int) (int, error) { panic("boom") }

// hold waits for the gate to open or the context to end.
func hold(ctx context.Context, g *gate) (int, error) {
	g.entered <- struct{}{}
	select {
	case <-g.open:
		return 1, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// gate is many holders and their keeper.
type gate struct{ entered, open chan struct{} }

func newGate() *gate { return &gate{entered: make(chan struct{}, 100), open: make(chan struct{})} }

// offloads is a script that has fn done and passes its result on.
func offloads[In any](in In, fn func(context.Context, In) (int, error)) script {
	return func(_ *player, s *scene) core.Yield {
		core.Offload(s, &s.f[0], in, fn)
		return s.wait(get)
	}
}

func TestOffload(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	ask := func(act script) (int, error) { return core.Ask(t.Context(), a, act) }
	if n, err := ask(offloads(21, double)); n != 42 || err != nil {
		t.Errorf("result %d, %v", n, err)
	}
	if _, err := ask(offloads(-1, double)); err != errHeavy {
		t.Errorf("error %v", err)
	}
	_, err := ask(offloads(1, explode))
	wantPanic(t, err, "boom")
	if n, err := ask(offloads(1, double)); n != 2 || err != nil {
		t.Errorf("after a panic: %d, %v", n, err)
	}
}

// TestOffloadInASimulation: functions end as ever, and take virtual time.
func TestOffloadInASimulation(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		wantAnswer(t, sim, a, offloads(21, double), 42)
		wantError(t, sim, a, offloads(-1, double), errHeavy)
		_, err := housetest.Ask(t, sim, a, offloads(1, explode))
		wantPanic(t, err, "boom")
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield { // returned with one in flight
			core.Offload(s, &s.f[0], 1, double)
			return s.Return(3)
		}, 3)
		sim.Rest()
		wantStat(t, "late", stats(sim).Late, 1)
	})
}

// TestShutdownBeforeAFunctionIsHome: who has run a function of a Manual system isn't in it any
// more, though its result is on its way.
func TestShutdownBeforeAFunctionIsHome(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, OffloadTime: func() time.Duration { return 10 * time.Millisecond }})
	_, a := cast(sim, 0)
	ran := false
	call := core.Begin(a, func(_ *player, s *scene) core.Yield {
		core.Offload(s, &s.f[0], 1, func(context.Context, int) (int, error) { ran = true; return 1, nil })
		return s.wait(get)
	})
	sim.Run(15 * time.Millisecond)
	require.True(t, ran)
	require.False(t, call.Ready())
	require.NoError(t, sim.Shutdown(t.Context()))
	_, err := call.Get()
	require.ErrorIs(t, err, core.ErrStopped)
}

// TestOffloadDoesNotBlockTheWorker: while functions wait, actors are handled.
func TestOffloadDoesNotBlockTheWorker(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	g := newGate()
	var waiting []core.Pending[int]
	for range 10 {
		waiting = append(waiting, core.Begin(a, offloads(g, hold)))
	}
	for range 10 {
		<-g.entered
	}
	if n, err := core.Ask(t.Context(), a, answer(3)); n != 3 || err != nil {
		t.Errorf("answer %d, %v", n, err)
	}
	close(g.open)
	for _, c := range waiting {
		if n, err := c.Get(); n != 1 || err != nil {
			t.Errorf("result %d, %v", n, err)
		}
	}
}

// TestOffloadOverload: beyond the goroutines and the queue the answer is an error,
// at once.
func TestOffloadOverload(t *testing.T) {
	sys := open(t, house.Config{Workers: 1, OffloadMax: 2, OffloadQueue: 3})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	g := newGate()
	var waiting []core.Pending[int]
	for range 2 {
		waiting = append(waiting, core.Begin(a, offloads(g, hold)))
		<-g.entered
	}
	for range 3 {
		waiting = append(waiting, core.Begin(a, offloads(g, hold)))
	}
	for range 5 {
		if _, err := core.Ask(t.Context(), a, offloads(g, hold)); err != core.ErrOverloaded {
			t.Errorf("error %v, want ErrOverloaded", err)
		}
	}
	close(g.open)
	for _, c := range waiting {
		if n, err := c.Get(); n != 1 || err != nil {
			t.Errorf("result %d, %v", n, err)
		}
	}
	if n, err := core.Ask(t.Context(), a, offloads(21, double)); n != 42 || err != nil {
		t.Errorf("after the overload: %d, %v", n, err)
	}
}

// TestOffloadAtShutdown: running functions see their context end, queued ones are
// never called, each asker hears ErrStopped once.
func TestOffloadAtShutdown(t *testing.T) {
	sys := open(t, house.Config{Workers: 1, OffloadMax: 2})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	g := newGate()
	var waiting []core.Pending[int]
	for range 20 {
		waiting = append(waiting, core.Begin(a, offloads(g, hold)))
	}
	<-g.entered
	<-g.entered
	if _, err := core.Ask(t.Context(), a, answer(1)); err != nil {
		t.Fatal(err)
	}
	if err := sys.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range waiting {
		if _, err := c.Get(); err != core.ErrStopped {
			t.Errorf("error %v", err)
		}
	}
	if n := len(g.entered); n != 0 {
		t.Errorf("%d queued functions were called", n)
	}
}

// TestOffloadTimesOut: the asker's deadline passes while the function runs; its
// result finds nobody.
func TestOffloadTimesOut(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	b := play.At(core.Spawn(sys, func() *player { return &player{} }))
	g := newGate()
	_, err := core.Ask(t.Context(), a, askWithin(b, 5*time.Millisecond, offloads(g, hold)))
	if err != core.ErrTimeout {
		t.Errorf("error %v", err)
	}
	close(g.open)
}

// TestOffloadMany: goroutines come and go, results reach their own askers.
func TestOffloadMany(t *testing.T) {
	sys := open(t, house.Config{Workers: 2, OffloadMax: 4})
	var all sync.WaitGroup
	for range 4 {
		a := play.At(core.Spawn(sys, func() *player { return &player{} }))
		all.Go(func() {
			for i := range 300 {
				if n, err := core.Ask(t.Context(), a, offloads(i, double)); n != 2*i || err != nil {
					t.Errorf("result %d, %v of %d", n, err, i)
				}
			}
		})
	}
	all.Wait()
}

// What an offloaded function tells comes behind what its step told before, though that isn't over.
func TestOffloadComesBehindItsStep(t *testing.T) {
	sys := open(t, house.Config{Workers: 2, ShareAfter: -1})
	entered, leave, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var heard []int
	_, hears := core.SpawnNoticeFunc(sys.Workers()[1], func(s *core.NoticeStack[int]) core.Yield {
		if heard = append(heard, s.Msg); s.Msg == 0 {
			close(entered)
			<-leave // so that what comes now waits
		}
		return s.Return()
	})
	if err := core.Notice(hears, 0); err != nil {
		t.Fatal(err)
	}
	<-entered
	f := new(core.Future[int])
	_, tells := core.SpawnFunc(sys.Workers()[0], func(s *core.AskStack[int, int]) core.Yield {
		for n := 1; n <= 3; n++ {
			_ = hears.Notice(s, n)
		}
		core.Offload(s, f, hears, func(_ context.Context, hears core.NoticePort[int]) (int, error) {
			defer close(told)
			return 0, core.Notice(hears, 4)
		})
		<-told
		return s.Return(1)
	})
	if _, err := core.Ask(t.Context(), tells, 0); err != nil {
		t.Fatal(err)
	}
	close(leave)
	_, all := core.SpawnFunc(sys.Workers()[1], func(s *core.AskStack[int, int]) core.Yield { return s.Return(len(heard)) })
	for n := 0; n < 5; {
		n, _ = core.Ask(t.Context(), all, 0)
	}
	if !slices.Equal(heard, []int{0, 1, 2, 3, 4}) {
		t.Errorf("heard %v", heard)
	}
}
