package cluster

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
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

// TestNumbersOfRetries are taken again, by one at a time.
func TestNumbersOfRetries(t *testing.T) {
	w := newShop(t, core.Props{})
	for range 3 {
		var all []core.Pending[receipt]
		for n := range 3 {
			all = append(all, core.Begin(w.port, payment{N: n, Takes: time.Duration(n) * time.Millisecond}))
		}
		w.sim.Run(time.Millisecond)
		balanced(t, w.here)
		w.sim.Run(time.Second)
		for _, p := range all {
			require.True(t, p.Ready())
			_, err := p.Get()
			require.NoError(t, err)
		}
		require.Len(t, w.here.self.retries.all, 3)
	}
	w.requireIdle(t)
}

// TestNodeEndsBesideAnswers: what is away when the node ends may have run, whatever was answered
// before.
func TestNodeEndsBesideAnswers(t *testing.T) {
	w := newShop(t, core.Props{})
	var all []core.Pending[receipt]
	for n := range 4 {
		all = append(all, core.Begin(w.port, payment{N: n, Takes: time.Duration(n%2) * time.Hour}))
	}
	w.sim.Run(time.Second)
	require.NoError(t, w.here.Close(context.Background()))
	w.sim.Run(time.Second)
	for n, p := range all {
		require.True(t, p.Ready())
		if _, err := p.Get(); n%2 == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, core.ErrLost)
		}
	}
}

// TestNodeEndsBetweenTwoTries: an ask that has left in a session before may have run, and one that
// never has not.
func TestNodeEndsBetweenTwoTries(t *testing.T) {
	w := newShop(t, core.Props{})
	left := core.Begin(w.port, payment{N: 1, Takes: time.Hour})
	w.sim.Run(500 * time.Millisecond)
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	w.sim.Net.Break(w.there.Addr())
	w.sim.Run(10 * time.Millisecond)
	never := core.Begin(w.port, payment{N: 2})
	w.sim.Run(10 * time.Millisecond)
	for w.here.self.retries.all[0].track != nil || w.here.self.retries.all[1].track != nil {
		w.sim.Turn()
	}
	require.NoError(t, w.here.Close(context.Background()))
	w.sim.Run(time.Second)
	_, err := left.Get()
	require.ErrorIs(t, err, core.ErrLost)
	_, err = never.Get()
	require.ErrorIs(t, err, core.ErrNotSent)
}

// TestRetriesThatWait for room take half of the mailbox of the other node's hub, and go before
// later ones once there is some. Then none waits any more.
func TestRetriesThatWait(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 99})
	require.NoError(t, err)
	w.here.config.Mailbox = 8
	k := w.here.self.links["there"].control()
	require.NoError(t, k.hold(0, true))
	w.till.order = nil
	var all []core.Pending[receipt]
	var want []int
	for n := range 10 {
		all, want = append(all, core.Begin(w.port, payment{N: n, Takes: 15 * time.Millisecond})), append(want, n)
	}
	a := core.Spawn(w.sim, func() *payer { return &payer{to: w.port} })
	require.NoError(t, core.Notice(payerPays.At(a), paying{0, 200 * time.Millisecond}))
	for range 30 {
		w.sim.Run(10 * time.Millisecond)
		require.Equal(t, 4, k.hub().house.Queued(w.here.self.w))
		balanced(t, w.here)
	}
	require.NoError(t, k.hold(0, false))
	all, want = append(all, core.Begin(w.port, payment{N: 10})), append(want, 10)
	for range 50 {
		w.sim.Run(10 * time.Millisecond)
		balanced(t, w.here)
	}
	for _, p := range all {
		require.True(t, p.Ready())
		_, err := p.Get()
		require.NoError(t, err)
	}
	require.Equal(t, want, w.till.order, "the one that was given up never left")
	p := core.Begin(w.port, payment{N: 11})
	w.sim.Run(retryAfter / 2)
	require.True(t, p.Ready())
	_, err = p.Get()
	require.NoError(t, err)
	w.requireIdle(t)
}

// TestRetriesThatWaitKeepTheirOrder: more begin, at many times, than there is room for, and run in
// their order.
func TestRetriesThatWaitKeepTheirOrder(t *testing.T) {
	w := newShop(t, core.Props{Mailbox: core.Unbounded()})
	_, err := housetest.Ask(t, w.sim, w.port, payment{})
	require.NoError(t, err)
	address := w.there.Addr()
	w.sim.Net.Unreachable = map[string]bool{address: true}
	w.sim.Net.Break(address)
	var all []core.Pending[receipt]
	for range 20 {
		for range 150 {
			all = append(all, core.Begin(w.port, payment{N: len(all) + 1, Pad: make([]byte, 1000)}))
		}
		w.sim.Run(20 * time.Millisecond)
	}
	w.sim.Net.Unreachable = nil
	w.sim.Run(20 * time.Second)
	require.EqualValues(t, 1, w.here.self.links["there"].Session())
	require.Len(t, w.till.order, 1+len(all))
	require.True(t, slices.IsSorted(w.till.order))
	for _, p := range all {
		_, err := p.Get()
		require.NoError(t, err)
	}
	w.requireIdle(t)
}

// TestRetriesOfALaterLife: the other node's life is another one than its first. An ask is sent
// again to the same life, and runs once.
func TestRetriesOfALaterLife(t *testing.T) {
	w := newShop(t, core.Props{})
	w.there.hub.Stop()
	w.sim.Run(time.Second)
	var err error
	w.there, err = Start(t.Context(), w.other, Config{Name: "there", Listen: w.there.Addr(), Plaintext: true, Incarnation: 7})
	require.NoError(t, err)
	p := core.Begin(w.port, payment{N: 1, Takes: 2 * time.Second})
	w.sim.Run(time.Second)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
	w.breaks()
	w.sim.Run(20 * time.Second)
	require.True(t, p.Ready())
	_, err = p.Get()
	require.NoError(t, err)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
}

// TestKeyedRepliesThatCannotBeRead: the asker hears of it.
func TestKeyedRepliesThatCannotBeRead(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 1})
	require.NoError(t, err)
	k := w.here.self.links["there"].control()
	by := &k.byMine[k.methods.byName["cluster.test.pay"].number-1]
	f := **by
	f.reply, f.noReply = nil, errNoCredit
	*by = &f
	_, err = housetest.Ask(t, w.sim, w.port, payment{N: 2})
	require.ErrorIs(t, err, errNoCredit)
	require.Equal(t, map[int]int{1: 1, 2: 1}, w.till.paid)
}

// TestTwoLivesLater: what has left for a life of the other node never runs in a later one, however
// many sessions end meanwhile.
func TestTwoLivesLater(t *testing.T) {
	w := newShop(t, core.Props{})
	p := core.Begin(w.port, payment{N: 1, Takes: time.Hour})
	w.sim.Run(500 * time.Millisecond)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
	w.there.hub.Stop()
	w.sim.Run(10 * time.Millisecond)
	w.sim.Net.Unreachable = map[string]bool{w.there.Addr(): true}
	w.sim.Net.Break(w.there.Addr())
	w.sim.Run(time.Second)
	var err error
	w.there, err = Start(t.Context(), w.other, Config{Name: "there", Listen: w.there.Addr(), Plaintext: true, Incarnation: 2})
	require.NoError(t, err)
	w.sim.Net.Unreachable = nil
	l := w.here.self.links["there"]
	for k := l.control(); k.life != 2 || k.busy == 0; k = l.control() {
		w.sim.Turn()
	}
	w.breaks()
	w.sim.Run(20 * time.Second)
	require.True(t, p.Ready())
	_, err = p.Get()
	require.Equal(t, core.ErrLost, err)
	require.Equal(t, map[int]int{1: 1}, w.till.paid)
}

// TestAnsweredAsTheSessionEnds: an answer that comes right before its session ends isn't read any
// more. The other node gives it again.
func TestAnsweredAsTheSessionEnds(t *testing.T) {
	w := newShop(t, core.Props{})
	_, err := housetest.Ask(t, w.sim, w.port, payment{N: 2}) // so that methods are declared
	require.NoError(t, err)
	p := core.Begin(w.port, payment{N: 1, Takes: 2 * time.Second})
	w.sim.Run(time.Second)
	k := w.here.self.links["there"].control()
	text, err := k.writeKept(k.methods.keyed.reply, wire.Append(k.methods.byName["cluster.test.pay"].reply, nil, &receipt{N: 5}))
	require.NoError(t, err)
	require.Equal(t, 1, k.busy)
	for _, s := range k.slots {
		if s.busy {
			require.NoError(t, k.reply(&frame.Reply{Slot: s.number, Message: text}))
		}
	}
	k.link.settleRead()
	k.link.giveUp(ErrUnreachable)
	k.link.begin()
	w.sim.Run(20 * time.Second)
	require.True(t, p.Ready())
	rep, err := p.Get()
	require.NoError(t, err)
	require.Equal(t, 1, rep.N)
	require.Equal(t, map[int]int{1: 1, 2: 1}, w.till.paid)
}

// TestLooksBetweenTwoTries: what has a retry look whether its asker waits comes while it waits for
// room. It goes on waiting.
func TestLooksBetweenTwoTries(t *testing.T) {
	w := newShop(t, core.Props{})
	var all []core.Pending[receipt]
	for n := range 3 {
		all = append(all, core.Begin(w.port, payment{N: n, Takes: 5 * time.Second}))
	}
	w.sim.Run(510 * time.Millisecond)
	w.here.config.Mailbox = 2
	l := w.here.self.links["there"]
	l.giveUp(ErrUnreachable)
	l.begin()
	require.NoError(t, l.control().hold(0, true))
	for range 100 {
		w.sim.Run(20 * time.Millisecond)
		balanced(t, w.here)
		require.LessOrEqual(t, l.control().hub().house.Queued(w.here.self.w), 1)
	}
	require.NoError(t, l.control().hold(0, false))
	w.sim.Run(20 * time.Second)
	for _, p := range all {
		require.True(t, p.Ready())
		_, err := p.Get()
		require.NoError(t, err)
	}
	require.Equal(t, map[int]int{0: 1, 1: 1, 2: 1}, w.till.paid)
	w.requireIdle(t)
}

// TestRetriesGivenUpLate: one whose asker has given up is over within a second, however long it has
// been away by then.
func TestRetriesGivenUpLate(t *testing.T) {
	w := newShop(t, core.Props{})
	a := core.Spawn(w.sim, func() *payer { return &payer{to: w.port} })
	require.NoError(t, core.Notice(payerPays.At(a), paying{time.Hour, time.Hour}))
	w.sim.Run(5*lookAfter + lookAfter/2)
	require.Equal(t, map[int]int{0: 1}, w.till.paid)
	a.Stop()
	w.sim.Run(lookAfter)
	for _, p := range w.here.self.retries.all {
		require.Nil(t, p)
	}
}

// TestRetriesGoOnOneByOne: with as many away as may be others wait, and one goes on with each that
// ends.
func TestRetriesGoOnOneByOne(t *testing.T) {
	w := newShop(t, core.Props{})
	r := w.retrier()
	r.busy = retriesMax - 2 // as if so many were away
	all := []core.Pending[receipt]{core.Begin(w.port, payment{N: 1, Takes: 30 * time.Second})}
	for n := 2; n < 6; n++ {
		all = append(all, core.Begin(w.port, payment{N: n, Takes: time.Second}))
	}
	for n := range 4 {
		w.sim.Run(900 * time.Millisecond)
		require.Equal(t, 2+n, len(w.till.paid))
		require.Equal(t, retriesMax, r.busy)
		w.sim.Run(100*time.Millisecond + lookAfter/100)
	}
	w.sim.Run(30 * time.Second)
	for _, p := range all {
		_, err := p.Get()
		require.NoError(t, err)
	}
	require.Equal(t, retriesMax-2, r.busy)
	r.busy = 0
	w.requireIdle(t)
}
