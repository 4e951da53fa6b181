package core_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Each test of this file names one way in which memory or a worker was lost.

type (
	speller    struct{}
	spellBatch struct {
		core.BatchAskStack[int, []byte]
	}
	spellOutside struct{ core.BatchAskStack[int, int] }
	sharer       struct{}
	shared       struct{ pool.Bytes }
	shareBatch   struct {
		core.BatchAskStack[int, shared]
	}
	speltReader struct{ spell core.Port[int, []byte] }
	speltAsks   struct {
		core.AskStack[int, string]
		words [4]core.Future[[]byte]
		tick  core.Future[core.Tick]
	}
)

func (s *shared) Release() { s.Bytes.Release() }

func (*speller) spell(s *spellBatch) core.Yield {
	return s.ReturnEach(func(n *int) ([]byte, error) { return s.Copy([]byte{'a' + byte(*n)}), nil })
}

func (*speller) outside(s *spellOutside) core.Yield {
	s.Bytes(1)
	return s.ReturnAll(1)
}

func (*sharer) share(s *shareBatch) core.Yield { return s.ReturnAll(shared{}) }

func (r *speltReader) ask(s *speltAsks) core.Yield {
	for i := range s.words {
		r.spell.Ask(s, &s.words[i], i)
	}
	return core.Suspend(s, (*speltReader).answered)
}

func (r *speltReader) answered(s *speltAsks) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Millisecond) // the batch is long gone when the answers are read
	return core.Suspend(s, (*speltReader).read)
}

func (r *speltReader) read(s *speltAsks) core.Yield {
	var all []byte
	for i := range s.words {
		b, err := s.words[i].Get()
		if err != nil {
			return s.Throw(err)
		}
		all = append(all, b...)
	}
	return s.Return(string(all))
}

var (
	spell       = core.HandleBatch((*speller).spell, 0)
	spellOutsid = core.HandleBatch((*speller).outside, 0)
	share       = core.HandleBatch((*sharer).share, 0)
	speltAnswer = core.Handle((*speltReader).ask)
)

func TestBytesOfBatchReplyOutliveTheBatch(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Supervise: resumes, Logger: quiet})
	w := sim.Workers()[0]
	sp := core.Spawn(w, func() *speller { return &speller{} })
	rd := core.Spawn(w, func() *speltReader { return &speltReader{spell.At(sp)} })
	for range 3 {
		word, err := housetest.Ask(t, sim, speltAnswer.At(rd), 0)
		require.NoError(t, err)
		require.Equal(t, "abcd", word)
	}
	_, err := housetest.Ask(t, sim, spellOutsid.At(sp), 0)
	require.ErrorIs(t, err, core.ErrPanic)
}

func TestReturnAllOfCountedBytes(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Supervise: resumes, Logger: quiet})
	p := share.At(core.Spawn(sim.Workers()[0], func() *sharer { return &sharer{} }))
	one, two := core.Begin(p, 1), core.Begin(p, 2)
	sim.Rest()
	for _, call := range []core.Pending[shared]{one, two} {
		_, err := call.Get()
		require.ErrorIs(t, err, core.ErrPanic)
	}
}

// keeper keeps a future in the actor, where stacks share it.
type (
	keeper struct {
		to core.Port[int, []byte]
		f  core.Future[[]byte]
	}
	keep struct {
		core.AskStack[int, int]
		tick core.Future[core.Tick]
	}
)

func (k *keeper) ask(s *keep) core.Yield {
	k.to.Ask(s, &k.f, 1)
	return core.Suspend(s, (*keeper).wait)
}

func (k *keeper) wait(s *keep) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Second)
	return core.Suspend(s, (*keeper).done)
}

func (k *keeper) done(s *keep) core.Yield { return s.Return(1) }

var keeperAsk = core.Handle((*keeper).ask)

func TestFutureOfAnotherStackIsRefused(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Supervise: resumes, Logger: quiet})
	sp := core.Spawn(sim.Workers()[0], func() *speller { return &speller{} })
	p := keeperAsk.At(core.Spawn(sim.Workers()[0], func() *keeper { return &keeper{to: spell.At(sp)} }))
	first := core.Begin(p, 0)
	sim.Rest()
	_, err := housetest.Ask(t, sim, p, 0)
	require.ErrorIs(t, err, core.ErrPanic)
	sim.Run(2 * time.Second)
	_, err = first.Get()
	require.NoError(t, err)
}

// quitter's hooks call runtime.Goexit, as a test's FailNow does.
type quitter struct{ onStart, onStop bool }

func (q *quitter) PreStart(s *core.HookStack) core.Yield {
	if q.onStart {
		runtime.Goexit()
	}
	return s.Return()
}

func (q *quitter) PostStop(s *core.HookStack) core.Yield {
	if q.onStop {
		runtime.Goexit()
	}
	return s.Return()
}

func (q *quitter) ask(s *core.AskStack[int, int]) core.Yield {
	if s.Req < 0 {
		runtime.Goexit()
	}
	return s.Return(s.Req)
}

var quitterAsk = core.Handle((*quitter).ask)

func TestGoexitEndsNoWorker(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1, OffloadMax: 1, Supervise: resumes, Logger: quiet, WakeForGuests: true})
	require.NoError(t, err)
	require.NoError(t, sys.Start(context.Background()))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	starts := quitterAsk.At(core.Spawn(sys, func() *quitter { return &quitter{onStart: true} }))
	stops := core.Spawn(sys, func() *quitter { return &quitter{onStop: true} })
	_, err = core.Ask(ctx, starts, 7)
	require.ErrorIs(t, err, core.ErrStopped)
	_, err = core.Ask(ctx, quitterAsk.At(stops), -1)
	require.ErrorIs(t, err, core.ErrPanic)
	require.NoError(t, stops.StopWait(ctx))
	_, err = core.Ask(ctx, quitterAsk.At(stops), 1)
	require.ErrorIs(t, err, core.ErrStopped)

	off := offloadQuits.At(core.Spawn(sys, func() *quitOffloader { return &quitOffloader{} }))
	_, err = core.Ask(ctx, off, true)
	require.ErrorIs(t, err, core.ErrPanic)
	_, err = core.Ask(ctx, off, false)
	require.NoError(t, err, "the only goroutine is lost")

	require.NoError(t, sys.Shutdown(ctx))
	require.Zero(t, sys.Outstanding())
}

// A step that calls runtime.Goexit in a turn that a guest borrowed ends the guest's
// goroutine; neither the worker nor the ask is lost with it.
func TestGoexitInABorrowedTurn(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1, Supervise: resumes, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	p := quitterAsk.At(core.Spawn(sys, func() *quitter { return &quitter{} }))
	for quit := false; !quit; {
		untilParked(t, sys)
		quit = true
		var guest sync.WaitGroup
		guest.Go(func() {
			core.Ask(context.Background(), p, -1)
			quit = false // it woke the worker, whose goroutine ended instead
		})
		guest.Wait()
		n, err := core.Ask(context.Background(), p, 7)
		require.NoError(t, err)
		require.Equal(t, 7, n)
	}
	require.NoError(t, sys.Shutdown(context.Background()))
	require.Zero(t, sys.Outstanding())
}

// The same while the guest's own ask is still under way: that is given up, and whoever handles
// it goes on.
func TestGoexitInABorrowedTurnOfAnAskUnderWay(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1, Supervise: resumes, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	cast := func() core.Port[script, int] { return play.At(core.Spawn(sys, func() *player { return &player{} })) }
	asks, quits := cast(), cast()
	for quit := 0; quit < 10; {
		untilParked(t, sys)
		quit++
		var guest sync.WaitGroup
		guest.Go(func() {
			core.Ask(context.Background(), asks, relay(quits, func(*player, *scene) core.Yield { runtime.Goexit(); panic("behind the end") }))
			quit-- // it woke the worker, whose goroutine ended instead
		})
		guest.Wait()
		for range 3 {
			n, err := core.Ask(context.Background(), asks, relay(quits, answer(7)))
			require.NoError(t, err)
			require.Equal(t, 7, n)
		}
	}
	require.NoError(t, sys.Shutdown(context.Background()))
	require.Zero(t, sys.Outstanding())
}

// The same in a turn that a worker borrowed: both workers go on.
func TestGoexitInAnAssistedTurn(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, Spin: -1, Supervise: resumes, Logger: quiet, WakeForGuests: true})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	w := sys.Workers()
	quits := play.At(core.Spawn(w[1], func() *player { return &player{} }))
	asks := play.At(core.Spawn(w[0], func() *player { return &player{} }))
	for lent := sys.Stats().Borrowed; sys.Stats().Borrowed < lent+10; {
		_, err := core.Ask(t.Context(), asks, relay(quits, func(*player, *scene) core.Yield { runtime.Goexit(); panic("behind the end") }))
		require.ErrorIs(t, err, core.ErrPanic)
		n, err := core.Ask(t.Context(), asks, relay(quits, answer(7)))
		require.NoError(t, err)
		require.Equal(t, 7, n)
	}
	require.NoError(t, sys.Shutdown(context.Background()))
	require.Zero(t, sys.Outstanding())
}

type (
	quitOffloader struct{}
	quitOffload   struct {
		core.AskStack[bool, int]
		f core.Future[int]
	}
)

func (*quitOffloader) ask(s *quitOffload) core.Yield {
	core.Offload(s, &s.f, s.Req, func(_ context.Context, quit bool) (int, error) {
		if quit {
			runtime.Goexit()
		}
		return 1, nil
	})
	return core.Suspend(s, (*quitOffloader).done)
}

func (*quitOffloader) done(s *quitOffload) core.Yield {
	n, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var offloadQuits = core.Handle((*quitOffloader).ask)

type lastWords struct{ said *atomic.Int32 }

func (l *lastWords) PostStop(s *core.HookStack) core.Yield { l.said.Add(1); return s.Return() }

func TestShutdownOfSystemThatNeverStarted(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2})
	require.NoError(t, err)
	var said atomic.Int32
	for range 3 {
		core.Spawn(sys, func() *lastWords { return &lastWords{&said} })
	}
	require.NoError(t, sys.Shutdown(context.Background()))
	require.EqualValues(t, 3, said.Load())
	require.Zero(t, sys.Actors())
	require.Zero(t, sys.Outstanding())
}

func TestPanicOfTheReaderOfAnAnswer(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1})
	require.NoError(t, err)
	require.NoError(t, sys.Start(context.Background()))
	p := quitterAsk.At(core.Spawn(sys, func() *quitter { return &quitter{} }))
	require.PanicsWithError(t, "no", func() {
		core.AskInto(context.Background(), p, 1, func(*int) { panic(errors.New("no")) })
	})
	require.NoError(t, sys.Shutdown(context.Background()))
	require.Zero(t, sys.Outstanding())
}
