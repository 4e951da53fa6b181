package housetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// napper answers after an hour, and asks itself as a goroutine would, in a step.
type napper struct{ err error }

type napStack struct {
	core.AskStack[time.Duration, int]
	tick core.Future[core.Tick]
}

var (
	nap   = core.Handle((*napper).nap)
	block core.Handler[napper, struct{}, int]
)

func init() { block = core.Handle((*napper).block) }

func (n *napper) nap(s *napStack) core.Yield {
	core.Timer.Ask(s, &s.tick, s.Req)
	return core.Suspend(s, (*napper).woke)
}

func (n *napper) woke(s *napStack) core.Yield { return s.Return(1) }

func (n *napper) block(s *core.AskStack[struct{}, int]) core.Yield {
	_, n.err = core.Ask(context.Background(), nap.At(core.Self[napper](s)), 0)
	return s.Return(2)
}

// TestBlockingCalls: outside of steps they run turns, until their answer or their limit; in a step
// they are refused, as everywhere.
func TestBlockingCalls(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{AskTimeout: time.Minute})
	n := &napper{}
	at := core.Spawn(sim, func() *napper { return n })
	before := sim.Now
	got, err := core.Ask(t.Context(), nap.At(at), time.Second)
	require.NoError(t, err)
	require.Equal(t, 1, got)
	require.GreaterOrEqual(t, sim.Now, before+int64(time.Second))
	before = sim.Now
	_, err = core.Ask(t.Context(), nap.At(at), time.Hour)
	require.Equal(t, core.ErrTimeout, err)
	require.InDelta(t, float64(time.Minute), float64(sim.Now-before), float64(time.Second))
	got, err = core.Ask(t.Context(), block.At(at), struct{}{})
	require.NoError(t, err)
	require.Equal(t, 2, got)
	require.Equal(t, core.ErrBlockingOnWorker, n.err)
	require.NoError(t, at.StopWait(t.Context()))
}

// TestGetRunsTurns: it waits for the answer of core.Begin as Ask does, and no longer.
func TestGetRunsTurns(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{AskTimeout: time.Minute})
	at := core.Spawn(sim, func() *napper { return &napper{} })
	got, err := core.Begin(nap.At(at), time.Second).Get()
	require.NoError(t, err)
	require.Equal(t, 1, got)

	p := housetest.NewProbe(t, sim)
	call := core.Begin(housetest.Port[int, int](p), 1)
	asked := housetest.Expect[*housetest.Asked[int, int]](p, time.Second)
	asked.Return(2)
	got, err = call.Get()
	require.NoError(t, err)
	require.Equal(t, 2, got)

	began := sim.Now
	call = core.Begin(housetest.Port[int, int](p), 1)
	asked = housetest.Expect[*housetest.Asked[int, int]](p, time.Second)
	_, err = call.Get()
	require.Equal(t, core.ErrTimeout, err, "nobody answers")
	require.InDelta(t, float64(time.Minute), float64(sim.Now-began), float64(time.Second))
	asked.Return(2) // which nobody hears

	call = core.Begin(housetest.Port[int, int](p), 1)
	sim.Run(time.Hour)
	_, err = call.Get()
	require.Equal(t, core.ErrTimeout, err, "its time has passed before")
}
