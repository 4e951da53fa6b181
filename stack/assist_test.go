package stack

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// sleeper is a parked worker whose turns the test takes by hand. It counts its wake-ups and lends
// turns.
type sleeper struct {
	*handDriver
	w     *Engine
	woken int
	lent  int
	lends func() (more bool)
}

func (s *sleeper) Wake() { s.woken++ }

func (s *sleeper) Borrowed(c *Call, _ int64) bool {
	s.lent++
	if c != nil || !s.w.turn.Borrowed() {
		panic("lent otherwise than to a worker that has borrowed")
	}
	return s.lends()
}

// assisting returns a worker that assists, with houses of it, and two that are parked.
func assisting(t *testing.T) (h *hand, w *Engine, one, two *sleeper) {
	h = newHand(t, 3)
	w = h.workers[0]
	w.Assists = true
	park := func(i int) *sleeper {
		s := &sleeper{handDriver: h.drivers[i], w: h.workers[i]}
		s.lends = func() bool { h.turn(i); return false }
		s.w.Driver = s
		require.True(t, s.w.Park())
		return s
	}
	return h, w, park(1), park(2)
}

// In its turn, a worker leaves the first parked worker that it sends to for later, and wakes
// the second.
func TestOneParkedWorkerIsLeftForLater(t *testing.T) {
	h, w, one, two := assisting(t)
	first, second, other := settleOn(h, 1, &reader{}), settleOn(h, 1, &reader{}), settleOn(h, 2, &reader{})
	from := settleOn(h, 0, &writer{})
	tell(h, from, writerWrite, func(w *Engine) {
		tellFrom(w, first, 2, 0, 0)
		tellFrom(w, second, 2, 0, 1)
		tellFrom(w, other, 2, 0, 2)
	})
	h.turn(0)
	require.True(t, w.OwesWake())
	require.Equal(t, []int{0, 1}, []int{one.woken, two.woken})
	w.WakeNow()
	require.False(t, w.OwesWake())
	require.Equal(t, []int{1, 1}, []int{one.woken, two.woken})
	w.WakeNow()
	require.Equal(t, []int{1, 1}, []int{one.woken, two.woken}, "once")
}

func TestAssist(t *testing.T) {
	h, w, one, _ := assisting(t)
	reads := &reader{}
	to, from := settleOn(h, 1, reads), settleOn(h, 0, &writer{})
	send := func() {
		tell(h, from, writerWrite, func(w *Engine) { tellFrom(w, to, 2, 0, 0) })
		h.turn(0)
	}
	send()
	w.Assist()
	require.Equal(t, []string{"0 0"}, reads.got, "it runs the turn of the other")
	require.False(t, w.OwesWake())
	require.Zero(t, one.woken)
	require.True(t, one.w.turn.Parked(), "and leaves it parked")

	send()
	one.lends = func() bool { return true }
	w.Assist()
	require.Equal(t, 1, one.woken, "what has more to do is woken")
	require.True(t, one.w.turn.Own())
	h.turn(1)

	send()
	require.False(t, w.OwesWake(), "what runs is left alone")
	h.turn(1)
	require.True(t, one.w.Park())
	send()
	require.True(t, one.w.Unpark(), "something else has woken it")
	w.Assist()
	require.Equal(t, 2, one.lent, "so it runs its own turns")
	require.Equal(t, 1, one.woken)
}

// A worker that must not assist wakes at once. So does one whose own turn is borrowed, because
// nobody would come back to wake later.
func TestWhoWakesAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(w *Engine)
		want []int // wake-ups behind each of three sends
	}{
		"usually":  {func(w *Engine) {}, []int{0, 0, 0}},
		"never":    {func(w *Engine) { w.Assists = false }, []int{1, 1, 1}},
		"aloof":    {func(w *Engine) { w.WakesLeft = 2 }, []int{1, 1, 0}},
		"borrowed": {func(w *Engine) { w.turn.Park(); w.turn.Borrow() }, []int{1, 1, 1}},
		"wanted":   {func(w *Engine) { w.turn.Park(); w.turn.Borrow(); w.turn.Unpark() }, []int{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			h, w, one, _ := assisting(t)
			to, from := settleOn(h, 1, &reader{}), settleOn(h, 0, &writer{})
			c.set(w)
			for i, want := range c.want {
				one.woken = 0
				tell(h, from, writerWrite, func(w *Engine) { tellFrom(w, to, 2, 0, 0) })
				h.turn(0)
				require.Equal(t, want, one.woken, "send %d", i)
				require.Equal(t, want == 0, w.OwesWake())
				w.WakeNow()
				h.turn(1)
				one.w.Park()
			}
		})
	}
}

// If a step ends its goroutine in a turn that a worker borrowed, the turn is given back, and its
// owner woken.
func TestGoexitInAnAssistedTurn(t *testing.T) {
	h, w, one, _ := assisting(t)
	to, from := settleOn(h, 1, &reader{}), settleOn(h, 0, &writer{})
	tell(h, from, writerWrite, func(w *Engine) { tellFrom(w, to, 2, 0, 0) })
	h.turn(0)
	one.lends = func() bool {
		one.w.TakeRungs() // so that nothing but the end tells that houses are ready
		runtime.Goexit()
		return false
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Assist()
		t.Error("the goroutine lives")
	}()
	<-ended
	require.Equal(t, 1, one.woken)
	require.True(t, one.w.turn.Own())
}
