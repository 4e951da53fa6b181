package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// plain finds the till, and returns a port that is good for one session.
func (w *shop) plain(t *testing.T) core.Port[payment, receipt] {
	t.Helper()
	far, err := housetest.Ask(t, w.sim, w.here.Finder(), Where{"there", "/user/till"})
	require.NoError(t, err)
	return pays.At(far)
}

// requireServed requires that nothing is served there any more.
func (w *shop) requireServed(t *testing.T) {
	t.Helper()
	b, free := &w.there.self.served, 0
	for s := b.free; s != nil; s = s.next {
		free++
	}
	require.Len(t, b.asks, free)
	require.Zero(t, w.there.self.links["here"].waiting)
}

// TestAnswersThatWaitAtTheEnd: answers are there, and more than there is room for, when the session
// is given up. They go, with all that they hold.
func TestAnswersThatWaitAtTheEnd(t *testing.T) {
	w := newShop(t, core.Props{Mailbox: core.Unbounded()})
	port := w.plain(t)
	var all []core.Pending[receipt]
	for n := range 12 {
		all = append(all, core.Begin(port, payment{N: n, Takes: 100 * time.Millisecond, Pad: make([]byte, 60_000)}))
	}
	w.sim.Run(50 * time.Millisecond)
	require.Len(t, w.till.paid, len(all))
	w.breaks()
	for _, p := range all {
		require.True(t, p.Ready())
		_, err := p.Get()
		require.ErrorIs(t, err, core.ErrLost)
	}
	w.plain(t) // so that the other end knows, too
	w.requireServed(t)
}

// TestCancelledAnswersThatWait: the same, but the asks are given up while their answers wait for
// room. Each is answered once, and its slot is used again.
func TestCancelledAnswersThatWait(t *testing.T) {
	w := newShop(t, core.Props{Mailbox: core.Unbounded()})
	a := core.Spawn(w.sim, func() *payer { return &payer{to: w.plain(t), pad: 60_000} })
	for range 12 {
		require.NoError(t, core.Notice(payerPays.At(a), paying{100 * time.Millisecond, 150 * time.Millisecond}))
	}
	w.sim.Run(90 * time.Millisecond)
	require.Equal(t, map[int]int{0: 12}, w.till.paid)
	address := w.there.Addr()
	w.sim.Net.Unreachable = map[string]bool{address: true}
	w.sim.Net.Break(address)
	w.sim.Run(500 * time.Millisecond) // less than patience
	w.sim.Net.Unreachable = nil
	w.sim.Run(5 * time.Second)
	w.requireServed(t)
	w.requireIdle(t)
	require.EqualValues(t, 1, w.here.self.links["there"].Session())
	_, err := housetest.Ask(t, w.sim, w.plain(t), payment{N: 1})
	require.NoError(t, err)
}

// TestGivenUpBesideAFullMailbox: asks that wait beside a full mailbox, and are given up there,
// count for nothing any more.
func TestGivenUpBesideAFullMailbox(t *testing.T) {
	w := newShop(t, core.Props{Mailbox: core.Bounded(1, core.Reject)})
	a := core.Spawn(w.sim, func() *payer { return &payer{to: w.plain(t)} })
	w.at.Pause()
	w.sim.Run(time.Second)
	for range 5 {
		require.NoError(t, core.Notice(payerPays.At(a), paying{0, 100 * time.Millisecond}))
		w.sim.Run(10 * time.Millisecond)
	}
	w.sim.Run(time.Second)
	w.at.Continue()
	w.sim.Run(time.Second)
	require.Empty(t, w.till.paid)
	w.requireServed(t)
	w.requireIdle(t)
	require.EqualValues(t, 1, w.here.self.links["there"].Session())
}

// TestWatchOfWhoIsForgotten: the other end may watch an actor of which nothing is known any more.
// It hears that it has stopped.
func TestWatchOfWhoIsForgotten(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.there.self.links["here"].tracks[0]
	c.there.self.served.exported++ // as there were more
	n := uint64(len(k.refs))
	require.NoError(t, k.declare(&frame.Ref{Number: n, Serial: 1 << 40}))
	r := k.refs[n]
	require.True(t, r.gone)
	r.said = false // as GONE waits for room
	require.NoError(t, k.watches(n, true))
	require.Empty(t, c.there.self.watched)
	require.True(t, r.watched && r.gone)
	require.NoError(t, k.watches(n, false))
	require.Zero(t, k.owing)
	r.said = true // as it was
}

// TestCancelledAnswersAtTheEnd: asks were given up, or refused, and what says so waits for room
// when the session is given up. They go, too.
func TestCancelledAnswersAtTheEnd(t *testing.T) {
	w := newShop(t, core.Props{Mailbox: core.Unbounded()})
	port := w.plain(t)
	var all []core.Pending[receipt]
	for n := range 12 {
		all = append(all, core.Begin(port, payment{N: n, Takes: 60 * time.Millisecond, Pad: make([]byte, 60_000)}),
			core.Begin(port, payment{N: 100, Takes: time.Hour}))
	}
	w.sim.Run(45 * time.Millisecond)
	require.Equal(t, 12, w.till.paid[100])
	address := w.there.Addr()
	w.sim.Net.Unreachable = map[string]bool{address: true}
	w.sim.Net.Break(address)
	w.sim.Run(100 * time.Millisecond) // the answers take the room
	k := w.there.self.links["here"].tracks[0]
	for k.tryAppend((&frame.Cancel{}).Append(nil)) {
	}
	slot := uint64(len(k.serving))
	nobody := slices.IndexFunc(k.theirs, func(f *foreign) bool { return f.method != nil && f.Name == "test.counter.add" })
	require.NoError(t, k.serve(&frame.Ask{Slot: slot, To: uint64(len(k.refs) - 1), Method: uint64(nobody + 1)}))
	require.Equal(t, core.ErrNoHandler, k.serving[slot].err)
	cancelled := 0
	for range 2 {
		cancelled = 0
		for i, s := range k.serving {
			require.NoError(t, k.cancel(uint64(i)))
			cancelled += btoi(s != nil && s.given && s.call == nil)
		}
		w.sim.Run(10 * time.Millisecond)
	}
	require.Equal(t, 12, cancelled)
	balanced(t, w.there)
	w.sim.Run(5 * time.Second)
	w.sim.Net.Unreachable = nil
	w.plain(t)
	w.requireServed(t)
	for _, p := range all {
		_, err := p.Get()
		require.ErrorIs(t, err, core.ErrLost)
	}
}

// TestAnswersOfWhatWasNotDeclared: a node answers an ask of whose method it has never told. The ask
// ends, and so does the session.
func TestAnswersOfWhatWasNotDeclared(t *testing.T) {
	w := newShop(t, core.Props{})
	plain := w.plain(t)
	k := w.here.self.links["there"].tracks[0]
	m := k.methods.byName["cluster.test.pay"]
	for i, port := range []core.Port[payment, receipt]{w.port, plain} {
		p := core.Begin(port, payment{N: i, Takes: time.Second})
		w.sim.Run(500 * time.Millisecond)
		k.byMine[m.number-1] = nil
		w.sim.Run(time.Second)
		require.True(t, p.Ready())
		_, err := p.Get()
		require.ErrorIs(t, err, ErrUnreachable)
		require.ErrorIs(t, err, core.ErrLost)
	}
	require.NotNil(t, k.over)
}
