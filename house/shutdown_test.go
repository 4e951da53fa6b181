package house_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// running starts a system that the test shuts down.
func running(t testing.TB, c house.Config) *house.System {
	t.Helper()
	sys := newSystem(t, c)
	require.NoError(t, sys.Start(t.Context()))
	return sys
}

// TestShutdownHooks: in their order, before and after actors stop, each with its error.
func TestShutdownHooks(t *testing.T) {
	sys := running(t, house.Config{Workers: 1})
	_, p := spawn(sys)
	var order []string
	sad := errors.New("sad")
	add := func(name string, at int, after bool, run func() error) {
		sys.AddShutdownHook(house.ShutdownHook{Name: name, Order: at, After: after, Run: func(ctx context.Context) error {
			order = append(order, name)
			if _, err := core.Ask(ctx, p, reply(1)); (err == core.ErrStopped) != after {
				t.Errorf("%s: an actor said %v", name, err)
			}
			return run()
		}})
	}
	fine := func() error { return nil }
	add("close base", 1, true, func() error { return sad })
	add("close log", 2, true, fine)
	add("drain b", 0, false, func() error { panic("boom") })
	add("drain a", 0, false, func() error { runtime.Goexit(); return nil })
	add("leave", -1, false, fine)
	err := shutdown(sys)
	require.Equal(t, []string{"leave", "drain a", "drain b", "close base", "close log"}, order)
	require.ErrorIs(t, err, sad)
	require.NotErrorIs(t, err, house.ErrAbandoned)
	require.EqualError(t, err, "house: shutdown hook drain a: runtime.Goexit was called\n"+
		"house: shutdown hook drain b: panic: boom\nhouse: shutdown hook close base: sad")
	require.Panics(t, func() { sys.OnShutdown(nil) })
}

// TestShutdownTellsItsOutcome: also those who come later, though their context has ended.
func TestShutdownTellsItsOutcome(t *testing.T) {
	sys := running(t, house.Config{Workers: 1})
	require.NoError(t, sys.Shutdown(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		require.NoError(t, sys.Shutdown(ctx))
	}
}

// TestShutdownAbandonsAHook: one that is deaf to its context holds up nobody.
func TestShutdownAbandonsAHook(t *testing.T) {
	for _, byConfig := range []bool{false, true} {
		c, ctx := house.Config{Workers: 1}, context.Background()
		if byConfig {
			c.ShutdownTimeout = 20 * time.Millisecond
		} else {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
		}
		sys := running(t, c)
		open, closed := make(chan struct{}), false
		sys.AddShutdownHook(house.ShutdownHook{Name: "deaf", Run: func(context.Context) error { <-open; return nil }})
		sys.AddShutdownHook(house.ShutdownHook{Name: "close", After: true, Run: func(context.Context) error { closed = true; return nil }})
		err := sys.Shutdown(ctx)
		require.ErrorContains(t, err, "house: shutdown hook deaf: it hasn't returned: context deadline exceeded")
		require.ErrorIs(t, err, house.ErrAbandoned)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, closed)
		close(open)
		sys.AwaitWorkers() // on a busy machine it takes more than a moment
		balanced(t, sys)
	}
}

// A hook that sees the end of its context has a moment to say what it left undone.
func TestHookSaysWhatItLeft(t *testing.T) {
	sys := running(t, house.Config{Workers: 1})
	sys.SetMoment(time.Second)
	errLeft := errors.New("two connections were cut off")
	sys.OnShutdown(func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond)
		return errLeft
	})
	// a moment since the hook began is over
	ctx, cancel := context.WithTimeout(context.Background(), 1100*time.Millisecond)
	defer cancel()
	err := sys.Shutdown(ctx)
	require.ErrorIs(t, err, errLeft)
	require.NotErrorIs(t, err, house.ErrAbandoned)
}

// TestShutdownTimeoutIsForWhoSetsNone: a context with a deadline has its own, however far away.
func TestShutdownTimeoutIsForWhoSetsNone(t *testing.T) {
	for _, sets := range []bool{false, true} {
		sys := running(t, house.Config{Workers: 1, ShutdownTimeout: time.Hour})
		ctx, want := t.Context(), time.Now().Add(time.Hour)
		if sets {
			want = want.Add(time.Hour)
			limit, cancel := context.WithDeadline(ctx, want)
			defer cancel()
			ctx = limit
		}
		sys.AddShutdownHook(house.ShutdownHook{Name: "looks", Run: func(ctx context.Context) error {
			until, _ := ctx.Deadline()
			require.WithinDuration(t, want, until, time.Minute)
			return nil
		}})
		require.NoError(t, sys.Shutdown(ctx))
	}
}

// TestShutdownBlamesNobody: what ends when it is told to isn't reported, though the context has
// ended before that.
func TestShutdownBlamesNobody(t *testing.T) {
	sys := running(t, house.Config{Workers: 2})
	sys.SetMoment(time.Minute) // a busy machine takes some
	pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: "disk"})
	require.NoError(t, err)
	began := make(chan struct{})
	var calls []core.Pending[int]
	for range 4 {
		_, p := spawn(sys)
		calls = append(calls, core.Begin(p, func(s *task) core.Yield {
			core.OffloadTo(s, &s.f, pool, began, func(ctx context.Context, began chan struct{}) (int, error) {
				began <- struct{}{}
				<-ctx.Done()
				return 0, ctx.Err()
			})
			return s.wait(reply(1))
		}))
		<-began
	}
	sys.AddShutdownHook(house.ShutdownHook{Name: "good", Run: func(ctx context.Context) error { <-ctx.Done(); return nil }})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, sys.Shutdown(ctx))
	for _, c := range calls {
		_, err := c.Get()
		require.Equal(t, core.ErrStopped, err)
	}
	balanced(t, sys)
}

// TestShutdownFromAStep: it begins at once, the step goes on, and who calls Shutdown gets the
// outcome.
func TestShutdownFromAStep(t *testing.T) {
	sad := errors.New("sad")
	for name, begin := range map[string]func(*task, *house.System){
		"core":  func(s *task, _ *house.System) { core.Shutdown(s) },
		"house": func(_ *task, sys *house.System) { sys.BeginShutdown() },
		"twice": func(s *task, sys *house.System) { sys.BeginShutdown(); core.Shutdown(s) },
	} {
		t.Run(name, func(t *testing.T) {
			sys := running(t, house.Config{Workers: 2})
			sys.OnShutdown(func(context.Context) error { return sad })
			_, p := spawn(sys)
			select {
			case <-sys.Ending():
				t.Error("it ends already")
			default:
			}
			n, err := core.Ask(t.Context(), p, func(s *task) core.Yield {
				if err := sys.Shutdown(context.Background()); err != core.ErrBlockingOnWorker {
					t.Errorf("Shutdown in a step: %v", err)
				}
				begin(s, sys)
				return s.Return(3)
			})
			require.NoError(t, err)
			require.Equal(t, 3, n)
			<-sys.Ending()
			<-sys.Done()
			require.ErrorIs(t, sys.Shutdown(t.Context()), sad)
			require.Zero(t, sys.Actors())
			balanced(t, sys)
		})
	}
}

// slowly waits, at both ends of its life, for a timer and an offloaded function.
type slowly struct {
	tick   core.Future[core.Tick]
	f      core.Future[int]
	ended  *atomic.Int32
	starts bool
}

func (l *slowly) PreStart(s *core.HookStack) core.Yield { return l.wait(s) }
func (l *slowly) PostStop(s *core.HookStack) core.Yield { l.starts = false; return l.wait(s) }

func (l *slowly) wait(s *core.HookStack) core.Yield {
	core.Timer.Ask(s, &l.tick, time.Millisecond)
	core.Offload(s, &l.f, 1, func(_ context.Context, n int) (int, error) { runtime.Gosched(); return n, nil })
	return core.Suspend(s, (*slowly).waited)
}

func (l *slowly) waited(s *core.HookStack) core.Yield {
	if !l.starts {
		l.ended.Add(1)
	}
	return s.Return()
}

// TestShutdownOfASystemThatWasNeverStarted: as of any other. Its hooks ask, and get answers; its
// actors end as they wish; and what waits for them, if no hook has kept it up, has ErrStopped.
func TestShutdownOfASystemThatWasNeverStarted(t *testing.T) {
	for _, hooks := range []bool{false, true} {
		for _, workers := range []int{1, 3} {
			sys := newSystem(t, house.Config{Workers: workers})
			a, p := spawn(sys)
			var ended atomic.Int32
			var last core.Address[slowly]
			for range 4 {
				last = core.Spawn(sys, func() *slowly { return &slowly{ended: &ended, starts: true} })
			}
			c := core.Begin(p, reply(1))
			require.NoError(t, core.Notice(onHear.At(a), func() {}))
			ran := 0
			if hooks {
				sys.OnShutdown(func(ctx context.Context) error {
					ran++
					n, err := core.Ask(ctx, p, reply(2))
					require.Equal(t, 2, n)
					return errors.Join(err, last.StopWait(ctx))
				})
				sys.AddShutdownHook(house.ShutdownHook{After: true, Run: func(context.Context) error { ran++; return nil }})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			require.NoError(t, sys.Shutdown(ctx))
			require.EqualValues(t, 4, ended.Load())
			require.Zero(t, sys.Actors())
			n, err := c.Get()
			if hooks {
				require.NoError(t, err)
				require.Equal(t, 1, n)
				require.Equal(t, 2, ran)
			} else {
				require.Equal(t, core.ErrStopped, err)
			}
			require.Equal(t, house.ErrClosed, sys.Start(t.Context()))
			balanced(t, sys)
		}
	}
}

// TestShutdownInAnOffloadedFunction: it would wait for itself. Other systems don't, nor does what
// else a guest may call there.
func TestShutdownInAnOffloadedFunction(t *testing.T) {
	sys, other := running(t, house.Config{Workers: 1}), running(t, house.Config{Workers: 1})
	pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: "disk", Goroutines: 1})
	require.NoError(t, err)
	_, p := spawn(sys)
	a, _ := spawn(sys)
	_, q := spawn(other)
	offload := func(to *house.OffloadPool, f func(context.Context) error) error {
		type in = func(context.Context) error
		_, err := core.Ask(t.Context(), p, func(s *task) core.Yield {
			run := func(ctx context.Context, f in) (int, error) { return 1, f(ctx) }
			if to != nil {
				core.OffloadTo(s, &s.f, to, f, run)
			} else {
				core.Offload(s, &s.f, f, run)
			}
			return s.wait(func(s *task) core.Yield {
				if _, err := s.f.Get(); err != nil {
					return s.Throw(err)
				}
				return s.Return(1)
			})
		})
		return err
	}
	shut := func(ctx context.Context) error {
		if _, err := core.Ask(ctx, q, reply(1)); err != nil && err != core.ErrStopped {
			return err
		}
		if err := other.Shutdown(ctx); err != nil {
			return err
		}
		limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return sys.Shutdown(limit)
	}
	for _, to := range []*house.OffloadPool{nil, pool} {
		require.Equal(t, core.ErrBlockingOnWorker, offload(to, shut))
		require.Error(t, offload(to, func(context.Context) error { runtime.Goexit(); return nil }))
		require.Equal(t, core.ErrBlockingOnWorker, offload(to, shut)) // on another goroutine
	}
	require.NoError(t, offload(nil, func(ctx context.Context) error { return a.StopWait(ctx) }))
	require.NoError(t, shutdown(sys))
	balanced(t, sys)
	balanced(t, other)
}

// TestShutdownFromAStepOfAManualSystem: its caller is asked to.
func TestShutdownFromAStepOfAManualSystem(t *testing.T) {
	sys := running(t, house.Config{Workers: 1, Manual: true})
	_, p := spawn(sys)
	c := core.Begin(p, func(s *task) core.Yield { core.Shutdown(s); core.Shutdown(s); return s.Return(1) })
	for sys.Workers()[0].Turn() {
	}
	n, err := c.Get()
	require.NoError(t, err)
	require.Equal(t, 1, n)
	<-sys.Ending()
	require.Equal(t, 1, sys.Actors())
	require.NoError(t, sys.Shutdown(t.Context()))
	<-sys.Done()
}

// TestG11ShutdownUnderLoad: nothing is left, whatever actors and pools are at.
func TestG11ShutdownUnderLoad(t *testing.T) {
	files, ignore := descriptors(t), goleak.IgnoreCurrent()
	for i := range 20 {
		sys := running(t, house.Config{Workers: 2})
		var pools []*house.OffloadPool
		for n := range 3 {
			pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: fmt.Sprint(n), Goroutines: 1 + n, Queue: 2 * n, Breaker: core.NewBreaker(core.BreakerConfig{})})
			require.NoError(t, err)
			pools = append(pools, pool)
		}
		var all sync.WaitGroup
		busy := make(chan struct{}, 100)
		for g := range 6 {
			_, p := spawn(sys)
			all.Go(func() {
				for n := 0; ; n++ {
					if n == 20 {
						busy <- struct{}{}
					}
					got, err := core.Ask(context.Background(), p, func(s *task) core.Yield {
						core.OffloadTo(s, &s.f, pools[(g+n)%3], n, func(ctx context.Context, n int) (int, error) {
							if n%3 == 0 {
								return n, ctx.Err()
							}
							return n, nil
						})
						return s.wait(func(s *task) core.Yield {
							n, err := s.f.Get()
							if err != nil {
								return s.Throw(err)
							}
							return s.Return(n)
						})
					})
					switch {
					case err == nil && got == n, err == core.ErrOverloaded, err == core.ErrBreakerOpen:
					case err == core.ErrStopped:
						return
					default:
						t.Errorf("%d of %d, %v", got, n, err)
						return
					}
				}
			})
		}
		for range 6 {
			<-busy
		}
		if i%2 == 0 {
			sys.BeginShutdown()
		}
		require.NoError(t, shutdown(sys))
		all.Wait()
		balanced(t, sys)
		for _, p := range pools {
			st := p.Stats()
			require.Zero(t, st.Goroutines+st.Running+st.Queued)
		}
	}
	goleak.VerifyNone(t, ignore)
	require.Equal(t, files, descriptors(t))
}

// TestShutdownWhileGoroutinesTell: sixteen goroutines that tell an actor without a pause don't
// keep its worker from leaving, and hear that the actor has stopped.
func TestShutdownWhileGoroutinesTell(t *testing.T) {
	for range 5 {
		sys := running(t, house.Config{Workers: 2})
		port := onTake.At(core.Spawn(sys, func() *sink { return &sink{} }))
		var all sync.WaitGroup
		busy := make(chan struct{}, 16)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		for range 16 {
			all.Go(func() {
				var err error
				for n := 0; ctx.Err() == nil && (err == nil || errors.Is(err, core.ErrMailboxFull)); n++ {
					if err = core.Notice(port, 1); n == 100 {
						busy <- struct{}{}
					}
				}
				if err != core.ErrStopped {
					t.Errorf("the last notice: %v", err)
				}
			})
		}
		for range 16 {
			<-busy
		}
		require.NoError(t, sys.Shutdown(ctx))
		all.Wait()
		cancel()
		balanced(t, sys)
	}
}

// hung is what two functions and the actor that has offloaded them share.
type hung struct {
	began, over, hangs, open chan struct{}
	ended                    [2]error
}

// TestShutdownEndsFunctionsOfHungActors: an actor that doesn't stop doesn't keep the contexts of
// what it has offloaded from ending. One function waits for that; the other, whose context has
// ended before, looks then.
func TestShutdownEndsFunctionsOfHungActors(t *testing.T) {
	sys := running(t, house.Config{Workers: 1})
	h := &hung{began: make(chan struct{}), over: make(chan struct{}), hangs: make(chan struct{}), open: make(chan struct{})}
	type pair struct {
		core.AskStack[*hung, int]
		looks, waits core.Future[int]
	}
	looks := func(ctx context.Context, h *hung) (int, error) {
		h.began <- struct{}{}
		<-h.over
		h.ended[0] = ctx.Err()
		return 0, nil
	}
	waits := func(ctx context.Context, h *hung) (int, error) {
		h.began <- struct{}{}
		<-ctx.Done()
		h.ended[1] = ctx.Err()
		close(h.over)
		return 0, nil
	}
	p := core.Handle(func(_ *actor, s *pair) core.Yield {
		core.Offload(s, &s.looks, s.Req, looks)
		<-s.Req.began
		core.Offload(s, &s.waits, s.Req, waits)
		<-s.Req.began
		close(s.Req.hangs)
		<-s.Req.open
		return s.Return(1)
	}).At(core.Spawn(sys, func() *actor { return &actor{} }))
	c := core.Begin(p, h)
	<-h.hangs
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := sys.Shutdown(ctx)
	require.ErrorIs(t, err, house.ErrAbandoned)
	require.ErrorContains(t, err, "actors didn't stop: #1")
	require.ErrorContains(t, err, "worker 0 hasn't left")
	for sys.OffloadStats()[0].Running > 0 { // on a busy machine they take more than a moment
		runtime.Gosched()
	}
	require.Equal(t, [2]error{context.Canceled, context.Canceled}, h.ended)
	close(h.open)
	n, err := c.Get()
	require.NoError(t, err)
	require.Equal(t, 1, n)
	sys.AwaitWorkers() // and their descriptors, which other tests count
}

// TestShutdownBlamesOnlyWhoHangs: each phase has a moment of its own, so that what ends at once
// isn't blamed for an actor that doesn't.
func TestShutdownBlamesOnlyWhoHangs(t *testing.T) {
	sys := running(t, house.Config{Workers: 2})
	sys.SetMoment(500 * time.Millisecond)
	began, open := make(chan struct{}), make(chan struct{})
	p := core.Handle(func(_ *actor, s *core.AskStack[int, int]) core.Yield {
		close(began)
		<-open
		return s.Return(1)
	}).At(core.Spawn(sys.Workers()[0], func() *actor { return &actor{} }))
	c := core.Begin(p, 0)
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := sys.Shutdown(ctx)
	require.ErrorIs(t, err, house.ErrAbandoned)
	require.ErrorContains(t, err, "worker 0 hasn't left")
	require.NotContains(t, err.Error(), "worker 1")
	require.NotContains(t, err.Error(), "offload")
	close(open)
	_, err = c.Get()
	require.NoError(t, err)
	sys.AwaitWorkers()
}

// An actor whose end waits for a timer is left behind by the shutdown of a Manual system, which
// says so.
func TestShutdownOfAManualSystemNamesWhoWaits(t *testing.T) {
	sys := running(t, house.Config{Workers: 1, Manual: true})
	core.Spawn(sys, func() *slowToStop { return &slowToStop{} })
	err := sys.Shutdown(t.Context())
	require.ErrorIs(t, err, house.ErrAbandoned)
	require.ErrorContains(t, err, "#1: no time passes")
}

type slowToStop struct{ tick core.Future[core.Tick] }

func (a *slowToStop) PostStop(s *core.HookStack) core.Yield {
	core.Timer.Ask(s, &a.tick, time.Second)
	return core.Suspend(s, (*slowToStop).over)
}

func (a *slowToStop) over(s *core.HookStack) core.Yield { return s.Return() }

// TestNamesBehindAShutdown: who is spawned then is stopped from birth, so nobody finds it, and its
// name stays free.
func TestNamesBehindAShutdown(t *testing.T) {
	sys := newSystem(t, house.Config{Workers: 1})
	require.NoError(t, shutdown(sys))
	for range 2 {
		_, err := core.SpawnWith(sys, func() *actor { return &actor{} }, core.Props{Name: "late"})
		require.NoError(t, err)
		_, err = core.Lookup[actor](sys, "/user/late")
		require.Equal(t, core.ErrNotFound, err)
	}
}
