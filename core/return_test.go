package core_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestReturnWithAsksInFlight: what a stack still waits for when it ends is cancelled.
func TestReturnWithAsksInFlight(t *testing.T) {
	t.Run("callee queued", func(t *testing.T) {
		eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
			_, a := cast(sim, 0)
			for worker := range 2 {
				_, b := cast(sim, worker)
				began := false
				wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
					for i := range s.f {
						b.Ask(s, &s.f[i], func(_ *player, s *scene) core.Yield {
							began = true
							return s.Return(1)
						})
					}
					return s.Return(2)
				}, 2)
				sim.Rest()
				if began {
					t.Error("the callee began an ask whose asker had ended")
				}
			}
			wantStat(t, "cancelled", stats(sim).Cancelled, 16)
			wantStat(t, "late", stats(sim).Late, 16)
		})
	})
	t.Run("callee suspended", func(t *testing.T) {
		eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
			_, a := cast(sim, 0)
			for worker := range 2 {
				_, b := cast(sim, worker)
				began, went := false, false
				wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
					b.Ask(s, &s.f[0], func(_ *player, s *scene) core.Yield {
						began = true
						core.Timer.Ask(s, &s.tick, 10*time.Millisecond)
						return s.wait(func(_ *player, s *scene) core.Yield {
							went = true
							return s.Return(1)
						})
					})
					core.Timer.Ask(s, &s.tick, time.Millisecond)
					return s.waitAny(answer(2))
				}, 2)
				sim.Run(20 * time.Millisecond)
				if !began || went {
					t.Errorf("the callee began %t, went on %t after its asker's end", began, went)
				}
			}
			wantStat(t, "cancelled", stats(sim).Cancelled, 2)
			wantStat(t, "late", stats(sim).Late, 2)
		})
	})
	t.Run("after a throw", func(t *testing.T) {
		eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
			_, a := cast(sim, 0)
			_, b := cast(sim, 1)
			wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				core.Timer.Ask(s, &s.tick, time.Hour)
				return s.Throw(core.ErrOverloaded)
			}, core.ErrOverloaded)
			sim.Rest()
			wantStat(t, "late", stats(sim).Late, 1)
		})
	})
}

// TestCancelCascades: A asks B asks C asks D, and A ends. The flag travels as
// answers do: each callee ends before its next step, and so flags the next.
func TestCancelCascades(t *testing.T) {
	eachSeed(t, 10, 3, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		_, c := cast(sim, 2)
		_, d := cast(sim, 0)
		went := 0
		onward := func(to core.Port[script, int], look time.Duration, act script) script {
			return func(_ *player, s *scene) core.Yield {
				to.Ask(s, &s.f[0], act)
				core.Timer.Ask(s, &s.tick, look) // when it sees the flag
				return s.waitAny(func(_ *player, s *scene) core.Yield {
					went++
					return s.waitAny(s.then)
				})
			}
		}
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], onward(c, 10*time.Millisecond, onward(d, 15*time.Millisecond, answerIn(20*time.Millisecond, 1))))
			core.Timer.Ask(s, &s.tick, 5*time.Millisecond)
			return s.waitAny(answer(2))
		}, 2)
		sim.Run(50 * time.Millisecond)
		if went != 0 {
			t.Errorf("%d steps ran in stacks whose asker had ended", went)
		}
		st := stats(sim)
		wantStat(t, "cancelled", st.Cancelled, 3)
		wantStat(t, "late", st.Late, 3)
		wantStat(t, "timeouts", st.Timeouts, 0)
	})
}

type (
	// library answers with bytes, which its stack carries.
	library   struct{ page []byte }
	readStack struct {
		core.AskStack[int, []byte]
	}
)

func (l *library) read(s *readStack) core.Yield {
	l.page = append(l.page[:0], fmt.Sprintf("page %d", s.Req)...)
	return s.Return(s.Copy(l.page)) // l.page is overwritten by the next ask
}

var read = core.Handle((*library).read)

type (
	reader     struct{ library core.Port[int, []byte] }
	readsStack struct {
		core.AskStack[int, string]
		kept  core.Future[[]byte]
		other core.Future[[]byte]
		left  int
	}
)

// reads keeps one answer while it asks many others of the same kind.
func (r *reader) reads(s *readsStack) core.Yield {
	s.left = s.Req
	r.library.Ask(s, &s.kept, 7)
	r.library.Ask(s, &s.other, 0)
	return core.Suspend(s, (*reader).again)
}

func (r *reader) again(s *readsStack) core.Yield {
	kept, err := s.kept.Get()
	if err != nil || string(kept) != "page 7" {
		return s.Throw(fmt.Errorf("the answer kept is %q, %v after %d others", kept, err, s.Req-s.left))
	}
	other, err := s.other.Get()
	if want := fmt.Sprintf("page %d", s.Req-s.left); err != nil || string(other) != want {
		return s.Throw(fmt.Errorf("the other answer is %q, %v, want %q", other, err, want))
	}
	if s.left == 0 {
		// A future asked again: its last answer is gone, the other's stays.
		r.library.Ask(s, &s.kept, 8)
		if s.kept.Ready() {
			return s.Throw(fmt.Errorf("a future that was asked again is ready"))
		}
		return core.Suspend(s, (*reader).last)
	}
	s.left--
	r.library.Ask(s, &s.other, s.Req-s.left)
	return core.Suspend(s, (*reader).again)
}

func (r *reader) last(s *readsStack) core.Yield {
	kept, _ := s.kept.Get()
	other, _ := s.other.Get()
	return s.Return(string(bytes.Join([][]byte{kept, other}, []byte(", "))))
}

var reads = core.Handle((*reader).reads)

// TestAnswerLivesUntilAskedAgain: an answer, bytes included, is readable in every
// later step until its future is asked again.
func TestAnswerLivesUntilAskedAgain(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		for worker := range 2 {
			l := core.Spawn(sim.Workers()[worker], func() *library { return &library{} })
			r := core.Spawn(sim.Workers()[0], func() *reader { return &reader{library: read.At(l)} })
			got, err := housetest.Ask(t, sim, reads.At(r), 100)
			if err != nil || got != "page 8, page 100" {
				t.Errorf("got %q, %v", got, err)
			}
		}
	})
}

// TestErrorLivesUntilAskedAgain is the same for an answer that is an error.
func TestErrorLivesUntilAskedAgain(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], func(_ *player, s *scene) core.Yield { return s.Throw(core.ErrOverloaded) })
			return s.wait(func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[1], answer(1))
				return s.wait(func(_ *player, s *scene) core.Yield {
					if _, err := s.f[0].Get(); err != core.ErrOverloaded {
						t.Errorf("error %v two steps later", err)
					}
					b.Ask(s, &s.f[0], answer(3))
					return s.wait(get)
				})
			})
		}, 3)
	})
}

// TestFutureOfTheActor: a future may outlive the stack that asked it, if it is a
// field of the actor: at the stack's end it is as never asked.
func TestFutureOfTheActor(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		_, b := cast(sim, 1)
		var shared core.Future[int]
		for range 3 {
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				if shared.Ready() || shared.Waiting() {
					t.Error("the future remembers an ended stack")
				}
				b.Ask(s, &shared, answer(4))
				return s.wait(func(_ *player, s *scene) core.Yield {
					n, err := shared.Get()
					if n != 4 || err != nil {
						t.Errorf("answer %d, %v", n, err)
					}
					return s.Return(n)
				})
			}, 4)
		}
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &shared, answer(4))
			return s.Return(5)
		}, 5)
		if shared.Ready() || shared.Waiting() {
			t.Error("the future remembers an ended stack")
		}
	})
}
