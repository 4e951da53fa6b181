package stack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// settlePassive gives a worker the house of an actor that stops when it was idle for 1 s.
func settlePassive(h *hand, worker int) *House {
	house, make := NewHouse(func() *porter { return &porter{} })
	house.Give(Props{Idle: 1e9})
	h.drivers[worker].Register(house, make, h.workers[worker])
	house.Start(&h.guests)
	h.settle()
	return house
}

// The timer that looks whether a house is idle is in the wheel of the worker that owns the house,
// also after the house has moved, and comes due there.
func TestQuietMoves(t *testing.T) {
	h := newHand(t, 2)
	a, b := h.workers[0], h.workers[1]
	first, moves := settleOn(h, 0, &porter{}), settlePassive(h, 0)
	require.Len(t, h.drivers[0].armed, 1)
	a.Now = h.now
	deliver(h, first, 1)
	deliver(h, moves, 2)
	require.Equal(t, 1, a.HandOver(b, 1))
	require.Empty(t, h.drivers[0].armed)
	b.Now = a.Now
	b.TakeRungs()
	require.Len(t, h.drivers[1].armed, 1)
	h.settle()
	require.False(t, moves.Gone())
	h.now += 2e9
	h.settle()
	require.True(t, moves.Gone())
	require.Empty(t, h.drivers[1].armed)
	first.Stop(&h.guests)
	h.settle()
}

// However an actor ends, and whether the timer is due by then or not, no timer is left.
func TestQuietEnds(t *testing.T) {
	for name, end := range map[string]func(h *hand, to *House){
		"stop":  func(h *hand, to *House) { to.Stop(&h.guests) },
		"drain": func(h *hand, to *House) { to.Drain(&h.guests) },
		"due": func(h *hand, to *House) {
			to.Stop(&h.guests)
			w, d := h.workers[0], h.drivers[0]
			n := d.armed[0]
			d.Disarm(n)
			w.Fire(n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, 1)
			to := settlePassive(h, 0)
			end(h, to)
			h.settle()
			require.True(t, to.Gone())
			require.Empty(t, h.drivers[0].armed)
			require.Zero(t, to.annex.Load().quiet.timer.Slot)
		})
	}
}

// If a call comes after an actor was found idle, and before it stops, the actor goes on, and its
// time counts from then.
func TestCallBeforeAnIdleActorStops(t *testing.T) {
	h := newHand(t, 1)
	w := h.workers[0]
	to := settlePassive(h, 0)
	q := to.annex.Load().quiet
	h.now += 1e9
	w.Now = h.now
	require.True(t, q.Idle(w.Now))
	tell(h, to, porterHear, 7) // into the inbox, where the drain finds it
	w.drainSelf(to, q)
	h.settle()
	require.Equal(t, []int{7}, (*porter)(to.self()).seen)
	require.False(t, to.Gone())
	require.Len(t, h.drivers[0].armed, 1)
	h.now += 9e8
	h.settle()
	require.False(t, to.Gone())
	h.now += 2e8
	h.settle()
	require.True(t, to.Gone())
}
