package house_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// caller asks an actor of another worker.
type caller struct{ to core.Port[struct{}, uint64] }

type callerStack struct {
	core.AskStack[struct{}, uint64]
	f core.Future[uint64]
}

func (c *caller) ask(s *callerStack) core.Yield {
	c.to.Ask(s, &s.f, struct{}{})
	return core.Suspend(s, (*caller).answered)
}

func (c *caller) answered(s *callerStack) core.Yield {
	n, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var callerAsk = core.Handle((*caller).ask)

// TestWakesAndSpins: who wakes whom is counted where it is done, and spinning where there is any.
func TestWakesAndSpins(t *testing.T) {
	for _, spin := range []time.Duration{-1, time.Millisecond} {
		// nobody borrows turns
		sys, err := house.New(house.Config{Workers: 2, Spin: spin, LockThreads: true})
		require.NoError(t, err)
		require.NoError(t, sys.Start(t.Context()))
		w := sys.Workers()
		callee := onIdle.At(core.Spawn(w[1], func() *idler { return &idler{} }))
		port := callerAsk.At(core.Spawn(w[0], func() *caller { return &caller{callee} }))
		seen := func() bool { return w[0].Stats().Wakes > 0 }
		if spin > 0 { // it may never park
			seen = func() bool { return sys.Stats().Spins > 0 }
		}
		asks := uint64(0)
		for until := time.Now().Add(10 * time.Second); !seen() && time.Now().Before(until); asks++ {
			_, err := core.Ask(t.Context(), port, struct{}{})
			require.NoError(t, err)
		}
		require.NoError(t, sys.Shutdown(t.Context()))
		first, second, all := w[0].Stats(), w[1].Stats(), sys.Stats()
		if spin < 0 && first.Wakes == 0 || first.Wakes > asks || first.Wakes > second.Woken {
			t.Errorf("spin %v: %d wakes of the caller's worker with %d asks, the other was woken %d times", spin, first.Wakes, asks, second.Woken)
		}
		if all.Wakes != first.Wakes+second.Wakes || all.Messages != first.Messages+second.Messages {
			t.Errorf("spin %v: the system's counts %+v aren't the sum of %+v and %+v", spin, all, first, second)
		}
		if (all.Spins > 0) != (spin > 0) {
			t.Errorf("spin %v: it spun %d times", spin, all.Spins)
		}
		if all.VainWakes > all.Woken {
			t.Errorf("spin %v: %d of %d wake-ups were in vain", spin, all.VainWakes, all.Woken)
		}
	}
}
