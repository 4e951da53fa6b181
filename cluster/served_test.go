package cluster

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house"
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
// count for nothing any more, and never run: as their time is over, or as who asked has ended.
func TestGivenUpBesideAFullMailbox(t *testing.T) {
	for _, within := range []time.Duration{100 * time.Millisecond, time.Hour} {
		w := newShop(t, core.Props{Mailbox: core.Bounded(1, core.Reject)})
		a := core.Spawn(w.sim, func() *payer { return &payer{to: w.plain(t)} })
		w.at.Pause()
		w.sim.Run(time.Second)
		for range 5 {
			require.NoError(t, core.Notice(payerPays.At(a), paying{0, within}))
			w.sim.Run(10 * time.Millisecond)
		}
		a.Stop()
		w.sim.Run(time.Second)
		w.at.Continue()
		w.sim.Run(time.Second)
		require.Empty(t, w.till.paid)
		w.requireServed(t)
		w.requireIdle(t)
		require.EqualValues(t, 1, w.here.self.links["there"].Session())
	}
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

// TestNumbersOfTheOtherEnd: each number is good as far as the other end may use it, and no further.
// What it says else does nothing, and is an error: it ends the session.
func TestNumbersOfTheOtherEnd(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	asks := core.Begin(add.At(far), addReq{-1})
	c.sim.Run(time.Second)
	k := c.there.self.links["here"].tracks[0]
	require.True(t, len(k.refs) == 2 && len(k.serving) == 1)
	r, s := k.refs[1], k.serving[0]
	adds := k.methods.byName["test.counter.add"]
	text := wire.Append(adds.request, nil, &addReq{-1})
	ask := func(slot, to, method uint64) error {
		return k.serve(&frame.Ask{Slot: slot, To: to, Method: method, Message: text})
	}
	for what, test := range map[string]struct{ got, want error }{
		"an actor that lives, anew":  {k.declare(&frame.Ref{Number: 1, Serial: r.house.Serial()}), errRef},
		"more actors than were told": {k.declare(&frame.Ref{Number: 2, Serial: r.house.Serial()}), errRef},
		"an ask of the next actor":   {ask(1, 2, adds.number), errRef},
		"an ask by no method":        {ask(1, 1, 0), errMethod},
		"an ask by the next method":  {ask(1, 1, uint64(len(k.theirs)+1)), errMethod},
		"an ask by one of notices":   {ask(1, 1, k.methods.byName["test.counter.tell"].number), errMethod},
		"notices for the next actor": {k.tellAll(&frame.Tells{To: 2, Method: 1}), errRef},
		"notices by no method":       {k.tellAll(&frame.Tells{To: 1}), errMethod},
		"notices by one of asks":     {k.tellAll(&frame.Tells{To: 1, Method: adds.number}), errMethod},
		"a slot that is in use":      {ask(0, 1, adds.number), errSlot},
		"a context of no form":       {k.serve(&frame.Ask{Slot: 1, To: 1, Method: adds.number, Context: []byte("none")}), errContext},
		"a slot too far ahead":       {ask(1+partsMax+1, 1, adds.number), errSlot},
		"to cancel the next slot":    {k.cancel(1), nil}, // whose pieces may be on their way
		"to cancel the last one":     {k.cancel(slotsMax - 1), nil},
		"to cancel one behind it":    {k.cancel(slotsMax), errSlot},
	} {
		require.Equal(t, test.want, test.got, what)
	}
	require.True(t, len(k.refs) == 2 && k.refs[1] == r && k.serving[0] == s && len(k.serving) == 1 && k.owing == 1)

	c.there.self.served.exported = 10
	require.Equal(t, errRef, k.declare(&frame.Ref{Number: 3, Serial: r.house.Serial()}), "they come in their order")

	require.NoError(t, ask(1+partsMax, 1, adds.number), "all before it may be on their way in pieces")
	k.serving = append(k.serving, make([]*serving, slotsMax-len(k.serving))...)
	require.Equal(t, errSlot, ask(slotsMax, 1, adds.number))
	require.NoError(t, ask(slotsMax-1, 1, adds.number))
	balanced(t, c.there)
	c.here.hub.Stop()
	c.sim.Run(time.Second)
	_, err := asks.Get()
	require.ErrorIs(t, err, core.ErrLost)
	c.there.self.served.requireFree(t)
}

// TestKeyedAskOfAnActor: what hubs ask each other is of no other actor.
func TestKeyedAskOfAnActor(t *testing.T) {
	w := newShop(t, core.Props{})
	far, err := housetest.Ask(t, w.sim, w.here.Finder(), Where{"there", "/user/till"})
	require.NoError(t, err)
	m := w.here.self.methods.byName["cluster.test.pay"]
	ask := keyedAsk{Key: 1, Path: "/user/till", Method: m.Name, Request: wire.Append(m.request, nil, &payment{N: 1})}
	_, err = housetest.Ask(t, w.sim, keyedMethod.At(far), ask)
	require.Equal(t, core.ErrNoHandler, err)
	require.Empty(t, w.till.paid)
}

// TestNothingNewToSay: HOLD and RESUME are written once each, and nothing is behind GONE.
func TestNothingNewToSay(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	c.sim.Run(time.Second)
	k := c.there.self.links["here"].tracks[0]
	r := k.refs[1]
	for _, wrote := range []bool{false, true} {
		k.owing, r.held = k.owing+btoi(wrote), wrote
		for _, grows := range []bool{wrote, false} {
			end := k.out.Left().End
			k.owe(r)
			require.Equal(t, grows, k.out.Left().End > end)
		}
	}
	r.ended()
	require.True(t, r.said)
	end := k.out.Left().End
	k.owing, r.held = k.owing-1, false
	k.owe(r)
	require.Equal(t, end, k.out.Left().End, "behind GONE its number may be another one's")
}

// TestServedOneByOne: what an ask took when it was served is for the next one.
func TestServedOneByOne(t *testing.T) {
	w := newShop(t, core.Props{})
	port := w.plain(t)
	for n := range 10 {
		_, err := housetest.Ask(t, w.sim, port, payment{N: n})
		require.NoError(t, err)
	}
	require.Len(t, w.there.self.served.asks, 1)
	w.requireServed(t)
}

// TestServedBesideAFreeSlot: asks are given up with their session, whatever was answered before.
func TestServedBesideAFreeSlot(t *testing.T) {
	w := newShop(t, core.Props{})
	port := w.plain(t)
	asks := []core.Pending[receipt]{core.Begin(port, payment{N: 1}), core.Begin(port, payment{N: 2, Takes: time.Hour})}
	w.sim.Run(500 * time.Millisecond)
	all := w.there.self.links["here"].tracks[0].serving
	require.True(t, len(all) == 2 && all[0] == nil && all[1] != nil)
	w.breaks()
	w.plain(t) // so that the other end knows, too
	w.requireServed(t)
	for i, lost := range []error{nil, core.ErrLost} {
		_, err := asks[i].Get()
		require.ErrorIs(t, err, lost)
	}
}

// TestKeyedAskCancelledTwice: an ask that has come again is answered, though the one before, which
// was given up, is given up once more.
func TestKeyedAskCancelledTwice(t *testing.T) {
	w := newShop(t, core.Props{})
	w.plain(t)
	k := w.there.self.links["here"].tracks[0]
	pay := k.methods.byName["cluster.test.pay"]
	text := wire.Append(k.methods.keyed.request, nil, &keyedAsk{Key: 9, Path: "/user/till", Method: pay.Name,
		Request: wire.Append(pay.request, nil, &payment{N: 1, Takes: time.Second})})
	comes := func(slot uint64) *serving {
		require.NoError(t, k.serve(&frame.Ask{Slot: slot, Method: k.methods.keyed.number, Message: text}))
		return k.serving[slot]
	}
	comes(0)
	for k.tryAppend((&frame.Cancel{}).Append(nil)) { // so that answers wait
	}
	require.NoError(t, k.cancel(0))
	again := comes(1)
	require.NoError(t, k.cancel(0))
	require.Same(t, again, again.awaits.waiting)
	balanced(t, w.there)
}

// TestCallsOfWhoHasStopped, or of whom nothing is known any more, end as such. Commands of the
// other end don't reach this node's hub.
func TestCallsOfWhoHasStopped(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	k := c.there.self.links["here"].tracks[0]
	at, err := core.Lookup[counter](c.there.system, "/user/counter")
	require.NoError(t, err)
	at.Stop()
	c.sim.Run(time.Second)
	c.there.self.served.exported += 2 // as there were more
	adds, tell := k.methods.byName["test.counter.add"], k.methods.byName["test.counter.tell"]
	for i, serial := range []uint64{noSerial, at.House().Serial()} {
		n := uint64(len(k.refs))
		require.NoError(t, k.declare(&frame.Ref{Number: n, Serial: serial}))
		r := k.refs[n]
		require.True(t, r.gone)
		for code := range uint64(8) {
			require.NoError(t, k.command(&frame.Command{To: n, Code: code}))
			require.NoError(t, k.command(&frame.Command{To: 0, Code: code}))
		}
		require.NoError(t, k.tell(&frame.Tell{To: n, Method: tell.number, Message: wire.Append(tell.request, nil, new(padded(1, 5000)))}))
		require.Equal(t, 1+i, letters(c.there.system))
		if serial == noSerial {
			_, err := k.handlerOf(r, k.theirs[adds.number-1])
			require.Equal(t, core.ErrStopped, err)
		}
	}
	all := c.there.system.(*house.System).DeadLetters()
	require.Len(t, all, 1)
	require.Equal(t, core.LostStopped, all[0].Reason)
	require.Contains(t, all[0].Type, "item")
	c.sim.Run(time.Second)
	_, err = housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/counter"})
	require.Equal(t, core.ErrNotFound, err, "the hub is there")
}

// TestNoticesThatNobodyHandles, or that can't be read, are dead letters of their type.
func TestNoticesThatNobodyHandles(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	k := c.there.self.links["here"].tracks[0]
	tell, drip := k.methods.byName["test.counter.tell"], k.methods.byName["test.sink.drip"]
	text := wire.Append(tell.request, nil, new(padded(1, 5000)))
	require.NoError(t, k.tell(&frame.Tell{To: 1, Method: tell.number, Message: text[:4000]}))
	require.NoError(t, k.tell(&frame.Tell{To: 1, Method: tell.number, Message: append(text, 0)}))
	require.NoError(t, k.tell(&frame.Tell{To: 0, Method: tell.number, Message: text}))
	require.NoError(t, k.tell(&frame.Tell{To: 1, Method: drip.number, Message: wire.Append(drip.request, nil, new(eight))}))
	types := map[string]int{}
	for _, l := range c.there.system.(*house.System).DeadLetters() {
		require.Equal(t, core.LostRefused, l.Reason)
		types[l.Type] += int(l.Count)
	}
	require.Equal(t, map[string]int{reflect.TypeFor[item]().String(): 3, reflect.TypeFor[eight]().String(): 1}, types)
}

// TestCancelledTwice: who asks is told once.
func TestCancelledTwice(t *testing.T) {
	w := newShop(t, core.Props{})
	var all []core.Pending[receipt]
	port := w.plain(t)
	for n := range 3 {
		all = append(all, core.Begin(port, payment{N: n, Takes: time.Hour}))
	}
	w.sim.Run(500 * time.Millisecond)
	k := w.there.self.links["here"].tracks[0]
	for range 2 {
		for i := range all {
			require.NoError(t, k.cancel(uint64(i)))
		}
	}
	w.sim.Run(time.Second)
	for _, p := range all {
		_, err := p.Get()
		require.ErrorIs(t, err, core.ErrCancelled)
	}
	w.requireServed(t)
	require.EqualValues(t, 1, w.here.self.links["there"].Session())
}

// TestKeyedAskThatCannotBeRead runs nothing, though what it says first can be.
func TestKeyedAskThatCannotBeRead(t *testing.T) {
	w := newShop(t, core.Props{})
	w.plain(t)
	k := w.there.self.links["here"].tracks[0]
	pay := k.methods.byName["cluster.test.pay"]
	text := wire.Append(k.methods.keyed.request, nil, &keyedAsk{Key: 9, Path: "/user/till", Method: pay.Name,
		Request: wire.Append(pay.request, nil, &payment{N: 1})})
	require.NoError(t, k.serve(&frame.Ask{Method: k.methods.keyed.number, Message: append(text, 0)}))
	w.sim.Run(time.Second)
	require.Empty(t, w.till.paid)
	require.Zero(t, w.there.self.replies.keys)
}

// TestKeysAreBounded: there are never more than may be, however many come one after another.
func TestKeysAreBounded(t *testing.T) {
	w := newShop(t, core.Props{})
	b := &w.there.self.replies
	b.keysMax = 2
	for n := range 6 {
		_, err := housetest.Ask(t, w.sim, w.port, payment{N: n})
		require.NoError(t, err)
		require.Equal(t, min(n+1, 2), b.keys)
	}
}
