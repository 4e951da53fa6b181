package stack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// TestCircle compares a circle with a slice.
func TestCircle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c circle
	var model []*Stack
	for range 10_000 {
		if r.IntN(2) == 0 {
			s := &Stack{}
			c.push(s)
			model = append(model, s)
			continue
		}
		s := c.pop()
		if len(model) == 0 {
			require.Nil(t, s)
			continue
		}
		require.Same(t, model[0], s)
		require.Nil(t, s.next)
		model = model[1:]
	}
}

// TestSystemMessagesInOrder: a start before a stop, and both before calls.
func TestSystemMessagesInOrder(t *testing.T) {
	w, _ := newTestWorker()
	h := adopt(w, 1, &lateActor{})
	var told []string
	h.Give(Props{Hooks: &Hooks{
		PreStart: NewHook("PreStart", EntryOf(func(_ *lateActor, s *hookStack) Yield {
			told = append(told, "started")
			return s.End()
		})),
		PostStop: NewHook("PostStop", EntryOf(func(_ *lateActor, s *hookStack) Yield {
			told = append(told, "stopped")
			return s.End()
		})),
	}})
	c := w.Guests.Call(h, lateAsk)
	w.Guests.Send(c)
	h.Start(w.Guests)
	h.Stop(w.Guests)
	h.Stop(w.Guests)
	w.run()
	require.Equal(t, []string{"started", "stopped"}, told)
	require.True(t, h.Gone())
	c.cell.Take()
	require.ErrorIs(t, c.Stack().Err(), fault.ErrStopped)
	w.Guests.Done(c)
	require.Zero(t, w.Guests.Pools.Outstanding())
}
