package core_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// tick is how late a timer may be that its worker isn't too busy for.
const tick = 500 * time.Microsecond

// leftOf replies with what is left of the stack's deadline, in milliseconds; -1: no deadline.
func leftOf(sim *housetest.Sim) script {
	return func(_ *player, s *scene) core.Yield {
		if s.Deadline() == 0 {
			return s.Return(-1)
		}
		return s.Return(int((s.Deadline() - sim.Now + 500_000) / 1e6))
	}
}

// askWithin is relay with a limit.
func askWithin(to core.Port[script, int], limit time.Duration, act script) script {
	return func(_ *player, s *scene) core.Yield {
		to.AskWithin(s, &s.f[0], act, limit)
		return s.wait(get)
	}
}

// TestDeadlineTravels: an ask inherits what is left, or gets the default, and a
// limit only ever shortens it.
func TestDeadlineTravels(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		address, a := cast(sim, 0)
		for worker := range 2 {
			_, b := cast(sim, worker)
			_, c := cast(sim, worker)
			wantAnswer(t, sim, a, leftOf(sim), 5000) // a guest's default
			wantAnswer(t, sim, a, relay(b, leftOf(sim)), 5000)
			wantAnswer(t, sim, a, askWithin(b, 30*time.Millisecond, leftOf(sim)), 30)
			wantAnswer(t, sim, a, askWithin(b, 30*time.Millisecond, relay(c, leftOf(sim))), 30)
			wantAnswer(t, sim, a, askWithin(b, 30*time.Millisecond, askWithin(c, 10*time.Millisecond, leftOf(sim))), 10)
			wantAnswer(t, sim, a, askWithin(b, 30*time.Millisecond, askWithin(c, time.Hour, leftOf(sim))), 30)
			wantAnswer(t, sim, a, askWithin(b, math.MaxInt64, leftOf(sim)), 5000)
			wantError(t, sim, a, askWithin(b, 0, answerIn(time.Second, 1)), core.ErrTimeout) // none is left
			wantError(t, sim, a, askWithin(b, -1, answerIn(time.Second, 1)), core.ErrTimeout)
			// Ten milliseconds later ten less are left.
			wantAnswer(t, sim, a, askWithin(b, 30*time.Millisecond, func(_ *player, s *scene) core.Yield {
				core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
				return s.wait(relay(c, leftOf(sim)))
			}), 20)

			// A notice has none, so that what its handler asks gets the default.
			left := 0
			core.Notice(hint.At(address), func(_ *player, s *cue) core.Yield {
				if s.Deadline() != 0 {
					t.Errorf("a notice has the deadline %d", s.Deadline())
				}
				b.Ask(s, &s.f, leftOf(sim))
				return s.wait(func(_ *player, s *cue) core.Yield {
					left, _ = s.f.Get()
					return s.Return()
				})
			})
			sim.Rest()
			if left != 5000 {
				t.Errorf("an ask of a notice has %d ms, want the default", left)
			}
		}
	})
}

func TestDefaultDeadlineIsConfigured(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{AskTimeout: 70 * time.Millisecond, Supervise: resumes, Logger: quiet})
	address, a := cast(sim, 0)
	_, b := cast(sim, 1)
	wantAnswer(t, sim, a, leftOf(sim), 70)
	var got error
	began := sim.Now
	core.Notice(hint.At(address), func(_ *player, s *cue) core.Yield {
		b.Ask(s, &s.f, answerIn(time.Hour, 1))
		return s.wait(func(_ *player, s *cue) core.Yield {
			_, got = s.f.Get()
			if took := time.Duration(sim.Now - began); took < 70*time.Millisecond || took > 70*time.Millisecond+tick {
				t.Errorf("the default deadline passed after %v", took)
			}
			return s.Return()
		})
	})
	sim.Run(time.Second)
	if got != core.ErrTimeout {
		t.Errorf("error %v, want ErrTimeout", got)
	}
}

// TestAskTimesOut: at its deadline, not before, though the callee never answers;
// the callee's stack ends before its next step.
func TestAskTimesOut(t *testing.T) {
	eachSeedOf(t, 10, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		for worker := range 2 {
			_, b := cast(sim, worker)
			went := false
			for _, limit := range []time.Duration{1, time.Microsecond, time.Millisecond, time.Second} {
				began := sim.Now
				wantError(t, sim, a, askWithin(b, limit, func(_ *player, s *scene) core.Yield {
					core.Timer.Ask(s, &s.tick, 2*time.Second)
					return s.wait(func(_ *player, s *scene) core.Yield {
						_, err := s.tick.Get() // at the deadline, if the callee comes first
						went = went || err == nil
						return s.Throw(err)
					})
				}), core.ErrTimeout)
				if took := time.Duration(sim.Now - began); took < limit || took > limit+tick {
					t.Errorf("a limit of %v took %v", limit, took)
				}
			}
			sim.Run(5 * time.Second)
			if went {
				t.Error("a callee went on after its asker's timeout")
			}
		}
	})
}

// TestExpiredAtDequeue: a call whose time has passed while it was queued is
// dropped, with a count, and its handler never runs.
func TestExpiredAtDequeue(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		for worker := range 2 {
			_, b := cast(sim, worker)
			ran := false
			wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
				b.AskWithin(s, &s.f[0], func(_ *player, s *scene) core.Yield { ran = true; return s.Return(1) }, time.Millisecond)
				sim.Now += 2e6
				core.Timer.Ask(s, &s.tick, time.Hour) // has the worker read its clock
				return s.waitAny(get)
			}, core.ErrTimeout)
			sim.Rest()
			if ran {
				t.Error("an expired call was handled")
			}
		}
		st := stats(sim)
		if st.Expired < 1 { // the one elsewhere may see first that its asker gave up
			t.Error("no expired call was counted")
		}
		wantStat(t, "expired or cancelled calls", st.Expired+st.Cancelled, 2)
	})
}

// TestTimerCutByDeadline: the deadline that a stack inherited ends its timer with
// ErrTimeout; the default doesn't apply to timers.
func TestTimerCutByDeadline(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		address, a := cast(sim, 0)
		_, b := cast(sim, 1)
		began := sim.Now
		var got error
		wantError(t, sim, a, askWithin(b, 10*time.Millisecond, func(_ *player, s *scene) core.Yield {
			core.Timer.Ask(s, &s.tick, time.Minute)
			return s.wait(func(_ *player, s *scene) core.Yield {
				_, got = s.tick.Get()
				return s.Throw(got)
			})
		}), core.ErrTimeout)
		sim.Run(time.Millisecond)
		if took := time.Duration(sim.Now - began); took > 15*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if got != nil && got != core.ErrTimeout {
			t.Errorf("the timer said %v", got)
		}

		// The same where the asker's own promise doesn't come first.
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			core.Timer.AskWithin(s, &s.tick, time.Minute, time.Millisecond)
			return s.wait(func(_ *player, s *scene) core.Yield {
				if _, err := s.tick.Get(); err != core.ErrTimeout {
					t.Errorf("a timer cut short said %v", err)
				}
				core.Timer.AskWithin(s, &s.tick, time.Millisecond, time.Minute)
				return s.wait(func(_ *player, s *scene) core.Yield {
					if _, err := s.tick.Get(); err != nil {
						t.Errorf("a timer within its limit said %v", err)
					}
					return s.Return(1)
				})
			})
		}, 1)
		wantError(t, sim, a, answerIn(time.Minute, 1), core.ErrTimeout) // a guest's deadline

		// A notice's timer may take as long as it likes.
		began = sim.Now
		core.Notice(hint.At(address), func(_ *player, s *cue) core.Yield {
			core.Timer.Ask(s, &s.tick, time.Hour)
			return s.wait(func(_ *player, s *cue) core.Yield {
				_, got = s.tick.Get()
				began = sim.Now - began
				return s.Return()
			})
		})
		got = errors.New("not yet")
		sim.Run(time.Hour + time.Second)
		if got != nil || began < int64(time.Hour) || began > int64(time.Hour+tick) {
			t.Errorf("an hour's timer of a notice: %v after %v", got, time.Duration(began))
		}
	})
}

// TestTimerExtremes: the shortest and the longest.
func TestTimerExtremes(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		address, _ := cast(sim, 0)
		for _, d := range []time.Duration{math.MinInt64, -1, 0, 1} {
			fired := false
			core.Notice(hint.At(address), timed(d, func() { fired = true }))
			sim.Run(10 * time.Microsecond)
			if !fired {
				t.Errorf("a timer of %d ns hasn't fired", d)
			}
		}
		for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2} {
			core.Notice(hint.At(address), timed(d, func() { t.Errorf("a timer of %v fired", d) }))
		}
		sim.Run(time.Hour)
	})
}

// timed calls f after d.
func timed(d time.Duration, f func()) func(*player, *cue) core.Yield {
	return func(_ *player, s *cue) core.Yield {
		core.Timer.Ask(s, &s.tick, d)
		return s.wait(func(_ *player, s *cue) core.Yield {
			if _, err := s.tick.Get(); err == nil {
				f()
			}
			return s.Return()
		})
	}
}

// TestTimerBehindASlowStep: a timer, and a limit, count from when they are asked for, not from
// when the turn began.
func TestTimerBehindASlowStep(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		for at := range 3 {
			_, b := cast(sim, at/2)
			for _, d := range []time.Duration{1, time.Microsecond, time.Millisecond, 20 * time.Millisecond} {
				wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
					sim.Now += int64(5 * time.Millisecond)
					due := sim.Now + int64(d)
					if at == 0 {
						core.Timer.Ask(s, &s.tick, d)
					} else {
						b.AskWithin(s, &s.f[0], answerIn(time.Hour, 1), d)
					}
					return s.wait(func(_ *player, s *scene) core.Yield {
						if sim.Now < due {
							t.Errorf("seed %d: %v are early by %v", sim.Seed, d, time.Duration(due-sim.Now))
						}
						return s.Return(1)
					})
				}, 1)
			}
		}
	})
}

// TestPanicInATimerHandler: the step after a timer panics; the stack's asker
// hears of it, other stacks and timers go on.
func TestPanicInATimerHandler(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		address, a := cast(sim, 0)
		_, b := cast(sim, 1)
		fired := 0
		for i := range 20 {
			core.Notice(hint.At(address), timed(time.Duration(i)*time.Millisecond, func() { fired++ }))
		}
		other := core.Begin(a, answerIn(10*time.Millisecond, 5))
		guest := core.Begin(a, func(_ *player, s *scene) core.Yield {
			core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
			b.Ask(s, &s.f[0], answerIn(20*time.Millisecond, 1))
			return s.waitAny(func(*player, *scene) core.Yield { panic("at the tick") })
		})
		core.Notice(hint.At(address), timed(10*time.Millisecond, func() { panic("in a notice") }))
		wantAnswer(t, sim, b, func(_ *player, s *scene) core.Yield {
			a.Ask(s, &s.f[0], func(_ *player, s *scene) core.Yield {
				core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
				return s.wait(func(*player, *scene) core.Yield { panic("at the tick") })
			})
			return s.wait(func(_ *player, s *scene) core.Yield {
				_, err := s.f[0].Get()
				wantPanic(t, err, "at the tick")
				return s.Return(1)
			})
		}, 1)
		sim.Run(30 * time.Millisecond)
		_, err := guest.Get()
		wantPanic(t, err, "at the tick")
		if n, err := other.Get(); n != 5 || err != nil {
			t.Errorf("the other stack got %d, %v", n, err)
		}
		if fired != 20 {
			t.Errorf("%d of 20 timers fired", fired)
		}
		wantStat(t, "failures", stats(sim).Failures, 3)
	})
}

// sleeper has many timers.
type sleeper struct {
	sim    *housetest.Sim
	fired  int
	early  int
	late   int
	latest int64
	failed error
}

type sleepStack struct {
	core.NoticeStack[time.Duration]
	began int64
	tick  core.Future[core.Tick]
	other core.Future[core.Tick]
}

func (a *sleeper) sleep(s *sleepStack) core.Yield {
	s.began = a.sim.Now
	core.Timer.Ask(s, &s.tick, s.Msg)
	core.Timer.Ask(s, &s.other, s.Msg+time.Hour) // cancelled when the stack returns
	return core.SuspendAny(s, (*sleeper).woken)
}

func (a *sleeper) woken(s *sleepStack) core.Yield {
	a.fired++
	if _, err := s.tick.Get(); err != nil {
		a.failed = err
	}
	late := a.sim.Now - s.began - int64(s.Msg)
	if late < 0 {
		a.early++
	}
	if late > int64(tick) {
		a.late++
	}
	a.latest = max(a.latest, late)
	return s.Return()
}

var sleep = core.HandleNotice((*sleeper).sleep)

// TestManyTimers: 100,000 stacks with two timers each, one of which is cancelled.
// None is early, none later than a tick.
func TestManyTimers(t *testing.T) {
	n := 100_000
	if invariant.Race {
		n /= 10
	}
	sim := stage(t, 3, 2)
	rng := rand.New(rand.NewPCG(3, 3))
	var all []*sleeper
	for worker := range 2 {
		a := &sleeper{sim: sim}
		all = append(all, a)
		at := sleep.At(roomy(sim.Workers()[worker], func() *sleeper { return a }))
		for range n / 2 {
			// Some 16 share a time.
			core.Notice(at, time.Second+time.Duration(rng.IntN(n/16))*100*time.Microsecond)
		}
	}
	sim.Run(2 * time.Second)
	for worker, a := range all {
		if a.fired != n/2 || a.failed != nil {
			t.Errorf("worker %d: %d of %d timers fired, %v", worker, a.fired, n/2, a.failed)
		}
		if a.early != 0 || a.late != 0 {
			t.Errorf("worker %d: %d timers early, %d late, the worst by %v", worker, a.early, a.late, time.Duration(a.latest))
		}
	}
}

// TestDeadlineBehindASlowKey: the time that a goroutine's context has left counts from when its
// ask is sent, not from before its router has looked for whom.
func TestDeadlineBehindASlowKey(t *testing.T) {
	var clock atomic.Int64
	clock.Store(1)
	sys := open(t, house.Config{Workers: 1, Clock: clock.Load, Spin: -1})
	_, a := spawnDesk(t, sys, core.Bounded(10, core.Reject))
	var group core.Group[desk]
	group.Join(a)
	to := deskAsk.ByKey(&group, func(*int) uint64 { clock.Add(int64(2 * time.Hour)); return 0 })
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for i := range 3 {
		if n, err := core.Ask(ctx, to, i); n != i || err != nil {
			t.Errorf("the answer is %d, %v", n, err)
		}
	}
	if n := sys.Stats().Expired; n != 0 {
		t.Errorf("%d asks have expired", n)
	}
}
