package core_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// untilParked waits until every worker of sys has had nothing to do for once since the
// call. Most likely they still have nothing to do when it returns.
func untilParked(t *testing.T, sys *house.System) {
	t.Helper()
	before := sys.Stats()
	for end := time.Now().Add(30 * time.Second); ; runtime.Gosched() {
		if now := sys.Stats(); now.Parks > before.Parks || now.Turns == before.Turns && now.Parks > 0 {
			return
		}
		require.True(t, time.Now().Before(end), "the workers don't park")
		before = sys.Stats()
	}
}

// loner counts: plainly, so that the race detector sees two threads in one actor.
type loner struct {
	sum   int
	other core.Port[int, int]
}

// lonerStack is an ask that is passed on, or that waits, before it is answered.
type lonerStack struct {
	core.AskStack[int, int]
	f    core.Future[int]
	tick core.Future[core.Tick]
	sum  int // when it was asked
}

func (l *loner) add(s *lonerStack) core.Yield {
	l.sum += s.Req
	s.sum = l.sum
	switch {
	case s.Req < 0:
		core.Timer.Ask(s, &s.tick, time.Duration(-s.Req))
		return core.Suspend(s, (*loner).added)
	case l.other != (core.Port[int, int]{}):
		l.other.Ask(s, &s.f, s.Req)
		return core.Suspend(s, (*loner).added)
	}
	return s.Return(l.sum)
}

func (l *loner) added(s *lonerStack) core.Yield {
	if s.Req < 0 {
		if _, err := s.tick.Get(); err != nil {
			return s.Throw(err)
		}
		return s.Return(l.sum)
	}
	switch n, err := s.f.Get(); {
	case err != nil:
		return s.Throw(err)
	case n < s.sum: // the other has got all that was passed on until then, and perhaps more
		return s.Throw(fmt.Errorf("the other has counted %d, this one %d", n, s.sum))
	}
	return s.Return(l.sum)
}

var lonerAdd = core.Handle((*loner).add)

func borrowing(t *testing.T, workers int, spin time.Duration) *house.System {
	sys, err := house.New(house.Config{Workers: workers, Spin: spin, Supervise: resumes, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	return sys
}

func ended(t *testing.T, sys *house.System) {
	t.Helper()
	require.NoError(t, sys.Shutdown(context.Background()))
	require.Zero(t, sys.Outstanding())
}

const ones = 1000

// inBorrowedTurns has a loner of sys add ones, until more than half of them in a row were
// answered in borrowed turns and woke workers fewer than woken times. What else the machine
// runs keeps workers from parking in time, so a row is tried again, for up to a minute.
func inBorrowedTurns(t *testing.T, sys *house.System, p core.Port[int, int], woken uint64) {
	t.Helper()
	sum := 0
	for end := time.Now().Add(time.Minute); ; {
		before := sys.Stats()
		for range ones {
			got, err := core.Ask(t.Context(), p, 1)
			require.NoError(t, err)
			sum++
			require.Equal(t, sum, got)
		}
		now := sys.Stats()
		if now.Borrowed-before.Borrowed > ones/2 && now.Woken-before.Woken < woken {
			break
		}
		require.True(t, time.Now().Before(end), "of the last %d, %d were borrowed turns, and %d woke a worker",
			ones, now.Borrowed-before.Borrowed, now.Woken-before.Woken)
	}
	ended(t, sys)
}

// Asks of parked workers are answered in borrowed turns, and wake nobody.
func TestGuestsBorrowTurns(t *testing.T) {
	sys := borrowing(t, 1, -1)
	p := lonerAdd.At(core.Spawn(sys, func() *loner { return &loner{} }))
	untilParked(t, sys)
	inBorrowedTurns(t, sys, p, ones/2)
}

// Workers that have nothing else to do run the turns of parked ones to which they have sent,
// and wake nobody.
func TestWorkersBorrowTurns(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, Spin: -1, Supervise: resumes, Logger: quiet, WakeForGuests: true})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	w := sys.Workers()
	far := lonerAdd.At(core.Spawn(w[1], func() *loner { return &loner{} }))
	p := lonerAdd.At(core.Spawn(w[0], func() *loner { return &loner{other: far} }))
	// one for each guest's ask, and few for those of the actor
	inBorrowedTurns(t, sys, p, ones+ones/2)
}

// Guests, actors of two workers that ask each other, timers armed in borrowed turns:
// nothing is lost, and one thread at a time runs an actor.
func TestBorrowedTurnsBesideEverything(t *testing.T) {
	for _, c := range []house.Config{
		{Workers: 2, Spin: -1},
		{Workers: 2, Spin: 5 * time.Microsecond},
		{Workers: 3, Spin: -1, WakeForGuests: true},
	} {
		c.Logger = quiet
		sys, err := house.New(c)
		require.NoError(t, err)
		require.NoError(t, sys.Start(t.Context()))
		w := sys.Workers()
		far := lonerAdd.At(core.Spawn(w[1], func() *loner { return &loner{} }))
		near := lonerAdd.At(core.Spawn(w[0], func() *loner { return &loner{} }))
		via := lonerAdd.At(core.Spawn(w[0], func() *loner { return &loner{other: far} }))
		const guests, each = 8, 300
		var all sync.WaitGroup
		for g := range guests {
			all.Go(func() {
				for i := range each {
					p, req := near, 1
					switch (i + g) % 8 {
					case 1, 4:
						p = via
					case 2:
						p = far
					case 3:
						req = -int(10 * time.Microsecond)
					}
					if _, err := core.Ask(context.Background(), p, req); err != nil {
						t.Errorf("ask %d of guest %d: %v", i, g, err)
						return
					}
				}
			})
		}
		all.Wait()
		ended(t, sys)
	}
}

// A timer armed in a borrowed turn wakes a worker that went to sleep for longer.
func TestTimerOfABorrowedTurn(t *testing.T) {
	sys := borrowing(t, 1, -1)
	p := lonerAdd.At(core.Spawn(sys, func() *loner { return &loner{} }))
	for range 20 {
		untilParked(t, sys)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := core.Ask(ctx, p, -int(100*time.Microsecond))
		cancel()
		require.NoError(t, err)
	}
	require.NotZero(t, sys.Stats().Borrowed)
	ended(t, sys)
}

// What others have begun in a turn that a guest's answer ends goes on: the timers that they wait
// for are due in their time.
func TestTimersBesideTheAnswerOfABorrowedTurn(t *testing.T) {
	sys := borrowing(t, 1, -1)
	spawn := func() core.Address[player] { return core.Spawn(sys, func() *player { return &player{} }) }
	a, b, c := spawn(), spawn(), spawn()
	for range 20 {
		untilParked(t, sys)
		fired := make(chan struct{})
		_, err := core.Ask(t.Context(), play.At(a), func(_ *player, s *scene) core.Yield {
			hint.At(c).Notice(s, func(_ *player, s *cue) core.Yield {
				core.Timer.Ask(s, &s.tick, time.Millisecond)
				return s.wait(func(_ *player, s *cue) core.Yield { close(fired); return s.Return() })
			})
			play.At(b).Ask(s, &s.f[0], answer(1))
			return s.wait(func(_ *player, s *scene) core.Yield { return s.Return(1) })
		})
		require.NoError(t, err)
		select {
		case <-fired:
		// a worker that isn't told of it sleeps until its next trim
		case <-time.After(10 * time.Second):
			t.Fatal("the timer doesn't go off")
		}
	}
	require.NotZero(t, sys.Stats().Borrowed)
	ended(t, sys)
}

// blocker calls functions in a step that are for guests.
type blocker struct {
	sys *house.System
	to  core.Port[int, int]
}

func (b *blocker) try(s *core.AskStack[string, error]) core.Yield {
	var err error
	switch s.Req {
	case "ask":
		_, err = core.Ask(context.Background(), b.to, 1)
	case "get":
		_, err = core.Begin(b.to, 1).Get()
	case "stop":
		a := core.Spawn(b.sys, func() *loner { return &loner{} })
		err = a.StopWait(context.Background())
	case "shutdown":
		err = b.sys.Shutdown(context.Background())
	}
	return s.Return(err)
}

var blockerTry = core.Handle((*blocker).try)

// On the worker's own goroutine, in a borrowed turn, and on a worker of another system.
func TestBlockingOnWorker(t *testing.T) {
	for _, wakes := range []bool{false, true} {
		other := borrowing(t, 1, 0)
		sys, err := house.New(house.Config{Workers: 2, Supervise: resumes, Logger: quiet, WakeForGuests: wakes})
		require.NoError(t, err)
		require.NoError(t, sys.Start(t.Context()))
		w := sys.Workers()[0]
		for _, callee := range []core.Place{w, sys.Workers()[1], other} {
			to := lonerAdd.At(core.Spawn(callee, func() *loner { return &loner{} }))
			p := blockerTry.At(core.Spawn(w, func() *blocker { return &blocker{sys, to} }))
			for _, what := range []string{"ask", "get", "stop", "shutdown"} {
				got, err := core.Ask(t.Context(), p, what)
				require.NoError(t, err)
				if what == "get" && callee != w && got == nil {
					continue // its answer had come: nothing blocks
				}
				require.ErrorIs(t, got, core.ErrBlockingOnWorker, what)
			}
		}
		_, err = core.Ask(t.Context(), lonerAdd.At(core.Spawn(w, func() *loner { return &loner{} })), 1)
		require.NoError(t, err, "a guest was taken for a worker")
		ended(t, sys)
		ended(t, other)
	}
}

// A context that ends while the guest waits, or before, abandons the ask.
func TestContextsOfBorrowedTurns(t *testing.T) {
	sys := borrowing(t, 1, -1)
	p := lonerAdd.At(core.Spawn(sys, func() *loner { return &loner{} }))
	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Microsecond)
		// the callee inherits the deadline: its timer ends with it
		_, err := core.Ask(ctx, p, -int(2*time.Second))
		require.Error(t, err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, core.ErrTimeout)
		cancel()
		_, err = core.Ask(ctx, p, 1)
		require.Error(t, err)
	}
	ended(t, sys)
}

// herald tells another actor what it is asked, before it answers.
type herald struct{ to core.NoticePort[int] }

func (a *herald) ask(s *core.AskStack[int, int]) core.Yield {
	a.to.Notice(s, s.Req)
	return s.Return(s.Req)
}

// waiter waits in a step for what it was given.
type waiter struct{ free chan struct{} }

func (a *waiter) hear(s *core.NoticeStack[int]) core.Yield {
	<-a.free
	return s.Return()
}

var (
	heraldAsk  = core.Handle((*herald).ask)
	waiterHear = core.HandleNotice((*waiter).hear)
)

// A guest runs no step behind its own answer: it could wait for the guest.
func TestABorrowedTurnEndsWithTheAnswer(t *testing.T) {
	sys := borrowing(t, 1, -1)
	w := &waiter{free: make(chan struct{})}
	to := waiterHear.At(core.Spawn(sys, func() *waiter { return w }))
	p := heraldAsk.At(core.Spawn(sys, func() *herald { return &herald{to} }))
	for i := range 20 {
		untilParked(t, sys)
		n, err := core.Ask(t.Context(), p, i)
		require.NoError(t, err)
		require.Equal(t, i, n)
		w.free <- struct{}{} // the step waits for this
	}
	ended(t, sys)
}

// The same in a system without loops: a step is recognised there too.
func TestBlockingInASimulation(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1, Manual: true, Supervise: resumes, Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	to := lonerAdd.At(core.Spawn(sys, func() *loner { return &loner{} }))
	p := blockerTry.At(core.Spawn(sys, func() *blocker { return &blocker{sys, to} }))
	pending := core.Begin(p, "ask")
	for !pending.Ready() {
		sys.Workers()[0].Turn()
	}
	got, err := pending.Get()
	require.NoError(t, err)
	require.ErrorIs(t, got, core.ErrBlockingOnWorker)
	ended(t, sys)
}

type panickingLog struct{ slog.Handler }

func (panickingLog) Enabled(context.Context, slog.Level) bool  { return true }
func (panickingLog) Handle(context.Context, slog.Record) error { panic("of the log") }

func TestPanicOfTheLog(t *testing.T) {
	for _, wakes := range []bool{false, true} {
		sys, err := house.New(house.Config{Workers: 1, WakeForGuests: wakes, Logger: slog.New(panickingLog{})})
		require.NoError(t, err)
		require.NoError(t, sys.Start(t.Context()))
		p := play.At(core.Spawn(sys, func() *player { return &player{} }))
		_, err = core.Ask(t.Context(), p, func(*player, *scene) core.Yield { panic("of the step") })
		require.ErrorIs(t, err, core.ErrPanic)
		n, err := core.Ask(t.Context(), p, answer(3))
		require.NoError(t, err)
		require.Equal(t, 3, n)
		ended(t, sys)
	}
}
