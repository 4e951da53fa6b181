package core_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// askAll asks the players for answers after 1, 2, … milliseconds: 0, 1, 2, ….
func askAll(s *scene, to ...core.Port[script, int]) {
	for i, p := range to {
		p.Ask(s, &s.f[i], answerIn(time.Duration(i+1)*time.Millisecond, i))
	}
}

// readyOf counts the answers that are there.
func readyOf(s *scene) (n int) {
	for i := range s.f {
		if s.f[i].Ready() {
			n++
		}
	}
	return n
}

func fivePorts(sim *housetest.Sim) (to []core.Port[script, int]) {
	for i := range 5 {
		_, p := cast(sim, i%len(sim.Workers()))
		to = append(to, p)
	}
	return to
}

func TestSuspendWaitsForAll(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		to := fivePorts(sim)
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			askAll(s, to...)
			return s.wait(func(_ *player, s *scene) core.Yield {
				if readyOf(s) != 5 {
					t.Errorf("resumed with %d answers, want 5", readyOf(s))
				}
				sum := 0
				for i := range to {
					n, err := s.f[i].Get()
					if n != i || err != nil {
						t.Errorf("answer %d is %d, %v", i, n, err)
					}
					sum += n
				}
				return s.Return(sum + 100*s.calls)
			})
		}, 110)
	})
}

// TestSuspendGoesOnWhenSomeFail: an answer is an answer, whatever it says.
func TestSuspendGoesOnWhenSomeFail(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		sad := errors.New("sad")
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], answer(1))
			b.Ask(s, &s.f[1], func(_ *player, s *scene) core.Yield { return s.Throw(sad) })
			b.Ask(s, &s.f[2], func(*player, *scene) core.Yield { panic("oh") })
			b.AskWithin(s, &s.f[3], answerIn(time.Second, 1), time.Millisecond)
			return s.wait(func(_ *player, s *scene) core.Yield {
				for i, want := range []error{nil, sad, core.ErrPanic, core.ErrTimeout} {
					if _, err := s.f[i].Get(); !errors.Is(err, want) {
						t.Errorf("answer %d: %v, want %v", i, err, want)
					}
				}
				return s.Return(s.calls)
			})
		}, 1)
	})
}

func TestSuspendAnyRunsAtEachAnswer(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		to := fivePorts(sim)
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			askAll(s, to...)
			return s.waitAny(func(_ *player, s *scene) core.Yield {
				if n := readyOf(s); n != s.calls {
					t.Errorf("call %d comes with %d answers", s.calls, n)
				}
				if s.calls == 5 {
					return s.Return(s.calls)
				}
				return s.waitAny(s.then)
			})
		}, 5)
	})
}

// TestSuspendAnyThenAll: after some answers the rest can be waited for together.
func TestSuspendAnyThenAll(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		to := fivePorts(sim)
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			askAll(s, to...)
			return s.waitAny(func(_ *player, s *scene) core.Yield {
				if s.calls == 2 {
					to[0].Ask(s, &s.f[5], answer(5)) // one more beside those under way
					return s.wait(func(_ *player, s *scene) core.Yield { return s.Return(readyOf(s)*10 + s.calls) })
				}
				return s.waitAny(s.then)
			})
		}, 63)
	})
}

func TestSuspendUntilFirstWins(t *testing.T) {
	eachSeedOf(t, 5, 3, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		to := fivePorts(sim)
		asked := 0
		began := sim.Now
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			askAll(s, to...)
			return s.waitUntil(
				func(s *scene) bool { asked++; return readyOf(s) > 0 },
				func(_ *player, s *scene) core.Yield { return s.Return(readyOf(s)) })
		}, 1)
		if asked != 1 {
			t.Errorf("the predicate was asked %d times, want 1", asked)
		}
		if took := time.Duration(sim.Now - began); took > 2*time.Millisecond {
			t.Errorf("the first of five took %v", took)
		}
		sim.Run(10 * time.Millisecond)
		wantStat(t, "late", stats(sim).Late, 4)
	})
}

func TestSuspendUntilThreeOfFive(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		to := fivePorts(sim)
		asked := 0
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			askAll(s, to...)
			return s.waitUntil(
				func(s *scene) bool { asked++; return readyOf(s) >= 3 },
				func(_ *player, s *scene) core.Yield {
					if n, err := s.f[2].Get(); n != 2 || err != nil {
						t.Errorf("the third answer is %d, %v", n, err)
					}
					return s.Return(readyOf(s)*10 + s.calls)
				})
		}, 31)
		if asked != 3 {
			t.Errorf("the predicate was asked %d times, want 3", asked)
		}
	})
}

// TestSuspendUntilAllAnswered: the step runs at the last answer, even if the
// predicate never says yes.
func TestSuspendUntilAllAnswered(t *testing.T) {
	eachSeed(t, 5, 3, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		to := fivePorts(sim)
		asked := 0
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			askAll(s, to...)
			return s.waitUntil(
				func(s *scene) bool { asked++; return false },
				func(_ *player, s *scene) core.Yield { return s.Return(readyOf(s)*10 + s.calls) })
		}, 51)
		if asked != 4 {
			t.Errorf("the predicate was asked %d times, want 4: not at the last answer", asked)
		}
	})
}

func TestSuspendUntilPredicatePanics(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		_, err := housetest.Ask(t, sim, a, func(_ *player, s *scene) core.Yield {
			askAll(s, b, b)
			return s.waitUntil(func(s *scene) bool { panic("no idea") }, answer(1))
		})
		wantPanic(t, err, "no idea")
		wantAnswer(t, sim, a, answer(2), 2)
	})
}

// TestSuspendedStacksOfOneActorInterleave: while one waits, others are handled.
func TestSuspendedStacksOfOneActorInterleave(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		var order []int
		var calls []core.Pending[int]
		for i := range 5 {
			calls = append(calls, core.Begin(a, func(_ *player, s *scene) core.Yield {
				core.Timer.Ask(s, &s.tick, time.Duration(5-i)*time.Millisecond)
				return s.wait(func(_ *player, s *scene) core.Yield {
					order = append(order, i)
					return s.Return(i)
				})
			}))
		}
		sim.Run(10 * time.Millisecond)
		for i, c := range calls {
			if n, err := c.Get(); n != i || err != nil {
				t.Errorf("answer %d is %d, %v", i, n, err)
			}
		}
		for i, n := range order {
			if n != 4-i {
				t.Fatalf("order %v, want the shortest wait first", order)
			}
		}
	})
}
