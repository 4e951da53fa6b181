package core_test

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// stopSelf stops the actor that runs it, then ends its step with then.
func stopSelf(then script) script {
	return func(p *player, s *scene) core.Yield {
		core.Self[player](s).Stop()
		return then(p, s)
	}
}

// TestStopFromInsideAStep: the step that stops its own actor ends as it says;
// nothing behind it in the queue begins.
func TestStopFromInsideAStep(t *testing.T) {
	for _, budget := range []int{1, 7, 32} {
		for seed := range uint64(5) {
			sim := drawn(t, seed, house.Config{Workers: 2, Budget: budget, Supervise: resumes}, anySteps)
			address, a := cast(sim, 0)
			var before, behind []core.Pending[int]
			for i := range 10 {
				before = append(before, core.Begin(a, answer(i)))
			}
			stopper := core.Begin(a, stopSelf(answer(10)))
			ran := 0
			for range 50 {
				behind = append(behind, core.Begin(a, func(_ *player, s *scene) core.Yield { ran++; return s.Return(1) }))
				core.Notice(hint.At(address), func(_ *player, s *cue) core.Yield { ran++; return s.Return() })
			}
			sim.Rest()
			for i, c := range before {
				if n, err := c.Get(); n != i || err != nil {
					t.Errorf("before the stop: answer %d is %d, %v", i, n, err)
				}
			}
			if n, err := stopper.Get(); n != 10 || err != nil {
				t.Errorf("the step that stopped its actor answered %d, %v", n, err)
			}
			for _, c := range behind {
				if _, err := c.Get(); err != core.ErrStopped {
					t.Errorf("behind the stop: %v", err)
				}
			}
			if ran != 0 {
				t.Errorf("budget %d: %d messages were handled after the stop", budget, ran)
			}
			st := stats(sim)
			wantStat(t, "refused", st.Refused, 100)
			wantStat(t, "dead letters", st.DeadLetter, 50)
		}
	}
}

// TestStopFromInsideAStepThatSuspends: its asker gets ErrStopped, and what it
// asked is cancelled.
func TestStopFromInsideAStepThatSuspends(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		for worker := range 2 {
			_, a := cast(sim, 0)
			_, b := cast(sim, worker)
			wantError(t, sim, a, stopSelf(relay(b, answerIn(time.Millisecond, 1))), core.ErrStopped)
			wantError(t, sim, a, answer(1), core.ErrStopped)
		}
		sim.Run(10 * time.Millisecond)
		wantStat(t, "late", stats(sim).Late, 2)
	})
}

// TestStopOfAnotherFromAStep: the order of stops and messages of one step holds,
// also when the other lives on the same worker.
func TestStopOfAnotherFromAStep(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		for worker := range 2 {
			_, a := cast(sim, 0)
			address, b := cast(sim, worker)
			wantError(t, sim, a, func(p *player, s *scene) core.Yield {
				address.Stop()
				return relay(b, answer(1))(p, s)
			}, core.ErrStopped)
		}
	})
}

// TestStopAmongAnswers: the answer's step that stops its actor is the last, though
// more answers and calls are queued, whichever lane's turn it would be.
func TestStopAmongAnswers(t *testing.T) {
	for stopAt := 1; stopAt < 40; stopAt++ {
		sim := stage(t, uint64(stopAt), 2)
		address, a := cast(sim, 0)
		_, b := cast(sim, 1)
		steps := 0
		fs := make([]core.Future[int], 40)
		asks := core.Begin(a, func(_ *player, s *scene) core.Yield {
			for i := range fs {
				b.Ask(s, &fs[i], answer(i))
			}
			sim.Workers()[1].Turn() // all answers are here
			return s.waitAny(func(_ *player, s *scene) core.Yield {
				if steps++; steps == stopAt {
					address.Stop()
				}
				return s.waitAny(s.then)
			})
		})
		var calls []core.Pending[int]
		for range 40 {
			calls = append(calls, core.Begin(a, func(_ *player, s *scene) core.Yield {
				if steps >= stopAt {
					t.Errorf("stop at answer %d: a call was handled after it", stopAt)
				}
				return s.Return(1)
			}))
		}
		sim.Rest()
		if steps != stopAt {
			t.Errorf("stop at answer %d: %d were handled", stopAt, steps)
		}
		for _, c := range append(calls, asks) {
			if _, err := c.Get(); err != nil && err != core.ErrStopped {
				t.Error(err)
			}
		}
	}
}

// TestStopTwice: the second one finds nobody.
func TestStopTwice(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		address, a := cast(sim, 0)
		wantError(t, sim, a, stopSelf(stopSelf(relay(a, answer(1)))), core.ErrStopped)
		address.Stop()
		sim.Rest()
		address.Stop()
		sim.Rest()
		wantError(t, sim, a, answer(1), core.ErrStopped)
	})
}

// crowd is 1,000 guests and two actors, one beside the callee and one elsewhere,
// that ask 1,000 times each.
type crowd struct {
	t      *testing.T
	guests []core.Pending[int]
	actors []core.Pending[int]
	heard  [2]int
}

const crowdSize = 1000

// fan is the script of an actor of the crowd: it asks, calls then, and listens.
func (c *crowd) fan(heard *int, a core.Port[script, int], act script, then func()) script {
	fs := make([]core.Future[int], crowdSize)
	return func(_ *player, s *scene) core.Yield {
		for i := range fs {
			a.Ask(s, &fs[i], act)
		}
		then()
		return s.waitAny(func(_ *player, s *scene) core.Yield {
			if *heard++; *heard < crowdSize {
				return s.waitAny(s.then)
			}
			for i := range fs {
				if _, err := fs[i].Get(); err != core.ErrStopped {
					c.t.Errorf("ask %d of an actor ended with %v", i, err)
				}
			}
			core.Timer.Ask(s, &s.tick, time.Millisecond) // stay to hear more
			return s.wait(func(_ *player, s *scene) core.Yield { return s.Return(*heard) })
		})
	}
}

// ask begins all asks but those of the actor beside, which come last, before the first of them is
// handled, and then call then.
func (c *crowd) ask(sim *housetest.Sim, a core.Port[script, int], act script, then func()) {
	_, far := cast(sim, 0)
	_, near := cast(sim, 1)
	last := core.Begin(near, c.fan(&c.heard[1], a, act, then)) // it is rung for first
	c.actors = append(c.actors, core.Begin(far, c.fan(&c.heard[0], a, act, func() {})), last)
	for range 10 {
		sim.Workers()[0].Turn()
	}
	for range crowdSize {
		c.guests = append(c.guests, core.Begin(a, act))
	}
	sim.Rest()
}

// stopped requires that each has heard ErrStopped once.
func (c *crowd) stopped(sim *housetest.Sim) {
	sim.Run(time.Second)
	for _, g := range c.guests {
		if _, err := g.Get(); err != core.ErrStopped {
			c.t.Errorf("a guest got %v", err)
		}
	}
	for i, g := range c.actors {
		if n, err := g.Get(); n != crowdSize || err != nil || c.heard[i] != crowdSize {
			c.t.Errorf("an actor heard %d times: %d, %v", c.heard[i], n, err)
		}
	}
	wantStat(c.t, "late", stats(sim).Late, 0)
}

// TestStopWithSuspendedStacks: 1,000 stacks and more wait when their actor stops;
// each asker hears ErrStopped exactly once.
func TestStopWithSuspendedStacks(t *testing.T) {
	eachSeedOf(t, 3, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		address, a := crowded(sim, 1)
		c := crowd{t: t}
		began := 0
		c.ask(sim, a, func(p *player, s *scene) core.Yield {
			began++
			return answerIn(time.Hour, 1)(p, s)
		}, func() {})
		if began != 3*crowdSize || address.House().Waiting() != began {
			t.Fatalf("%d asks began, %d wait", began, address.House().Waiting())
		}
		address.Stop()
		c.stopped(sim)
		if address.House().Waiting() != 0 {
			t.Error("a stopped actor waits for answers")
		}
		wantStat(t, "refused", stats(sim).Refused, 0)
	})
}

// TestStopWithQueuedAsks is the same for asks that have not begun.
func TestStopWithQueuedAsks(t *testing.T) {
	eachSeedOf(t, 3, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		address, a := crowded(sim, 1)
		c := crowd{t: t}
		began := 0
		c.ask(sim, a, func(_ *player, s *scene) core.Yield { began++; return s.Return(1) },
			func() { address.Stop() })
		c.stopped(sim)
		wantStat(t, "refused", stats(sim).Refused+uint64(began), 3*crowdSize)
		if began != 0 {
			t.Errorf("%d queued asks began", began)
		}
	})
}
