package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// This file is about asks by AtLeastOnce that end otherwise than they began.

// TestNodeEndsWhileRetriesWait: what waits when the node ends, in the port or for its turn, ends.
func TestNodeEndsWhileRetriesWait(t *testing.T) {
	w := newShop(t, core.Props{})
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	var all []core.Pending[receipt]
	for n := range retriesMax + 10 {
		all = append(all, core.Begin(w.port, payment{N: n}))
		if n%500 == 0 {
			w.sim.Run(time.Millisecond)
		}
	}
	w.sim.Run(500 * time.Millisecond) // less than patience
	require.Len(t, w.here.self.retries.all, retriesMax)
	require.NoError(t, w.here.Close(context.Background()))
	w.sim.Run(time.Second)
	for _, p := range all {
		require.True(t, p.Ready())
		_, err := p.Get()
		require.ErrorIs(t, err, ErrUnreachable)
		require.ErrorIs(t, err, core.ErrNotSent)
	}
	_, err := housetest.Ask(t, w.sim, w.port, payment{})
	require.ErrorIs(t, err, core.ErrNotSent)
}

// TestGivenUpBetweenTwoTries: who asks waits no more, while the ask is to be sent again. It never
// is, whether the node goes on or ends.
func TestGivenUpBetweenTwoTries(t *testing.T) {
	for _, ends := range []bool{false, true} {
		w := newShop(t, core.Props{})
		_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1})
		require.NoError(t, err)
		w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
		w.sim.Net.Break(w.there.Addr())
		a := core.Spawn(w.sim, func() *payer { return &payer{to: w.port} })
		require.NoError(t, core.Notice(payerPays.At(a), paying{0, time.Hour}))
		w.sim.Run(500 * time.Millisecond)
		for w.here.self.retries.all[0].track != nil { // its session is given up
			w.sim.Turn()
		}
		a.Stop()
		for w.here.self.retries.all[0].call != nil {
			w.sim.Turn()
		}
		require.Nil(t, w.here.self.retries.all[0].track)
		if ends {
			p := core.Begin(w.port, payment{N: 2})
			require.NoError(t, w.here.Close(context.Background()))
			w.sim.Run(time.Second)
			_, err = p.Get()
			require.ErrorIs(t, err, ErrUnreachable)
			continue
		}
		w.sim.Net.Unreachable = nil
		w.sim.Run(5 * time.Second)
		require.Equal(t, map[int]int{1: 1}, w.till.paid)
		w.requireIdle(t)
	}
}

// TestSenderIsForgotten: the node that has asked is away when the ask ends, for so long that its
// link is forgotten. It hears that the ask may have run.
func TestSenderIsForgotten(t *testing.T) {
	w := newShop(t, core.Props{})
	p := core.Begin(w.port, payment{N: 1, Takes: 3 * time.Second})
	w.sim.Run(500 * time.Millisecond)
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	w.sim.Net.Break(w.there.Addr())
	w.sim.Run(2 * time.Second)
	require.True(t, w.there.self.forget())
	w.sim.Run(2 * time.Second)
	w.sim.Net.Unreachable = nil
	w.sim.Run(20 * time.Second)
	require.True(t, p.Ready())
	_, err := p.Get()
	require.Equal(t, core.ErrLost, err)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
	w.requireIdle(t)
}

// TestReceiverIsForgotten: the same of the node that was asked. What has left may have run, and
// what comes then has not.
func TestReceiverIsForgotten(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1}) // so that there knows here
	require.NoError(t, err)
	l := &till{paid: map[int]int{}}
	_, err = core.SpawnWith(w.sim, func() *till { return l }, core.Props{Name: "till"})
	require.NoError(t, err)
	port := AtLeastOnce(w.there, pays, Where{"here", "/user/till"})
	p := core.Begin(port, payment{N: 2, Takes: time.Hour})
	w.sim.Run(500 * time.Millisecond)
	require.Equal(t, map[int]int{2: 1}, l.paid)
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	w.sim.Net.Break(w.there.Addr())
	for !p.Ready() {
		w.sim.Run(time.Millisecond)
		w.there.self.forget()
	}
	_, err = p.Get()
	require.Equal(t, core.ErrLost, err)
	_, err = housetest.Ask(t, w.sim, port, payment{N: 3})
	require.Equal(t, ErrNoNode, err)
}

// TestNewLifeBeforeAnAskLeaves: the other node has begun a new life, but nothing of the ask has
// ever left: it runs there.
func TestNewLifeBeforeAnAskLeaves(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1})
	require.NoError(t, err)
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	w.sim.Net.Break(w.there.Addr())
	w.sim.Run(10 * time.Millisecond)
	p := core.Begin(w.port, payment{N: 2})
	w.sim.Run(5 * time.Second)
	require.Greater(t, w.here.self.links["there"].Session(), uint64(1))
	w.there.hub.Stop()
	w.sim.Run(time.Second)
	_, err = Start(t.Context(), w.other, Config{Name: "there", Listen: w.there.Addr(), Plaintext: true, Incarnation: 2})
	require.NoError(t, err)
	w.sim.Net.Unreachable = nil
	w.sim.Run(20 * time.Second)
	require.True(t, p.Ready())
	_, err = p.Get()
	require.NoError(t, err)
	require.Equal(t, map[int]int{1: 1, 2: 1}, w.till.paid)
}

// TestRetriesOfTheSmallestMailbox: half of it is none, and an ask goes all the same.
func TestRetriesOfTheSmallestMailbox(t *testing.T) {
	w := newShop(t, core.Props{})
	w.here.config.Mailbox = 1
	for n := range 3 {
		p := core.Begin(w.port, payment{N: n})
		w.sim.Run(time.Second)
		require.True(t, p.Ready())
		_, err := p.Get()
		require.NoError(t, err)
	}
}

// TestLongRetries: an ask that no frame takes fails, and the next one runs.
func TestLongRetries(t *testing.T) {
	w := newShop(t, core.Props{})
	for _, size := range []int{frame.LongMax - 2*frame.HeadMax, frame.LongMax} {
		_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1, Pad: make([]byte, size)})
		require.Equal(t, ErrTooLong, err)
	}
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 2})
	require.NoError(t, err)
	require.Equal(t, map[int]int{2: 1}, w.till.paid)
	w.requireIdle(t)
}

// TestKeyedAsksThatCannotBeRead are answered all the same, and nothing of them is left.
func TestKeyedAsksThatCannotBeRead(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1})
	require.NoError(t, err)
	k := w.here.self.links["there"].control()
	ask := keyedAsk{Key: 9, Path: "/user/till", Method: "cluster.test.pay", Request: []byte{0xff}}
	_, err = housetest.Ask(t, w.sim, keyedMethod.At(k.hub().any()), ask)
	require.Error(t, err)
	theirs := w.there.self.links["here"].control()
	pay := &theirs.byMine[k.methods.byName["cluster.test.pay"].number-1]
	as := *pay
	*pay = nil // as if here hadn't told of it
	_, err = housetest.Ask(t, w.sim, keyedMethod.At(k.hub().any()), ask)
	require.Equal(t, core.ErrNoHandler, err)
	*pay = as
	s := k.slot()
	s.from = k.hub()
	s.from.away++
	k.append((&frame.Ask{Slot: s.number, Method: k.methods.keyed.number, Message: []byte{0xff}}).Append(nil))
	w.sim.Run(time.Second)
	require.Equal(t, 1, w.there.self.replies.keys)
	w.requireIdle(t)
	w.requireServed(t)
}
