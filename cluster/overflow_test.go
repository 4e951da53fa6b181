package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack/command"
)

// flood is a pair, and a node that tells the pair's counter whatever it likes.
func flood(t *testing.T, p core.Props) (pair, *stranger) {
	pair := newPair(t, p, session.Timing{})
	s := meets(t, pair.there.node, "else", frame.Hello{Session: 1})
	_, err := s.hello()
	require.NoError(t, err)
	s.declares(&pair)
	return pair, s
}

// waits waits until so many calls are in overflows there.
func (p *pair) waits(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		waiting := 0
		p.there.node.look(t, func(h *hub) {
			for _, o := range h.overflows {
				waiting += len(o.calls) - o.first
			}
		})
		return waiting == n
	}, 10*time.Second, time.Millisecond)
}

// TestDeafToHold: a node that doesn't heed HOLD may have so much waiting, and no more: the rest is
// refused as by a full mailbox. Nothing else ends.
func TestDeafToHold(t *testing.T) {
	for _, tracks := range []int{1, 2} {
		t.Run(fmt.Sprint(tracks), func(t *testing.T) { deafToHold(t, tracks) })
	}
}

func deafToHold(t *testing.T, tracks int) {
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", Window: 256 << 10, Tracks: tracks})
	p := pairBy(t, there, there.node.Addr(), core.Props{Mailbox: core.Bounded(10, core.Reject)}, session.Timing{})
	s := meets(t, there.node, "else", frame.Hello{Session: 1, Tracks: uint64(tracks)})
	_, err := s.hello()
	require.NoError(t, err)
	s.declares(&p)
	p.at.Pause()
	most := tracks * waitingWindows * (256 << 10) / callSize // without the texts
	all := most/1000*1000 + 30_000
	for i := 0; i < all; i += 1000 {
		s.tells(&p, i, i+1000)
	}
	var waiting int
	require.Eventually(t, func() bool {
		there.node.look(t, func(h *hub) { waiting = len(h.overflows[p.at.House()].calls) })
		return waiting+10+int(there.letters()) == all
	}, 2*time.Minute, 10*time.Millisecond)
	require.Greater(t, waiting, most*9/10)
	require.LessOrEqual(t, waiting, most)
	p.at.Continue()
	require.Eventually(t, func() bool { return len(p.counter.numbers()) == waiting+10 }, 2*time.Minute, 10*time.Millisecond)
	requireInOrder(t, waiting+10, p.counter)
	there.node.look(t, func(h *hub) {
		require.EqualValues(t, 1, h.links["else"].Session())
		require.Zero(t, h.links["else"].waiting)
		require.Empty(t, h.overflows)
		require.LessOrEqual(t, cap(h.spare[0].calls), spareMax)
	})
}

// floods spawns a counter there with so many places, and returns what tells it of items, from 1 on:
// as a node does that doesn't heed HOLD.
func (c *calm) floods(name string, of *counter, places int) (at core.Address[counter], told func(from, until int)) {
	at, err := core.SpawnWith(c.there.system, func() *counter { return of }, core.Props{Name: name, Mailbox: core.Bounded(places, core.Reject)})
	require.NoError(c.t, err)
	far, err := housetest.Ask(c.t, c.sim, c.here.Finder(), Where{"there", "/user/" + name})
	require.NoError(c.t, err)
	c.tell(far, 0, 1) // so that it is declared
	c.sim.Run(10 * time.Millisecond)
	k := c.there.self.links["here"].tracks[0]
	to, m := uint64(len(k.refs)-1), c.track().methods.byName["test.counter.tell"]
	return at, func(from, until int) {
		for i := from; i < until; i++ {
			require.NoError(c.t, k.tell(&frame.Tell{To: to, Method: m.number, Message: wire.Append(m.request, nil, &item{N: i})}))
		}
	}
}

// TestGoneKeepsNoMemory: as calls come while others go, an overflow takes memory for those that
// wait, not for all that ever did.
func TestGoneKeepsNoMemory(t *testing.T) {
	c := newCalm(t)
	full := &counter{slow: time.Millisecond}
	at, told := c.floods("full", full, 4)
	told(1, 200)
	n := 200
	for ; n < 5000; n += 10 {
		c.sim.Run(10 * time.Millisecond)
		told(n, n+10)
		require.Less(t, len(c.there.self.overflows[at.House()].calls), 1000)
	}
	c.sim.Run(time.Second)
	requireInOrder(t, n, full)
	spare := c.there.self.spare[0].calls
	for _, w := range spare[:cap(spare)] {
		require.Zero(t, w)
	}
}

// TestStopWithOverflow: what waits beside the mailbox of an actor that stops are dead letters, as
// what waits in it.
func TestStopWithOverflow(t *testing.T) {
	p, s := flood(t, core.Props{Mailbox: core.Bounded(4, core.Reject)})
	p.at.Pause()
	s.tells(&p, 0, 100)
	p.waits(t, 96)
	require.NoError(t, p.at.StopWait(t.Context()))
	require.Eventually(t, func() bool { return p.there.letters() == 100 }, 5*time.Second, time.Millisecond)
}

// TestCloseWithOverflow: the same if the node ends.
func TestCloseWithOverflow(t *testing.T) {
	p, s := flood(t, core.Props{Mailbox: core.Bounded(4, core.Reject)})
	p.at.Pause()
	s.tells(&p, 0, 100)
	p.waits(t, 96)
	require.NoError(t, p.there.node.Close(t.Context()))
	require.EqualValues(t, 96, p.there.letters())
}

// TestDrainBehindOverflow: the actor stops behind all that came before, and before all that came
// behind.
func TestDrainBehindOverflow(t *testing.T) {
	p, s := flood(t, core.Props{Mailbox: core.Bounded(4, core.Reject)})
	p.at.Pause()
	s.tells(&p, 0, 100)
	for range 3 { // it is one drain all the same
		s.sends((&frame.Command{To: 1, Code: codes[command.Drain]}).Append(nil))
	}
	s.tells(&p, 100, 150)
	p.waits(t, 96+1+50)
	p.at.Continue()
	require.Eventually(t, func() bool { return p.at.House().Gone() }, 5*time.Second, time.Millisecond)
	requireInOrder(t, 100, p.counter)
	require.Eventually(t, func() bool { return p.there.letters() == 50 }, 5*time.Second, time.Millisecond)
	p.there.node.look(t, func(h *hub) {
		require.Len(t, h.spare, 1)
		require.False(t, h.spare[0].drains, "the next actor's drain would be forgotten")
	})
}

// TestDrainWithoutItsNode: the actor is drained, though the node that was to wait for room for it
// has ended.
func TestDrainWithoutItsNode(t *testing.T) {
	p, s := flood(t, core.Props{Mailbox: core.Bounded(4, core.Reject)})
	p.at.Pause()
	s.tells(&p, 0, 100)
	s.sends((&frame.Command{To: 1, Code: codes[command.Drain]}).Append(nil))
	p.waits(t, 96+1)
	require.NoError(t, p.there.node.Close(t.Context()))
	p.at.Continue()
	require.Eventually(t, func() bool { return p.at.House().Gone() }, 5*time.Second, time.Millisecond)
	requireInOrder(t, 4, p.counter)
	require.EqualValues(t, 96, p.there.letters())
}

// TestDrainElsewhere: a drain comes behind all that was sent before it, whichever worker the actor
// is on.
func TestDrainElsewhere(t *testing.T) {
	for seed := range uint64(seeds(40)) {
		w := newWorld(t, seed, session.Timing{Patience: time.Hour})
		for worker := range 2 {
			c := &counter{}
			name := fmt.Sprint("counter", worker)
			at, err := core.SpawnWith(w.other.Workers()[worker], func() *counter { return c }, core.Props{Name: name})
			require.NoError(t, err)
			far := w.find(t, "/user/"+name)
			typed, ok := core.As[counter](far)
			require.True(t, ok)
			n := w.rng.IntN(100)
			for i := range n {
				require.NoError(t, core.Notice(tells.At(far), item{N: i}))
			}
			typed.Drain()
			w.sim.Net.Faults.Resets = 0
			for range 1000 {
				if w.sim.Run(100 * time.Millisecond); at.House().Gone() {
					break
				}
			}
			require.True(t, at.House().Gone(), "seed %d", seed)
			requireInOrder(t, n, c)
		}
	}
}

// TestUnknownNotices: notices of a method that a node doesn't have are dead letters there: sent is
// delivered and reported.
func TestUnknownNotices(t *testing.T) {
	p, s := flood(t, core.Props{})
	m := p.here.node.self.methods.byName["test.counter.tell"]
	s.sends((&frame.Method{Number: 2, Name: []byte("test.unknown"), Request: m.request.AppendSchema(nil)}).Append(nil))
	for range 7 {
		s.sends((&frame.Tell{To: 1, Method: 2, Message: []byte("what")}).Append(nil))
	}
	require.Eventually(t, func() bool { return p.there.letters() == 7 }, 5*time.Second, time.Millisecond)
	require.Equal(t, core.LostRefused, p.there.sys.DeadLetters()[0].Reason, "the actor lives")
	p.there.node.look(t, func(h *hub) { require.EqualValues(t, 7, h.links["else"].tracks[0].got) })
}

// TestCloseAmidOverflow: the actor lives on without the node, though some of what waited for it was
// handed on.
func TestCloseAmidOverflow(t *testing.T) {
	c := newCalm(t)
	slow := &counter{slow: time.Millisecond}
	at, err := core.SpawnWith(c.there.system, func() *counter { return slow }, core.Props{Name: "slow", Mailbox: core.Bounded(4, core.Reject)})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/slow"})
	require.NoError(t, err)
	for range 50 {
		require.NoError(t, core.Notice(tells.At(far), item{}))
	}
	c.sim.Run(10 * time.Millisecond)
	o := c.there.self.overflows[at.House()]
	require.Positive(t, o.first)
	require.Less(t, o.first, len(o.calls))
	c.there.hub.Stop()
	c.sim.Run(time.Second)
	require.False(t, at.House().Gone())
}

// TestCloseWithAsksThatWait: they end without an answer, and are no dead letters.
func TestCloseWithAsksThatWait(t *testing.T) {
	c := newCalm(t)
	at, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "full", Mailbox: core.Bounded(1, core.Reject)})
	require.NoError(t, err)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/full"})
	require.NoError(t, err)
	at.Pause()
	c.sim.Run(time.Millisecond)
	var asks []core.Pending[addRep]
	for i := range 10 {
		asks = append(asks, core.Begin(add.At(far), addReq{i}))
	}
	c.sim.Run(10 * time.Millisecond)
	require.Len(t, c.there.self.overflows[at.House()].calls, 9)
	c.there.hub.Stop()
	c.sim.Run(time.Second)
	for _, p := range asks {
		_, err := p.Get()
		require.ErrorIs(t, err, core.ErrLost)
	}
	require.Zero(t, letters(c.there.system))
}

// TestBehindThoseThatWait: what comes while others wait beside a mailbox goes behind them, though
// there is room in it again.
func TestBehindThoseThatWait(t *testing.T) {
	c := newCalm(t)
	slow := &counter{slow: time.Millisecond}
	at, told := c.floods("slow", slow, 16)
	told(1, 50)
	n, k := 50, c.there.self.links["here"].tracks[0]
	keyed := &keyedAsk{Path: "/user/slow", Method: "test.counter.add", Request: []byte{2}}
	for h := c.there.self; h.overflows[at.House()] != nil; c.sim.Run(100 * time.Microsecond) {
		if n < 100 && h.takes(at.House()) {
			require.Equal(t, core.ErrMailboxFull, k.run(new(record), keyed, &frame.Ask{}), "it may not wait")
			told(n, n+1)
			n++
		}
	}
	require.Equal(t, 100, n)
	c.sim.Run(time.Second)
	requireInOrder(t, n, slow)
}

// TestOverflowsAreUsedAgain: each actor that is full has one of its own, and there are as many as
// were ever in use at a time.
func TestOverflowsAreUsedAgain(t *testing.T) {
	c := newCalm(t)
	h := c.there.self
	var all [3]*counter
	var at [3]core.Address[counter]
	var told [3]func(from, until int)
	for i := range all {
		all[i] = &counter{}
		at[i], told[i] = c.floods(fmt.Sprint("full", i), all[i], 4)
	}
	for round, full := range []int{1, 2, 3, 3} {
		for i := range full {
			at[i].Pause()
		}
		c.sim.Run(time.Millisecond)
		for i := range full {
			n := len(all[i].told)
			told[i](n, n+20)
		}
		require.Len(t, h.overflows, full, "round %d", round)
		require.Empty(t, h.spare)
		balanced(t, c.there)
		for i := range full {
			at[i].Continue()
			c.sim.Run(time.Millisecond)
			require.Len(t, h.spare, i+1)
		}
		require.Empty(t, h.overflows)
	}
	for i := range all {
		requireInOrder(t, 1+20*(4-i), all[i])
	}
}

// TestCloseAmidDrain: what waits when the node ends are dead letters, on either side of a drain.
// The actor is drained all the same.
func TestCloseAmidDrain(t *testing.T) {
	c := newCalm(t)
	full := &counter{}
	other, toldOther := c.floods("other", &counter{}, 4)
	at, told := c.floods("full", full, 4)
	at.Pause()
	other.Pause()
	c.sim.Run(time.Millisecond)
	told(1, 10)
	toldOther(1, 10)
	k := c.there.self.links["here"].tracks[0]
	require.NoError(t, k.command(&frame.Command{To: uint64(len(k.refs) - 1), Code: codes[command.Drain]}))
	told(10, 20)
	balanced(t, c.there)
	require.Len(t, c.there.self.overflows[at.House()].calls, 15+1)
	c.there.hub.Stop()
	c.sim.Run(time.Second)
	require.Equal(t, 15+5, letters(c.there.system))
	at.Continue()
	c.sim.Run(time.Second)
	require.True(t, at.House().Gone())
	requireInOrder(t, 5, full)
}

// TestNoMoreMayWait: what may not wait beside a mailbox is refused as by it: a notice is a dead
// letter, an ask is answered.
func TestNoMoreMayWait(t *testing.T) {
	c := newCalm(t)
	full := &counter{}
	at, told := c.floods("full", full, 4)
	far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/full"})
	require.NoError(t, err)
	h := c.there.self
	defer func(window int) { h.node.config.Window = window }(h.node.config.Window)
	at.Pause()
	c.sim.Run(time.Millisecond)
	told(1, 1+4)
	h.node.config.Window = 1 // of nothing
	told(5, 10)
	_, err = housetest.Ask(t, c.sim, add.At(far), addReq{1})
	require.Equal(t, core.ErrMailboxFull, err)
	require.Empty(t, h.overflows)
	require.Equal(t, 5, letters(c.there.system))
	h.node.config.Window = 100 * callSize / waitingWindows
	told(5, 200)
	waiting := len(h.overflows[at.House()].calls)
	require.True(t, 80 < waiting && waiting < 100, "of 100 without a text, %d wait", waiting)
	require.Equal(t, 5+195, waiting+letters(c.there.system))
	balanced(t, c.there)
	at.Continue()
	c.sim.Run(time.Second)
	requireInOrder(t, 5+waiting, full)
}

// TestEachGoesOn: whoever was told to hold calls of an actor goes on once there is room.
func TestEachGoesOn(t *testing.T) {
	c := newCalm(t)
	third := c.third()
	full := &counter{}
	at, err := core.SpawnWith(c.there.system, func() *counter { return full }, core.Props{Name: "full", Mailbox: core.Bounded(4, core.Reject)})
	require.NoError(t, err)
	at.Pause()
	for _, from := range []*Node{c.here, third} {
		far, err := housetest.Ask(t, c.sim, from.Finder(), Where{"there", "/user/full"})
		require.NoError(t, err)
		for i := range 20 {
			require.NoError(t, core.Notice(tells.At(far), item{N: i}))
		}
		c.sim.Run(10 * time.Millisecond)
	}
	require.Len(t, c.there.self.overflows[at.House()].held, 2)
	at.Continue()
	c.sim.Run(time.Second)
	require.Len(t, full.told, 40)
	for _, l := range c.there.self.links {
		require.Zero(t, l.tracks[0].owing)
		require.False(t, l.tracks[0].refs[1].held)
	}
	require.Zero(t, c.track().held)
	require.Zero(t, third.self.links["there"].tracks[0].held)
	balanced(t, third)
}
