package core_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// journal handles writes in batches, as a database commits in groups.
type journal struct {
	batches [][]int // the members of each batch, in order
	by      func(j *journal, s *writeStack) core.Yield
	then    func(j *journal, s *writeStack) core.Yield
	noticed func(j *journal, s *lineStack) core.Yield
	noted   func(j *journal, s *lineStack) core.Yield
}

type (
	writeStack struct {
		core.BatchAskStack[int, string]
		tick core.Future[core.Tick]
		f    core.Future[string]
	}
	lineStack struct {
		core.BatchNoticeStack[int]
		tick core.Future[core.Tick]
	}
	flushStack struct{ core.AskStack[int, string] }
)

func (j *journal) write(s *writeStack) core.Yield {
	var all []int
	for i, n := range s.All() {
		if i != len(all) {
			panic("a member's index is wrong")
		}
		all = append(all, *n)
	}
	if len(all) != s.Len() {
		panic("Len is wrong")
	}
	j.batches = append(j.batches, all)
	return j.by(j, s)
}

func (j *journal) line(s *lineStack) core.Yield {
	var all []int
	for _, n := range s.All() {
		all = append(all, *n)
	}
	j.batches = append(j.batches, all)
	return j.noticed(j, s)
}

func (j *journal) more(s *writeStack) core.Yield     { return j.then(j, s) }
func (j *journal) moreLines(s *lineStack) core.Yield { return j.noted(j, s) }

// flush is a message for another handler.
func (j *journal) flush(s *flushStack) core.Yield {
	j.batches = append(j.batches, []int{-s.Req})
	return s.Return("flushed")
}

var (
	write     = core.HandleBatch((*journal).write, 0)
	writeFew  = core.HandleBatch((*journal).write, 3)
	line      = core.HandleNoticeBatch((*journal).line, 0)
	lineFew   = core.HandleNoticeBatch((*journal).line, 5)
	flush     = core.Handle((*journal).flush)
	errNoRoom = errors.New("no room")
)

func newJournal(sim *housetest.Sim, by func(*journal, *writeStack) core.Yield) (*journal, core.Address[journal]) {
	j := &journal{by: by}
	return j, core.Spawn(sim.Workers()[0], func() *journal { return j })
}

func commit(_ *journal, s *writeStack) core.Yield { return s.ReturnAll("done") }

// beginAll asks for each of the numbers; a negative one is a flush.
func beginAll(p core.Port[int, string], f core.Port[int, string], ns ...int) (calls []core.Pending[string]) {
	for _, n := range ns {
		if n < 0 {
			calls = append(calls, core.Begin(f, -n))
		} else {
			calls = append(calls, core.Begin(p, n))
		}
	}
	return calls
}

func wantReplies(t *testing.T, calls []core.Pending[string], want string) {
	t.Helper()
	for i, c := range calls {
		if got, err := c.Get(); got != want || err != nil {
			t.Errorf("member %d got %q, %v; want %q", i, got, err, want)
		}
	}
}

func wantBatches(t *testing.T, j *journal, want ...[]int) {
	t.Helper()
	if !slices.EqualFunc(j.batches, want, slices.Equal[[]int]) {
		t.Errorf("batches %v, want %v", j.batches, want)
	}
}

func upTo(from, to int) (all []int) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

// TestBatchTakesTheRunAtTheHead: in order of arrival, up to the maximum.
func TestBatchTakesTheRunAtTheHead(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		j, at := newJournal(sim, commit)
		calls := beginAll(write.At(at), flush.At(at), upTo(1, 150)...)
		sim.Rest()
		wantReplies(t, calls, "done")
		wantBatches(t, j, upTo(1, 64), upTo(65, 128), upTo(129, 150))

		j.batches = nil
		calls = beginAll(writeFew.At(at), flush.At(at), upTo(1, 7)...)
		sim.Rest()
		wantReplies(t, calls, "done")
		wantBatches(t, j, upTo(1, 3), upTo(4, 6), upTo(7, 7))

		j.batches = nil
		j.noticed = func(_ *journal, s *lineStack) core.Yield { return s.Return() }
		for n := range 12 {
			core.Notice(lineFew.At(at), n)
		}
		sim.Rest()
		wantBatches(t, j, upTo(0, 4), upTo(5, 9), upTo(10, 11))
	})
}

// TestBatchEndsAtAnotherHandlersMessage: so the order of messages holds.
func TestBatchEndsAtAnotherHandlersMessage(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		j, at := newJournal(sim, commit)
		j.noticed = func(_ *journal, s *lineStack) core.Yield { return s.Return() }
		calls := beginAll(write.At(at), flush.At(at), 1, 2, -3, 4, -5, -6)
		core.Notice(line.At(at), 7)
		core.Notice(line.At(at), 8)
		calls = append(calls, beginAll(writeFew.At(at), flush.At(at), 9)...)
		// the same step, but another handler
		calls = append(calls, beginAll(write.At(at), flush.At(at), 10)...)
		sim.Rest()
		wantBatches(t, j, []int{1, 2}, []int{-3}, []int{4}, []int{-5}, []int{-6}, []int{7, 8}, []int{9}, []int{10})
		for _, c := range calls {
			if _, err := c.Get(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestBatchOfActorsAndGuests: members may come from anywhere, and each gets its own answer.
func TestBatchOfActorsAndGuests(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield {
			return s.ReturnEach(func(n *int) (string, error) {
				if *n%5 == 0 {
					return "", errNoRoom
				}
				return fmt.Sprint(*n), nil
			})
		})
		var players []core.Pending[int]
		for worker := range 2 {
			_, a := cast(sim, worker)
			fs := make([]core.Future[string], 20)
			players = append(players, core.Begin(a, func(_ *player, s *scene) core.Yield {
				for i := range fs {
					write.At(at).Ask(s, &fs[i], i)
				}
				return s.wait(func(_ *player, s *scene) core.Yield {
					for i := range fs {
						wantEach(t, i, &fs[i])
					}
					return s.Return(1)
				})
			}))
		}
		calls := beginAll(write.At(at), flush.At(at), upTo(0, 20)...)
		sim.Rest()
		for i, c := range calls {
			if got, err := c.Get(); i%5 == 0 && err != errNoRoom || i%5 != 0 && (got != fmt.Sprint(i) || err != nil) {
				t.Errorf("guest's member %d got %q, %v", i, got, err)
			}
		}
		for _, p := range players {
			if n, err := p.Get(); n != 1 || err != nil {
				t.Errorf("player: %d, %v", n, err)
			}
		}
	})
}

func wantEach(t *testing.T, i int, f *core.Future[string]) {
	t.Helper()
	got, err := f.Get()
	if i%5 == 0 && err != errNoRoom || i%5 != 0 && (got != fmt.Sprint(i) || err != nil) {
		t.Errorf("member %d got %q, %v", i, got, err)
	}
}

func TestBatchThrowAll(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		_, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield { return s.ThrowAll(errNoRoom) })
		calls := beginAll(write.At(at), flush.At(at), 1, 2, 3)
		sim.Rest()
		for i, c := range calls {
			if _, err := c.Get(); err != errNoRoom {
				t.Errorf("member %d got %v", i, err)
			}
		}
		wantStat(t, "failures", stats(sim).Failures, 0)
	})
}

// TestBatchPanics: members without an answer get ErrPanic, those answered keep theirs.
func TestBatchPanics(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		_, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield {
			return s.ReturnEach(func(n *int) (string, error) {
				if *n == 3 {
					panic("three")
				}
				return fmt.Sprint(*n), nil
			})
		})
		calls := beginAll(write.At(at), flush.At(at), 1, 2, 3, 4)
		sim.Rest()
		for i, c := range calls {
			got, err := c.Get()
			if i < 2 {
				if got != fmt.Sprint(i+1) || err != nil {
					t.Errorf("member %d, answered before the panic, got %q, %v", i, got, err)
				}
				continue
			}
			wantPanic(t, err, "three")
		}
		wantStat(t, "failures", stats(sim).Failures, 1)
	})
}

// TestNoticeBatchFails: a Throw and a panic are failures, once for the batch.
func TestNoticeBatchFails(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		j, at := newJournal(sim, nil)
		j.noticed = func(j *journal, s *lineStack) core.Yield {
			if len(j.batches) == 1 {
				return s.Throw(errNoRoom)
			}
			panic("two")
		}
		for n := range 10 {
			core.Notice(lineFew.At(at), n)
		}
		sim.Rest()
		wantBatches(t, j, upTo(0, 4), upTo(5, 9))
		wantStat(t, "failures", stats(sim).Failures, 2)
	})
}

// TestNoticeBatchFailureIsItsActors: what becomes of the actor is as behind the failure of a
// single notice.
func TestNoticeBatchFailureIsItsActors(t *testing.T) {
	for i, fails := range []func(*journal, *lineStack) core.Yield{
		func(_ *journal, s *lineStack) core.Yield { return s.Throw(errNoRoom) },
		func(*journal, *lineStack) core.Yield { panic("one") },
	} {
		sim := housetest.New(t, uint64(i), house.Config{Logger: quiet})
		lives := 0
		at := core.Spawn(sim, func() *journal { lives++; return &journal{noticed: fails} })
		core.Notice(line.At(at), 1)
		core.Notice(line.At(at), 2)
		sim.Rest()
		require.Equal(t, 2, lives)
		wantStat(t, "restarts", stats(sim).Restarts, 1)
	}
}

// TestBatchDropsDeadMembers: those whose asker gave up, or whose deadline has
// passed, are not in it, and their places are free for others.
func TestBatchDropsDeadMembers(t *testing.T) {
	eachSeedOf(t, 5, 2, noSteps, func(t *testing.T, sim *housetest.Sim) {
		j, at := newJournal(sim, commit)
		_, near := cast(sim, 0)
		p := writeFew.At(at)
		fs := make([]core.Future[string], 9)
		got, err := housetest.Ask(t, sim, near, func(_ *player, s *scene) core.Yield {
			// The journal's worker runs this step, so what is asked here waits.
			for i := range fs {
				if i%2 == 1 {
					p.AskWithin(s, &fs[i], i, time.Microsecond)
				} else {
					p.Ask(s, &fs[i], i)
				}
			}
			sim.Now += int64(time.Millisecond)
			core.Timer.Ask(s, &s.tick, 0) // has the worker read its clock
			return s.wait(func(_ *player, s *scene) core.Yield {
				for i := range fs {
					_, err := fs[i].Get()
					if i%2 == 1 && err != core.ErrTimeout || i%2 == 0 && err != nil {
						t.Errorf("member %d got %v", i, err)
					}
				}
				return s.Return(1)
			})
		})
		if got != 1 || err != nil {
			t.Fatal(got, err)
		}
		wantBatches(t, j, []int{0, 2, 4}, []int{6, 8})
		wantStat(t, "expired", stats(sim).Expired, 4)
	})
}

// TestBatchDropsCancelledMembers: also the first, which starts no batch.
func TestBatchDropsCancelledMembers(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		j, at := newJournal(sim, commit)
		_, near := cast(sim, 0)
		p := write.At(at)
		f := make([]core.Future[string], 4)
		wantAnswer(t, sim, near, func(_ *player, s *scene) core.Yield {
			for i := range f {
				p.Ask(s, &f[i], i)
			}
			return s.Return(1)
		}, 1)
		sim.Rest()
		wantBatches(t, j)
		wantStat(t, "cancelled", stats(sim).Cancelled, 4)
		wantStat(t, "late", stats(sim).Late, 4)
	})
}

// TestBatchSuspends: a batch waits as any stack does; meanwhile the next one may run.
func TestBatchSuspends(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		j, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield {
			core.Timer.Ask(s, &s.tick, time.Millisecond)
			return core.Suspend(s, (*journal).more)
		})
		j.then = func(j *journal, s *writeStack) core.Yield {
			return s.ReturnEach(func(n *int) (string, error) { return fmt.Sprint(*n), nil })
		}
		calls := beginAll(writeFew.At(at), flush.At(at), upTo(1, 7)...)
		sim.Rest()
		wantBatches(t, j, upTo(1, 3), upTo(4, 6), upTo(7, 7))
		for _, c := range calls {
			if c.Ready() {
				t.Error("a member of a suspended batch is answered")
			}
		}
		sim.Run(2 * time.Millisecond)
		for i, c := range calls {
			if got, err := c.Get(); got != fmt.Sprint(i+1) || err != nil {
				t.Errorf("member %d got %q, %v", i, got, err)
			}
		}

		j.noticed = func(_ *journal, s *lineStack) core.Yield {
			core.Timer.Ask(s, &s.tick, time.Millisecond)
			return core.Suspend(s, (*journal).moreLines)
		}
		sum := 0
		j.noted = func(_ *journal, s *lineStack) core.Yield {
			for _, n := range s.All() {
				sum += *n
			}
			return s.Return()
		}
		for n := range 10 {
			core.Notice(line.At(at), n)
		}
		sim.Run(2 * time.Millisecond)
		if sum != 45 {
			t.Errorf("the members of a suspended batch sum up to %d, want 45", sum)
		}
	})
}

// TestBatchSuspendedAtStop: every member gets ErrStopped.
func TestBatchSuspendedAtStop(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield {
			core.Timer.Ask(s, &s.tick, time.Hour)
			return core.Suspend(s, (*journal).more)
		})
		calls := beginAll(write.At(at), flush.At(at), upTo(1, 100)...)
		sim.Rest()
		at.Stop()
		sim.Rest()
		for i, c := range calls {
			if _, err := c.Get(); err != core.ErrStopped {
				t.Errorf("member %d got %v", i, err)
			}
		}
	})
}

// TestBatchDeadlineIsTheLatest: what a batch asks may take as long as its most
// patient member waits; the others time out at home.
func TestBatchDeadlineIsTheLatest(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		var deadline int64
		j, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield {
			deadline = s.Deadline()
			core.Timer.Ask(s, &s.tick, 20*time.Millisecond)
			return core.Suspend(s, (*journal).more)
		})
		j.then = func(_ *journal, s *writeStack) core.Yield {
			if _, err := s.tick.Get(); err != nil {
				return s.ThrowAll(err)
			}
			return s.ReturnAll("done")
		}
		for worker := range 2 {
			_, a := cast(sim, worker)
			f := make([]core.Future[string], 3)
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
				began := sim.Now
				for i, d := range []time.Duration{10, 100, 10} {
					write.At(at).AskWithin(s, &f[i], i, d*time.Millisecond)
				}
				return s.wait(func(_ *player, s *scene) core.Yield {
					for i, want := range []error{core.ErrTimeout, nil, core.ErrTimeout} {
						if _, err := f[i].Get(); err != want {
							t.Errorf("member %d got %v, want %v", i, err, want)
						}
					}
					if left := deadline - began; left < 100e6 || left > 101e6 {
						t.Errorf("the batch had %v, want 100ms", time.Duration(left))
					}
					return s.Return(1)
				})
			}, 1)
		}
	})
}

func TestBatchOfNoticesHasNoDeadline(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		j, at := newJournal(sim, commit)
		j.noticed = func(_ *journal, s *lineStack) core.Yield {
			if s.Deadline() != 0 {
				t.Errorf("a batch of notices has the deadline %d", s.Deadline())
			}
			return s.Return()
		}
		core.Notice(line.At(at), 1)
		core.Notice(line.At(at), 2)
		sim.Rest()
		wantBatches(t, j, []int{1, 2})
	})
}

// TestBatchAsks: a batch asks others with its own futures.
func TestBatchAsks(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, disk := newJournal(sim, commit)
		j, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield {
			flush.At(disk).Ask(s, &s.f, s.Len())
			return core.Suspend(s, (*journal).more)
		})
		j.then = func(_ *journal, s *writeStack) core.Yield {
			rep, err := s.f.Get()
			if err != nil {
				return s.ThrowAll(err)
			}
			return s.ReturnAll(rep)
		}
		calls := beginAll(write.At(at), flush.At(at), upTo(1, 10)...)
		sim.Rest()
		wantReplies(t, calls, "flushed")
	})
}

// TestBatchIsLeftEarly: who ranges over a batch may leave off, and begin again.
func TestBatchIsLeftEarly(t *testing.T) {
	sim := stage(t, 1, 2)
	j, at := newJournal(sim, func(_ *journal, s *writeStack) core.Yield {
		got := ""
		for range 2 {
			for i, n := range s.All() {
				if got += fmt.Sprint(*n); i == 1 {
					break
				}
			}
		}
		return s.ReturnAll(got)
	})
	j.noticed = func(j *journal, s *lineStack) core.Yield {
		for i, n := range s.All() {
			if j.batches = append(j.batches, []int{*n}); i == 1 {
				break
			}
		}
		return s.Return()
	}
	calls := beginAll(write.At(at), flush.At(at), 1, 2, 3, 4)
	sim.Rest()
	wantReplies(t, calls, "1212")
	for n := range 5 {
		core.Notice(line.At(at), n)
	}
	sim.Rest()
	wantBatches(t, j, upTo(1, 4), upTo(0, 4), []int{0}, []int{1})
}

func TestBatchMaximumIsChecked(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a negative maximum was accepted")
		}
	}()
	core.HandleBatch((*journal).write, -1)
}
