package housetest_test

import (
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// books is what became of the asks of a run, as their askers saw it.
type books struct {
	asks, replies, timeouts, failures, cancels uint64
}

type (
	// asker asks a few servants at a time and takes note of how each ask ends. Its
	// stacks have no deadline, so that all of them end in a step of their own.
	asker struct {
		sim      *housetest.Sim
		rng      *rand.Rand
		books    *books
		servants []core.Port[int, int]
	}
	askerNotice struct {
		core.NoticeStack[int] // rounds
		f                     [5]core.Future[int]
		seen                  [5]bool
	}

	// servant answers soon, late, or with trouble.
	servant struct {
		sim   *housetest.Sim
		books *books
	}
	servantStack struct {
		core.AskStack[int, int]
		tick core.Future[core.Tick]
	}
)

func (a *servant) serve(s *servantStack) core.Yield {
	switch n := s.Req; {
	case n%10 == 0:
		return s.Throw(errStorm)
	case n%10 == 1:
		panic(errStorm)
	case n%10 < 6:
		return s.Return(n)
	default:
		sleep := time.Duration(n) * time.Microsecond
		if left := time.Duration(s.Deadline() - a.sim.Now); left <= sleep {
			// too late or just in time; a timer that the deadline cuts short may count as a
			// timeout
			sleep = left - 1
		}
		core.Timer.Ask(s, &s.tick, sleep)
		return core.Suspend(s, (*servant).slept)
	}
}

func (a *servant) slept(s *servantStack) core.Yield {
	if _, err := s.tick.Get(); err != nil {
		return s.Throw(errStorm)
	}
	return s.Return(s.Req)
}

func (a *asker) begin(s *askerNotice) core.Yield {
	for i := range s.f {
		s.seen[i] = false
		limit := time.Duration(1+a.rng.IntN(500)) * time.Microsecond
		a.servants[a.rng.IntN(len(a.servants))].AskWithin(s, &s.f[i], a.rng.IntN(500), limit)
		a.books.asks++
	}
	switch a.rng.IntN(4) {
	case 0:
		return core.Suspend(s, (*asker).again)
	case 1:
		return core.SuspendUntil(s, (*asker).three, (*asker).again)
	default:
		return core.SuspendAny(s, (*asker).some)
	}
}

// look enters the answers that came since the last look.
func (a *asker) look(s *askerNotice) (waiting uint64) {
	for i := range s.f {
		switch {
		case s.f[i].Waiting():
			waiting++
		case s.f[i].Ready() && !s.seen[i]:
			s.seen[i] = true
			switch _, err := s.f[i].Get(); err {
			case nil:
				a.books.replies++
			case core.ErrTimeout:
				a.books.timeouts++
			default:
				a.books.failures++
			}
		}
	}
	return waiting
}

func (a *asker) three(s *askerNotice) bool {
	n := 0
	for i := range s.f {
		if s.f[i].Ready() {
			n++
		}
	}
	return n >= 3
}

func (a *asker) some(s *askerNotice) core.Yield {
	if a.look(s) > 0 && a.rng.IntN(3) > 0 {
		return core.SuspendAny(s, (*asker).some)
	}
	return a.again(s)
}

// again begins the next round, or ends the stack with asks in flight.
func (a *asker) again(s *askerNotice) core.Yield {
	waiting := a.look(s)
	s.Msg--
	if waiting == 0 && s.Msg > 0 {
		return a.begin(s)
	}
	a.books.cancels += waiting
	switch a.rng.IntN(5) {
	case 0:
		panic(errStorm)
	case 1:
		return s.Throw(errStorm)
	}
	return s.Return()
}

var (
	askerBegin   = core.HandleNotice((*asker).begin)
	servantServe = core.Handle((*servant).serve)
)

// TestG3EveryAskEndsOnce: asks = replies + timeouts + failures + cancels, as askers
// saw it, and as the workers counted it.
func TestG3EveryAskEndsOnce(t *testing.T) {
	for seed := range seeds(100) {
		sim := housetest.New(t, seed, house.Config{Workers: 1 + int(seed%3), Supervise: resumes, Logger: slog.New(slog.DiscardHandler)})
		var b books
		rng := rand.New(rand.NewPCG(seed, 3))
		var servants []core.Port[int, int]
		for range 5 {
			servants = append(servants, servantServe.At(core.Spawn(sim, func() *servant { return &servant{sim, &b} })))
		}
		for range 4 {
			a := core.Spawn(sim, func() *asker { return &asker{sim, rng, &b, servants} })
			for range 10 {
				core.Notice(askerBegin.At(a), 5)
			}
		}
		sim.Run(20 * time.Millisecond)
		if err := sim.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b.asks != b.replies+b.timeouts+b.failures+b.cancels {
			t.Errorf("seed %d: %+v don't add up", seed, b)
		}
		st := sim.Stats()
		if st.Answers != b.asks {
			t.Errorf("seed %d: %d asks, %d answers went home", seed, b.asks, st.Answers)
		}
		if st.Late != st.Timeouts+b.cancels {
			t.Errorf("seed %d: %d answers were late, want those of %d asks that expired and %d that were cancelled", seed, st.Late, st.Timeouts, b.cancels)
		}
		if seen := b.replies + b.failures + b.timeouts - st.Timeouts; st.Answers-st.Late != seen {
			t.Errorf("seed %d: %d answers came in time, %d were seen", seed, st.Answers-st.Late, seen)
		}
		if b.replies == 0 || b.timeouts == 0 || b.failures == 0 || b.cancels == 0 {
			t.Errorf("seed %d: %+v is too calm", seed, b)
		}
	}
}
