package core_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Answers that come at another time than the asker thinks. In a simulation a step
// can run another worker's turn, and so is overtaken in a place of its choice.

func TestReplyBeforeTheAskerSuspends(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		answered := false
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], func(_ *player, s *scene) core.Yield {
				answered = true
				return s.Return(7)
			})
			sim.Workers()[1].Turn()
			if !answered || s.f[0].Ready() || !s.f[0].Waiting() {
				t.Errorf("answered %t, ready %t in the step that asked", answered, s.f[0].Ready())
			}
			return s.wait(get)
		}, 7)

		// Without a Suspend the answer finds nobody.
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], answer(8))
			sim.Workers()[1].Turn()
			return s.Return(9)
		}, 9)
		wantStat(t, "late", stats(sim).Late, 1)
	})
}

// TestReplyBeforeTheAskerSuspendsOnThreads is the same on two threads: the
// asker's step spins until the callee has gone on to its next message.
func TestReplyBeforeTheAskerSuspendsOnThreads(t *testing.T) {
	sys := open(t, house.Config{Workers: 2, LockThreads: true}) // nobody runs another's turns
	a := play.At(core.Spawn(sys.Workers()[0], func() *player { return &player{} }))
	b := play.At(core.Spawn(sys.Workers()[1], func() *player { return &player{} }))
	for i := range 200 {
		got, err := core.Ask(t.Context(), a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], answer(i)) // leaves at once: nothing is on its way to b
			next := core.Begin(b, answer(i))
			for !next.Ready() {
				runtime.Gosched()
			}
			if _, err := next.Get(); err != nil {
				t.Error(err)
			}
			return s.wait(get)
		})
		if got != i || err != nil {
			t.Fatalf("answer %d, %v; want %d", got, err, i)
		}
	}
}

// prompter does something and answers 666, or answers 7 after so many ns. Its requests hold nothing
// of their askers, whose stacks are recycled while it is busy.
type prompter struct{ do func() }

type promptStack struct {
	core.AskStack[int, int]
	tick core.Future[core.Tick]
}

func (p *prompter) ask(s *promptStack) core.Yield {
	if s.Req > 0 {
		core.Timer.Ask(s, &s.tick, time.Duration(s.Req))
		return core.Suspend(s, (*prompter).seven)
	}
	p.do()
	return s.Return(666)
}

func (p *prompter) seven(s *promptStack) core.Yield { return s.Return(7) }

var prompterAsk = core.Handle((*prompter).ask)

// TestReplyAfterTimeoutToARecycledStack has an answer come home when its asker's
// stack has timed out, ended, and begun another life with another ask in the
// same future.
func TestReplyAfterTimeoutToARecycledStack(t *testing.T) {
	eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, c := cast(sim, 0)
		busy := &prompter{}
		b := prompterAsk.At(core.Spawn(sim.Workers()[1], func() *prompter { return busy }))
		turns := func() {
			for range 20 {
				sim.Now += 1000
				sim.Workers()[0].Turn()
			}
		}
		var first, second *scene
		var firstErr error
		begin := func(then script) core.Pending[int] { return core.Begin(c, relay(a, then)) }

		// The new life of the stack, begun while slow still runs.
		var renewed core.Pending[int]
		busy.do = func() {
			sim.Now += int64(2 * time.Millisecond)
			turns()
			if firstErr == nil {
				t.Error("the ask hasn't timed out")
			}
			renewed = begin(func(_ *player, s *scene) core.Yield {
				second = s
				core.Timer.Ask(s, &s.tick, 50*time.Millisecond)
				b.Ask(s, &s.f[0], int(10*time.Millisecond))
				return s.wait(get)
			})
			turns()
		}
		old := begin(func(_ *player, s *scene) core.Yield {
			first = s
			b.AskWithin(s, &s.f[0], 0, time.Millisecond) // it answers the first life
			return s.wait(func(_ *player, s *scene) core.Yield {
				_, firstErr = s.f[0].Get()
				return s.Return(1)
			})
		})
		sim.Rest()
		if first == nil || first != second {
			t.Fatalf("the stack was not recycled: %p, %p", first, second)
		}
		if n, err := old.Get(); n != 1 || err != nil || !errors.Is(firstErr, core.ErrTimeout) {
			t.Errorf("first life: %d, %v after %v", n, err, firstErr)
		}
		wantStat(t, "late", stats(sim).Late, 1)
		wantStat(t, "timeouts", stats(sim).Timeouts, 1)
		if renewed.Ready() {
			t.Fatal("the second life ended early")
		}
		began := sim.Now
		for !renewed.Ready() {
			sim.Run(time.Millisecond)
		}
		if n, err := renewed.Get(); n != 7 || err != nil {
			t.Errorf("second life: %d, %v; want 7", n, err)
		}
		if took := time.Duration(sim.Now - began); took < 40*time.Millisecond {
			t.Errorf("the second life's timer was cut to %v", took)
		}
	})
}

// TestSecondReply has a step end its stack twice: its asker hears once, of the panic.
func TestSecondReply(t *testing.T) {
	for name, twice := range map[string]script{
		"return, return": func(_ *player, s *scene) core.Yield { s.Return(1); return s.Return(2) },
		"return, throw":  func(_ *player, s *scene) core.Yield { s.Return(1); return s.Throw(errors.New("no")) },
		"throw, return":  func(_ *player, s *scene) core.Yield { s.Throw(errors.New("no")); return s.Return(2) },
	} {
		t.Run(name, func(t *testing.T) {
			eachSeedOf(t, 4, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
				_, a := cast(sim, 0)
				for worker := range 2 {
					_, b := cast(sim, worker)
					heard := 0
					wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
						b.Ask(s, &s.f[0], twice)
						core.Timer.Ask(s, &s.tick, time.Millisecond) // stay to hear more
						return s.waitAny(func(_ *player, s *scene) core.Yield {
							if s.f[0].Ready() {
								heard++
								_, err := s.f[0].Get()
								wantPanic(t, err, "a stack ends twice")
							}
							if s.tick.Ready() {
								return s.Return(1)
							}
							return s.waitAny(s.then)
						})
					}, 1)
					if heard != 2 { // at the answer, and at the timer that follows
						t.Errorf("resumed %d times with the answer, want 2", heard)
					}
					wantAnswer(t, sim, b, answer(3), 3)
				}
				wantStat(t, "late", stats(sim).Late, 0)
				wantStat(t, "failures", stats(sim).Failures, 2)
			})
		})
	}
}

// TestYieldOfAnotherStack has a step return what another stack's step made.
func TestYieldOfAnotherStack(t *testing.T) {
	eachSeed(t, 4, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		stolen := func(p *player, _ *scene) core.Yield { return p.saved }

		wantAnswer(t, sim, a, func(p *player, s *scene) core.Yield {
			p.saved = s.Return(1)
			return p.saved
		}, 1)
		_, err := housetest.Ask(t, sim, a, stolen)
		wantPanic(t, err, "the Yield of another stack")

		// The Yield of one that waits still.
		var waits *scene
		waiting := core.Begin(a, func(p *player, s *scene) core.Yield {
			waits = s
			b.Ask(s, &s.f[0], answerIn(time.Millisecond, 5))
			p.saved = s.wait(get)
			return p.saved
		})
		sim.Rest()
		_, err = housetest.Ask(t, sim, a, stolen)
		wantPanic(t, err, "the Yield of another stack")
		_, err = housetest.Ask(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], answer(1))
			s.Return(4)
			return s.wait(get)
		})
		wantPanic(t, err, "a stack ends twice")

		// Ending another one is that step's failure, not the other's.
		_, err = housetest.Ask(t, sim, a, func(*player, *scene) core.Yield { return waits.Return(6) })
		wantPanic(t, err, "a suspended stack can't end")
		sim.Run(2 * time.Millisecond)
		if n, err := waiting.Get(); n != 5 || err != nil {
			t.Errorf("the robbed stack's answer is %d, %v; want 5", n, err)
		}

		// And one that nobody runs any more.
		var gone *scene
		first := core.Begin(a, func(_ *player, s *scene) core.Yield { gone = s; return s.Return(1) })
		second := core.Begin(a, answer(2))
		sim.Rest()
		first.Get()
		second.Get() // its stack is the next to be taken
		_, err = housetest.Ask(t, sim, b, func(_ *player, s *scene) core.Yield { return gone.Return(6) })
		wantPanic(t, err, "a stack is used outside its steps")
	})
}
