package core_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

var _ house.Breaker = (*core.Breaker)(nil)

// newPool makes a pool of sys.
func newPool(t testing.TB, sys interface {
	NewOffloadPool(house.OffloadConfig) (*house.OffloadPool, error)
}, c house.OffloadConfig) *house.OffloadPool {
	t.Helper()
	p, err := sys.NewOffloadPool(c)
	require.NoError(t, err)
	return p
}

// offloadsTo is offloads to a pool.
func offloadsTo[In any](pool core.OffloadPool, in In, fn func(context.Context, In) (int, error)) script {
	return func(_ *player, s *scene) core.Yield {
		core.OffloadTo(s, &s.f[0], pool, in, fn)
		return s.wait(get)
	}
}

// leaves has fn done, and returns n without waiting for it.
func leaves[In any](pool core.OffloadPool, in In, fn func(context.Context, In) (int, error), n int) script {
	return func(_ *player, s *scene) core.Yield {
		core.OffloadTo(s, &s.f[0], pool, in, fn)
		return s.Return(n)
	}
}

// wantCounts compares what the pool counted, and what it does, but for its goroutines.
func wantCounts(t testing.TB, p *house.OffloadPool, want house.OffloadStats) {
	t.Helper()
	st := p.Stats()
	want.Name, want.Goroutines, want.Breaker = p.Name(), st.Goroutines, st.Breaker
	require.Equal(t, want, st)
}

// fill has every goroutine of the pool, and its queue, hold the gate.
func fill(t testing.TB, a core.Port[script, int], p *house.OffloadPool, g *gate, goroutines, queue int) (waiting []core.Pending[int]) {
	t.Helper()
	for range goroutines {
		waiting = append(waiting, core.Begin(a, offloadsTo(p, g, hold)))
		<-g.entered
	}
	for range queue {
		waiting = append(waiting, core.Begin(a, offloadsTo(p, g, hold)))
	}
	_, err := core.Ask(t.Context(), a, answer(1)) // all have been submitted
	require.NoError(t, err)
	return waiting
}

// TestOffloadPools: what waits for one pool takes nothing from the others, each has its own limits.
func TestOffloadPools(t *testing.T) {
	sys := open(t, house.Config{Workers: 1, OffloadMax: 1, OffloadQueue: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	disk := newPool(t, sys, house.OffloadConfig{Name: "disk", Goroutines: 2, Queue: 3})
	base := newPool(t, sys, house.OffloadConfig{Name: "base", Goroutines: 1, Queue: -1})
	g := newGate()
	waiting := fill(t, a, disk, g, 2, 3)
	waiting = append(waiting, fill(t, a, base, g, 1, 0)...)
	for _, p := range []core.OffloadPool{disk, base} {
		_, err := core.Ask(t.Context(), a, offloadsTo(p, g, hold))
		require.Equal(t, core.ErrOverloaded, err)
	}
	wantCounts(t, disk, house.OffloadStats{Running: 2, Queued: 3, Refused: 1})
	wantCounts(t, base, house.OffloadStats{Running: 1, Refused: 1})
	for _, fn := range []script{offloads(21, double), offloadsTo(nil, 21, double)} {
		n, err := core.Ask(t.Context(), a, fn)
		require.Equal(t, 42, n)
		require.NoError(t, err)
	}
	close(g.open)
	for _, c := range waiting {
		n, err := c.Get()
		require.Equal(t, 1, n)
		require.NoError(t, err)
	}
	wantCounts(t, disk, house.OffloadStats{Done: 5, Refused: 1})
	wantCounts(t, base, house.OffloadStats{Done: 1, Refused: 1})
	all := sys.OffloadStats()
	require.Len(t, all, 3)
	require.Equal(t, "default", all[0].Name)
	require.EqualValues(t, 2, all[0].Done)
	require.EqualValues(t, 5, all[1].Done)
}

// TestNewOffloadPoolRefuses: names that are taken, nonsense, and a system that shuts down.
func TestNewOffloadPoolRefuses(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	newPool(t, sys, house.OffloadConfig{Name: "disk"})
	for _, c := range []house.OffloadConfig{{}, {Name: "default"}, {Name: "disk"}, {Name: "a", Goroutines: -1}, {Name: "a", Timeout: -1}} {
		_, err := sys.NewOffloadPool(c)
		require.Error(t, err, "%+v", c)
	}
	require.NoError(t, sys.Shutdown(t.Context()))
	_, err := sys.NewOffloadPool(house.OffloadConfig{Name: "a"})
	require.Equal(t, house.ErrClosed, err)
}

// TestOffloadContained: a panic, a Goexit and an error end one function each; the pool's only
// goroutine, or the one in its place, goes on.
func TestOffloadContained(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	p := newPool(t, sys, house.OffloadConfig{Name: "disk", Goroutines: 1})
	quits := func(context.Context, int) (int, error) { runtime.Goexit(); return 1, nil }
	for range 10 {
		_, err := core.Ask(t.Context(), a, offloadsTo(p, 1, explode))
		wantPanic(t, err, "boom")
		_, err = core.Ask(t.Context(), a, offloadsTo(p, 1, quits))
		wantPanic(t, err, "Goexit")
		_, err = core.Ask(t.Context(), a, offloadsTo(p, -1, double))
		require.Equal(t, errHeavy, err)
		n, err := core.Ask(t.Context(), a, offloadsTo(p, 1, double))
		require.Equal(t, 2, n)
		require.NoError(t, err)
	}
	wantCounts(t, p, house.OffloadStats{Done: 10, Failed: 30})
	require.LessOrEqual(t, p.Stats().Goroutines, 1)
}

// observer is told how the context of a function ends.
type observer struct {
	began chan context.Context
	ended chan error
}

func newObserver() *observer {
	return &observer{make(chan context.Context), make(chan error, 1)}
}

// observe waits for its context to end.
func observe(ctx context.Context, o *observer) (int, error) {
	child, cancel := context.WithCancel(ctx)
	defer cancel()
	o.began <- ctx
	<-child.Done()
	o.ended <- ctx.Err()
	return 0, ctx.Err()
}

// TestOffloadContextEnds: a function hears that nobody waits for it any more, and why.
func TestOffloadContextEnds(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	address := core.Spawn(sys, func() *player { return &player{} })
	a := play.At(address)
	b := play.At(core.Spawn(sys, func() *player { return &player{} }))
	p := newPool(t, sys, house.OffloadConfig{Name: "disk"})

	t.Run("asker ended", func(t *testing.T) {
		o := newObserver()
		n, err := core.Ask(t.Context(), a, func(_ *player, s *scene) core.Yield {
			core.OffloadTo(s, &s.f[0], p, o, observe)
			<-o.began
			return s.Return(3)
		})
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.Equal(t, context.Canceled, <-o.ended)
	})
	t.Run("deadline", func(t *testing.T) {
		o := newObserver()
		before := time.Now()
		c := core.Begin(b, askWithin(a, time.Second, offloadsTo(p, o, observe)))
		at, ok := (<-o.began).Deadline()
		require.True(t, ok)
		require.WithinRange(t, at, before, time.Now().Add(time.Second))
		require.Equal(t, context.DeadlineExceeded, <-o.ended)
		_, err := c.Get()
		require.Equal(t, core.ErrTimeout, err)
	})
	t.Run("pool's timeout", func(t *testing.T) {
		o := newObserver()
		quick := newPool(t, sys, house.OffloadConfig{Name: "quick", Timeout: time.Second})
		c := core.Begin(a, offloadsTo(quick, o, observe))
		<-o.began
		require.Equal(t, context.DeadlineExceeded, <-o.ended)
		_, err := c.Get()
		require.Equal(t, core.ErrTimeout, err)
	})
	t.Run("no deadline but the default", func(t *testing.T) {
		n, err := core.Ask(t.Context(), a, offloadsTo(p, 0, func(ctx context.Context, _ int) (int, error) {
			at, ok := ctx.Deadline()
			if !ok || time.Until(at) > 5*time.Second || ctx.Err() != nil || ctx.Value(1) != nil {
				return 0, errHeavy
			}
			return 1, nil
		}))
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
	t.Run("returned", func(t *testing.T) {
		keeps := make(chan context.Context, 2)
		_, err := core.Ask(t.Context(), a, offloadsTo(p, keeps, func(ctx context.Context, keeps chan context.Context) (int, error) {
			child, cancel := context.WithTimeout(ctx, time.Hour)
			_ = cancel // what the function leaves behind ends with its context
			keeps <- ctx
			keeps <- child
			return 1, ctx.Err()
		}))
		require.NoError(t, err)
		for range 2 {
			ctx := <-keeps
			<-ctx.Done()
			require.Equal(t, context.Canceled, ctx.Err())
		}
	})
	t.Run("stopped", func(t *testing.T) {
		o := newObserver()
		c := core.Begin(a, offloadsTo(p, o, observe))
		<-o.began
		address.Stop()
		require.Equal(t, context.Canceled, <-o.ended)
		_, err := c.Get()
		require.Equal(t, core.ErrStopped, err)
	})
	t.Run("shutdown", func(t *testing.T) {
		looks, late := newObserver(), newGate()
		leave := func(ctx context.Context, late *gate) (int, error) { // looks when all is over
			late.entered <- struct{}{}
			<-late.open
			<-ctx.Done()
			return 0, ctx.Err()
		}
		_, err := core.Ask(t.Context(), b, func(_ *player, s *scene) core.Yield {
			core.OffloadTo(s, &s.f[0], p, late, leave)
			<-late.entered
			core.OffloadTo(s, &s.f[1], p, looks, observe)
			<-looks.began
			return s.Return(1)
		})
		require.NoError(t, err)
		require.Equal(t, context.Canceled, <-looks.ended)
		ended := make(chan error)
		go func() { ended <- sys.Shutdown(t.Context()) }()
		close(late.open)
		require.NoError(t, <-ended)
	})
}

// TestOffloadContextsStayEnded: a context at which a function has looked isn't the next one's.
func TestOffloadContextsStayEnded(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	p := newPool(t, sys, house.OffloadConfig{Name: "disk", Goroutines: 1})
	type notes struct {
		look bool
		ctx  chan context.Context
	}
	note := func(ctx context.Context, n notes) (int, error) {
		if n.look && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		n.ctx <- ctx
		return 1, nil
	}
	var looked []context.Context
	for i := range 100 {
		n := notes{look: i%3 == 0, ctx: make(chan context.Context, 1)}
		_, err := core.Ask(t.Context(), a, offloadsTo(p, n, note))
		require.NoError(t, err)
		ctx := <-n.ctx
		for _, old := range looked {
			require.NotSame(t, old, ctx)
			require.Equal(t, context.Canceled, old.Err())
		}
		if n.look {
			looked = append(looked, ctx)
		}
	}
}

// TestOffloadSkips: what nobody waits for any more when its turn comes isn't called.
func TestOffloadSkips(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	p := newPool(t, sys, house.OffloadConfig{Name: "disk", Goroutines: 1, Queue: 4})
	g := newGate()
	waiting := fill(t, a, p, g, 1, 0)
	called := newGate()
	for range 4 {
		n, err := core.Ask(t.Context(), a, leaves(p, called, hold, 3))
		require.NoError(t, err)
		require.Equal(t, 3, n)
	}
	wantCounts(t, p, house.OffloadStats{Running: 1, Queued: 4})

	// Those that nobody waits for make room for others.
	last := core.Begin(a, offloadsTo(p, 21, double))
	_, err := core.Ask(t.Context(), a, answer(1))
	require.NoError(t, err)
	wantCounts(t, p, house.OffloadStats{Running: 1, Queued: 4, Skipped: 1})

	close(g.open)
	n, err := last.Get()
	require.NoError(t, err)
	require.Equal(t, 42, n)
	n, err = waiting[0].Get()
	require.NoError(t, err)
	require.Equal(t, 1, n)
	wantCounts(t, p, house.OffloadStats{Done: 2, Skipped: 4})
	require.Empty(t, called.entered)
}

// deaf waits for the gate to open, whatever its context says.
func deaf(_ context.Context, g *gate) (int, error) {
	g.entered <- struct{}{}
	<-g.open
	return 1, nil
}

// TestOffloadExpires: what is past the pool's timeout when its turn comes isn't called, and its
// asker didn't wait for that.
func TestOffloadExpires(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	p := newPool(t, sys, house.OffloadConfig{Name: "disk", Goroutines: 1, Timeout: 20 * time.Millisecond})
	g, called := newGate(), newGate()
	for p.Stats().Running == 0 { // one that was to begin too late isn't called either
		_, err := core.Ask(t.Context(), a, offloadsTo(p, g, deaf))
		require.Equal(t, core.ErrTimeout, err)
	}
	_, err := core.Ask(t.Context(), a, offloadsTo(p, called, deaf))
	require.Equal(t, core.ErrTimeout, err)
	close(g.open)
	for err != nil { // at the latest when the goroutine is there in time
		_, err = core.Ask(t.Context(), a, offloadsTo(p, 21, double))
	}
	require.Empty(t, called.entered)
	require.NotZero(t, p.Stats().Skipped)
}

// TestOffloadBreaker: a pool stops calling what fails, at once and for what is queued, and tries
// again later.
func TestOffloadBreaker(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		p := newPool(t, sim, house.OffloadConfig{Name: "disk", Breaker: core.NewBreaker(core.BreakerConfig{Failures: 3, Failed: func(err error) bool { return err != errNone }})})
		none := func(context.Context, int) (int, error) { return 0, errNone }
		wantError(t, sim, a, offloadsTo(p, -1, double), errHeavy)
		wantError(t, sim, a, offloadsTo(p, 1, none), errNone)
		for range 3 {
			wantError(t, sim, a, offloadsTo(p, -1, double), errHeavy)
		}
		for range 4 {
			wantError(t, sim, a, offloadsTo(p, 21, double), core.ErrBreakerOpen)
		}
		require.Equal(t, "open", p.Stats().Breaker)
		sim.Run(1300 * time.Millisecond)
		wantAnswer(t, sim, a, offloadsTo(p, 21, double), 42)
		wantAnswer(t, sim, a, offloadsTo(p, 21, double), 42)
		require.Equal(t, "closed", p.Stats().Breaker)
		wantCounts(t, p, house.OffloadStats{Done: 2, Failed: 5, Broken: 4})
	})
}

// TestOffloadBreakerRefusesAtOnce: what comes beside a probe isn't queued behind it.
func TestOffloadBreakerRefusesAtOnce(t *testing.T) {
	takes := time.Duration(0)
	sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: quiet, OffloadTime: func() time.Duration { return takes }})
	_, a := cast(sim, 0)
	p := newPool(t, sim, house.OffloadConfig{Name: "disk", Goroutines: 1,
		Breaker: core.NewBreaker(core.BreakerConfig{Failures: 1, Pause: time.Second, Jitter: -1})})
	wantError(t, sim, a, offloadsTo(p, -1, double), errHeavy)
	sim.Run(time.Second)
	takes = 10 * time.Millisecond
	probe := core.Begin(a, offloadsTo(p, 1, double))
	sim.Run(time.Millisecond)
	beside := core.Begin(a, offloadsTo(p, 2, double))
	sim.Run(time.Millisecond)
	endedAs(t, core.ErrBreakerOpen, beside)
	sim.Run(25 * time.Millisecond)
	endedAs(t, nil, probe)
	wantCounts(t, p, house.OffloadStats{Done: 1, Failed: 1, Broken: 1})
}

// TestNewOffloadPoolInAShutdown: a hook that runs before all stops can't make one, which nobody
// would close.
func TestNewOffloadPoolInAShutdown(t *testing.T) {
	sim := stage(t, 1, 1)
	var errs []error
	for _, after := range []bool{false, true} {
		sim.AddShutdownHook(house.ShutdownHook{Name: "late", After: after, Run: func(context.Context) error {
			_, err := sim.NewOffloadPool(house.OffloadConfig{Name: "disk"})
			errs = append(errs, err)
			return nil
		}})
	}
	require.NoError(t, sim.Shutdown(t.Context()))
	require.Equal(t, []error{house.ErrClosed, house.ErrClosed}, errs)
}

// TestOffloadBreakerOfTheQueue: what was queued before the breaker opened isn't called.
func TestOffloadBreakerOfTheQueue(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	p := newPool(t, sys, house.OffloadConfig{Name: "disk", Goroutines: 1, Breaker: core.NewBreaker(core.BreakerConfig{Failures: 1, Pause: time.Hour, PauseMax: time.Hour})})
	g := newGate()
	fails := func(ctx context.Context, g *gate) (int, error) {
		hold(ctx, g)
		return 0, errDown
	}
	first := core.Begin(a, offloadsTo(p, g, fails))
	<-g.entered
	queued := fill(t, a, p, g, 0, 5)
	close(g.open)
	_, err := first.Get()
	require.Equal(t, errDown, err)
	for _, c := range queued {
		_, err := c.Get()
		require.Equal(t, core.ErrBreakerOpen, err)
	}
	_, err = core.Ask(t.Context(), a, offloadsTo(p, g, hold))
	require.Equal(t, core.ErrBreakerOpen, err)
	require.Empty(t, g.entered)
	wantCounts(t, p, house.OffloadStats{Failed: 1, Broken: 6})
}

// TestOffloadSkippedIsNoProbe: what isn't called, as nobody waits any more, takes no probe of a
// breaker.
func TestOffloadSkippedIsNoProbe(t *testing.T) {
	takes := time.Duration(0)
	sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: quiet, OffloadTime: func() time.Duration { return takes }})
	_, a := cast(sim, 0)
	p := newPool(t, sim, house.OffloadConfig{Name: "disk", Goroutines: 1, Timeout: 15 * time.Millisecond,
		Breaker: core.NewBreaker(core.BreakerConfig{Failures: 1, Pause: time.Second, Jitter: -1, Probes: 2})})
	wantError(t, sim, a, offloadsTo(p, -1, double), errHeavy)
	sim.Run(time.Second)
	takes = 10 * time.Millisecond
	first, queued := core.Begin(a, offloadsTo(p, 1, double)), core.Begin(a, offloadsTo(p, 2, double))
	sim.Run(25 * time.Millisecond) // home is the first after 20
	endedAs(t, core.ErrTimeout, first, queued)
	require.Equal(t, "half open", p.Stats().Breaker)
	takes = 0
	wantAnswer(t, sim, a, offloadsTo(p, 3, double), 6)
	require.Equal(t, "closed", p.Stats().Breaker)
	wantCounts(t, p, house.OffloadStats{Done: 2, Failed: 1, Skipped: 1})
}

// TestOffloadCountsEach: askers that give up, functions that end in all ways, full queues: each
// function is counted once, and ends at its own asker.
func TestOffloadCountsEach(t *testing.T) {
	sys := open(t, house.Config{Workers: 2})
	p := newPool(t, sys, house.OffloadConfig{Name: "disk", Goroutines: 3, Queue: 5})
	mixed := func(ctx context.Context, n int) (int, error) {
		switch n % 7 {
		case 0:
			panic("boom")
		case 1:
			return 0, errHeavy
		case 2:
			runtime.Goexit()
		case 3:
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
		case 4:
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			runtime.Gosched()
			return 2 * n, child.Err()
		}
		return 2 * n, nil
	}
	const guests, each = 8, 500
	var all sync.WaitGroup
	for g := range guests {
		a := play.At(core.Spawn(sys, func() *player { return &player{} }))
		all.Go(func() {
			for i := range each {
				if (i+g)%5 == 0 {
					core.Ask(t.Context(), a, leaves(p, i, mixed, 1))
					continue
				}
				n, err := core.Ask(t.Context(), a, offloadsTo(p, i, mixed))
				switch {
				case err == nil && n == 2*i, err == core.ErrOverloaded:
				case errors.Is(err, core.ErrPanic) && (i%7 == 0 || i%7 == 2), err == errHeavy && i%7 == 1:
				default:
					t.Errorf("result %d, %v of %d", n, err, i)
				}
			}
		})
	}
	all.Wait()
	closeSystem(t, sys)
	st := p.Stats()
	require.EqualValues(t, guests*each, st.Done+st.Failed+st.Skipped+st.Refused+st.Stopped)
	require.Zero(t, st.Running+st.Queued+st.Goroutines)
	require.NotZero(t, st.Done)
	require.NotZero(t, st.Failed)
}

// TestOffloadCountsAtShutdown: each function has one end, also those that wait for a goroutine
// then, which aren't run.
func TestOffloadCountsAtShutdown(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	p, err := sys.NewOffloadPool(house.OffloadConfig{Name: "few", Goroutines: 2})
	require.NoError(t, err)
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	g := newGate()
	var calls []core.Pending[int]
	for range 20 {
		calls = append(calls, core.Begin(a, offloadsTo(p, g, hold)))
	}
	<-g.entered
	<-g.entered
	_, err = core.Ask(t.Context(), a, answer(1)) // behind it all have been offloaded
	require.NoError(t, err)
	require.NoError(t, sys.Shutdown(t.Context()))
	for _, c := range calls {
		_, _ = c.Get()
	}
	st := p.Stats()
	require.EqualValues(t, 20, st.Done+st.Failed+st.Skipped+st.Stopped)
	require.NotZero(t, st.Skipped+st.Stopped)
}
