package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGauge: counted calls carry the deadline that they had, whatever their house
// does with them, and count until the end of the turn in which it takes them.
func TestGauge(t *testing.T) {
	w, _ := newTestWorker()
	batches := NewBatchAsk((*pairActor).all, 0)
	a := &pairActor{}
	h := adopt(w, 1, a)
	g := h.Gauge()
	require.Same(t, g, h.Gauge())
	w.Now = 50
	push := func(deadline int64, counted bool) *Stack {
		s := w.Begin(batches)
		s.deadline = deadline
		if counted {
			h.Expect(s)
			require.Negative(t, s.deadline)
		}
		w.Push(h, s)
		return s
	}
	for first := range 2 { // the first of a batch is taken elsewhere than its members
		push(0, first == 0)
		push(100, true)
		push(0, true)
		push(49, true) // expired
		push(100, false)
		s := push(100, true)
		s.cancelled.Store(true)
		require.EqualValues(t, 5-first, g.Waiting())
		w.TakeRungs()
		w.Run(256)
		require.EqualValues(t, 5-first, g.Waiting(), "the turn has not ended")
		w.RunDeferred()
		require.Zero(t, g.Waiting())
	}
	require.Equal(t, []int{4, 4}, a.batches)
	require.EqualValues(t, 12, w.handled)

	s := w.Begin(batches)
	s.deadline = 77
	h.Expect(s)
	require.True(t, w.uncount(h, s))
	require.EqualValues(t, 77, s.deadline)
	require.False(t, w.uncount(h, s))
	w.RunDeferred()
	w.Discard(s)
}
