package cluster

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack/command"
)

// calm is two nodes in a simulation without faults, with a counter at each. Only here has the other
// one's address.
type calm struct {
	t           testing.TB
	sim         *housetest.Sim
	here, there *Node
}

func newCalm(t testing.TB) calm { return newCalmOf(t, 1, 1) }

// newCalmOf is newCalm with how many tracks each node may have.
func newCalmOf(t testing.TB, ofHere, ofThere int) calm {
	c := house.Config{AskTimeout: 3 * time.Hour, Logger: slog.New(slog.DiscardHandler)}
	sim := housetest.New(t, 1, c)
	other := sim.Beside(t, c)
	there, err := Start(t.Context(), other, Config{Name: "there", Listen: "127.0.0.1:7400", Tracks: ofThere, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	here, err := Start(t.Context(), sim, Config{Name: "here", Peers: map[string]string{"there": there.Addr()}, Tracks: ofHere, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	for _, sys := range []*house.System{sim.System, other} {
		_, err = core.SpawnWith(sys, func() *counter { return &counter{} }, core.Props{Name: "counter"})
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		balanced(t, here)
		balanced(t, there)
	})
	return calm{t, sim, here, there}
}

func (c *calm) find(at *Node, node string) core.AnyAddress {
	c.t.Helper()
	far, err := housetest.Ask(c.t, c.sim, at.Finder(), Where{node, "/user/counter"})
	require.NoError(c.t, err)
	return far
}

// third is one more node that has the address of there.
func (c *calm) third() *Node {
	sys := c.sim.Beside(c.t, house.Config{Logger: slog.New(slog.DiscardHandler)})
	n, err := Start(c.t.Context(), sys, Config{Name: "third", Peers: map[string]string{"there": c.there.Addr()}, Plaintext: true, Incarnation: 1})
	require.NoError(c.t, err)
	return n
}

// conns requires that the link has so many connections, at both ends.
func (c *calm) conns(n int) {
	c.t.Helper()
	require.Len(c.t, c.here.self.links["there"].conns, n)
	require.Len(c.t, c.there.self.links["here"].conns, n)
}

// TestUnusedLinks: connections over which nothing passes are closed, unless either end waits for
// something. The session goes on.
func TestUnusedLinks(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.conns(1)
	c.sim.Run(4 * time.Minute)
	c.conns(1)
	c.sim.Run(2 * time.Minute)
	c.conns(0)
	require.NoError(t, core.Notice(tells.At(far), item{N: 0}))
	c.sim.Run(time.Second)
	c.conns(1)
	c.sim.Run(6 * time.Minute)
	c.conns(0)
	require.True(t, far == c.find(c.here, "there"), "one session, one address")

	// An ask that takes long, of the one who has the address, and of the other one.
	back := c.find(c.there, "here")
	for _, to := range []core.AnyAddress{far, back} {
		ask := core.Begin(add.At(to), addReq{-1})
		c.sim.Run(59 * time.Minute)
		c.conns(1)
		c.sim.Run(2 * time.Minute)
		_, err := ask.Get()
		require.NoError(t, err)
		c.sim.Run(6 * time.Minute)
		c.conns(0)
		c.find(c.here, "there") // so that the other one has a connection again
	}

	// A watch, of either.
	for _, w := range []struct {
		by core.Place
		to core.AnyAddress
	}{{c.sim, far}, {c.there.system, back}} {
		m := &mourner{make(chan core.Terminated, 1)}
		typed, _ := core.As[counter](w.to)
		at := core.Spawn(w.by, func() *mourner { return m })
		_, err := housetest.Ask(t, c.sim, mournerWatch.At(at), typed)
		require.NoError(t, err)
		c.sim.Run(time.Hour)
		c.conns(1)
		typed.Stop()
		c.sim.Run(time.Second)
		require.NoError(t, (<-m.told).Lost)
		c.sim.Run(6 * time.Minute)
		c.conns(0)
		_, err = housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/counter"})
		require.ErrorIs(t, err, core.ErrNotFound)
	}
}

// TestHeardLinks: a connection over which one end alone says something is in use, for either.
func TestHeardLinks(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	back := c.find(c.there, "here")
	of := c.here.self.links["there"].conns[0]
	for range 12 {
		c.sim.Run(time.Minute)
		require.NoError(t, core.Notice(tells.At(back), item{}))
	}
	c.conns(1)
	require.Same(t, of, c.here.self.links["there"].conns[0])
}

// TestEachIsTold: a node that watches an actor hears of its end, though another one that did, too,
// has ended before.
func TestEachIsTold(t *testing.T) {
	c := newCalm(t)
	third := c.third()
	var told []chan core.Terminated
	for _, n := range []*Node{c.here, third} {
		far, _ := core.As[counter](c.find(n, "there"))
		m := &mourner{make(chan core.Terminated, 1)}
		_, err := housetest.Ask(t, c.sim, mournerWatch.At(core.Spawn(n.system, func() *mourner { return m })), far)
		require.NoError(t, err)
		told = append(told, m.told)
	}
	c.here.hub.Stop()
	c.sim.Run(time.Second)
	require.Error(t, (<-told[0]).Lost)
	at, err := core.Lookup[counter](c.there.system.(*house.System), "/user/counter")
	require.NoError(t, err)
	at.Stop()
	c.sim.Run(time.Second)
	require.Len(t, told[1], 1)
	require.NoError(t, (<-told[1]).Lost)
}

// TestHeldUntilItStops: HOLD keeps a connection open, and no RESUME comes behind GONE.
func TestHeldUntilItStops(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	_, err := housetest.Ask(t, c.sim, count.At(far), struct{}{}) // so that it is declared
	require.NoError(t, err)
	k := c.track()
	require.NoError(t, k.hold(1, true))
	c.sim.Run(6 * time.Minute)
	c.conns(1)
	require.NoError(t, k.gone(&frame.Gone{To: 1}))
	c.sim.Run(6 * time.Minute)
	c.conns(0)
}

// TestWatchBehindGone: a WATCH that crosses GONE is a watch of nobody: it keeps no connection open.
func TestWatchBehindGone(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	at, err := core.Lookup[counter](c.there.system, "/user/counter")
	require.NoError(t, err)
	_, err = housetest.Ask(t, c.sim, count.At(far), struct{}{}) // so that it is declared
	require.NoError(t, err)
	at.Stop()
	c.sim.Run(time.Second)
	_, err = housetest.Ask(t, c.sim, count.At(far), struct{}{})
	require.ErrorIs(t, err, core.ErrStopped)
	k := c.there.self.links["here"].tracks[0]
	require.True(t, k.refs[1].said)
	require.NoError(t, k.watches(1, true))
	require.Empty(t, c.there.self.watched)
	c.sim.Run(6 * time.Minute)
	c.conns(0)
}

// TestWatchBesideOneThatEnds: who watches an actor hears of its end, whoever else has watched it.
func TestWatchBesideOneThatEnds(t *testing.T) {
	c := newCalm(t)
	sys := c.sim.Beside(t, house.Config{Logger: slog.New(slog.DiscardHandler)})
	third, err := Start(t.Context(), sys, Config{Name: "third", Peers: map[string]string{"there": c.there.Addr()}, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	m := &mourner{make(chan core.Terminated, 1)}
	for _, n := range []*Node{third, c.here} {
		typed, _ := core.As[counter](c.find(n, "there"))
		w := &mourner{make(chan core.Terminated, 1)}
		if n == c.here {
			w = m
		}
		_, err := housetest.Ask(t, c.sim, mournerWatch.At(core.Spawn(n.system, func() *mourner { return w })), typed)
		require.NoError(t, err)
	}
	c.sim.Run(time.Second)
	require.NoError(t, third.Close(t.Context()))
	c.sim.Run(time.Second)
	at, err := core.Lookup[counter](c.there.system, "/user/counter")
	require.NoError(t, err)
	require.Len(t, c.there.self.watched[at.House()], 1)
	at.Stop()
	c.sim.Run(time.Second)
	require.Len(t, m.told, 1)
	require.NoError(t, (<-m.told).Lost)
	require.Empty(t, c.there.self.watched)
}

// TestWatchersEnd: of an actor that nobody watches any more nothing is kept.
func TestWatchersEnd(t *testing.T) {
	c := newCalm(t)
	typed, _ := core.As[counter](c.find(c.here, "there"))
	by := core.Spawn(c.sim, func() *mourner { return &mourner{make(chan core.Terminated, 1)} })
	_, err := housetest.Ask(t, c.sim, mournerWatch.At(by), typed)
	require.NoError(t, err)
	c.sim.Run(time.Second)
	require.Len(t, c.there.self.watched, 1)
	require.NoError(t, c.here.Close(t.Context()))
	c.sim.Run(time.Second)
	require.Empty(t, c.there.self.watched)
}

// TestCommandsThatWait for room are as many as there are different ones, and none is forgotten for
// another one that doesn't undo it.
func TestCommandsThatWait(t *testing.T) {
	c := newCalm(t)
	far, _ := core.As[counter](c.find(c.here, "there"))
	c.sim.Run(5 * time.Second)
	c.cut()
	k := c.track()
	for k.tryAppend((&frame.Cancel{}).Append(nil)) {
	}
	far.Restart(nil)
	for range 10 {
		far.Pause()
		far.Continue()
	}
	far.Pause()
	c.sim.Run(time.Millisecond)
	require.Equal(t, []command.Verb{command.Restart, command.Pause}, k.standIns[1].commands)
	far.Continue()
	c.sim.Run(time.Millisecond)
	require.Equal(t, []command.Verb{command.Restart, command.Continue}, k.standIns[1].commands)
}

// TestNewsThatWait: what an actor is told, or that somebody watches it, crosses though there was no
// room for it when it was said.
func TestNewsThatWait(t *testing.T) {
	m := &mourner{make(chan core.Terminated, 1)}
	for name, say := range map[string]func(*calm, core.Address[counter]){
		"stop": func(_ *calm, far core.Address[counter]) { far.Stop() },
		"pause": func(_ *calm, far core.Address[counter]) {
			far.Pause()
			far.Continue()
			far.Pause()
		},
		"continue": func(_ *calm, far core.Address[counter]) {
			far.Continue()
			far.Pause()
			far.Continue()
		},
		"watch": func(c *calm, far core.Address[counter]) {
			_, err := housetest.Ask(t, c.sim, mournerWatch.At(core.Spawn(c.sim, func() *mourner { return m })), far)
			require.NoError(t, err)
		},
	} {
		c := newCalm(t)
		far := c.find(c.here, "there")
		c.tell(far, 0, 1) // so that it is declared
		c.sim.Run(5 * time.Second)
		c.cut()
		k := c.track()
		for k.tryAppend((&frame.Cancel{}).Append(nil)) {
		}
		typed, _ := core.As[counter](far)
		say(&c, typed)
		c.sim.Run(time.Millisecond)
		require.NotNil(t, k.debts.first, name)
		c.mend()
		at, err := core.Lookup[counter](c.there.system, "/user/counter")
		if name == "stop" {
			require.ErrorIs(t, err, core.ErrNotFound)
			continue
		}
		require.NoError(t, err)
		if name != "watch" {
			ask := core.Begin(add.At(far), addReq{1})
			c.sim.Run(time.Second)
			require.Equal(t, name == "continue", ask.Ready(), name)
			at.Continue()
			c.sim.Run(time.Second)
			_, err = ask.Get()
			require.NoError(t, err)
			continue
		}
		at.Stop()
		c.sim.Run(time.Second)
		require.Len(t, m.told, 1)
	}
}

// TestAskOfTheVanished: an ask is given up once who asked is away for longer than patience, though
// nothing was written for it.
func TestAskOfTheVanished(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.sim.Run(2 * time.Second) // all is acknowledged
	ask := core.Begin(add.At(far), addReq{-1})
	c.sim.Run(10 * time.Millisecond)
	c.sim.Net.Unreachable = map[string]bool{c.there.Addr(): true}
	c.sim.Net.Break(c.there.Addr())
	c.sim.Run(time.Minute)
	_, err := ask.Get()
	require.ErrorIs(t, err, ErrUnreachable)
	c.there.self.served.requireFree(t)
}

// requireFree requires that no ask of another node is under way.
func (b *table) requireFree(t *testing.T) {
	t.Helper()
	free := 0
	for s := b.free; s != nil; s = s.next {
		free++
	}
	require.Len(t, b.asks, free)
}

// TestSlots: an ask that waits for a slot goes as soon as one is free. Of the asks of one actor it
// is as many as leave others some.
func TestSlots(t *testing.T) {
	if housetest.Slow {
		t.Skip("as many asks as there are slots take too long")
	}
	c := newCalm(t)
	far := c.find(c.here, "there")
	var asks []core.Pending[addRep]
	first := core.Begin(add.At(far), addReq{-1})
	for range slotsMax/2 - 1 {
		asks = append(asks, core.Begin(add.At(far), addReq{-2}))
		c.sim.Turn()
	}
	c.sim.Run(time.Second)
	require.Equal(t, slotsMax/2, c.here.self.links["there"].tracks[0].busy)
	last := core.Begin(add.At(far), addReq{1})
	_, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/counter"})
	require.NoError(t, err, "of another actor, which is a hub")
	for !first.Ready() {
		require.False(t, last.Ready())
		c.sim.Run(10 * time.Millisecond)
	}
	c.sim.Run(50 * time.Millisecond)
	require.True(t, last.Ready())
	for _, p := range append(asks, first, last) {
		_, err := p.Get()
		require.NoError(t, err)
	}
	for _, r := range c.here.self.links["there"].tracks[0].standIns {
		require.Zero(t, r.away)
	}
}

// TestNumbersOfTheStopped are taken again: a session knows as many actors as live.
func TestNumbersOfTheStopped(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	for i := range 1000 {
		at, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "other"})
		require.NoError(t, err)
		other, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/other"})
		require.NoError(t, err)
		rep, err := housetest.Ask(t, c.sim, add.At(other), addReq{i})
		require.NoError(t, err)
		require.Equal(t, 2*i, rep.Sum)
		for range i % 3 { // a run that is the last thing written to it
			require.NoError(t, core.Notice(tells.At(other), item{N: i}))
		}
		at.Stop()
		c.sim.Run(10 * time.Millisecond)
		_, err = housetest.Ask(t, c.sim, add.At(other), addReq{i}) // so that it hears of the end
		require.ErrorIs(t, err, core.ErrStopped)
	}
	require.Less(t, len(c.here.self.links["there"].tracks[0].standIns), 500)
	require.Less(t, len(c.there.self.links["here"].tracks[0].refs), 500)
	rep, err := housetest.Ask(t, c.sim, add.At(far), addReq{5})
	require.NoError(t, err)
	require.Equal(t, 10, rep.Sum)
}

// TestFoundWhileItStops: an actor that has begun to stop isn't found, and nothing of the link ends.
func TestFoundWhileItStops(t *testing.T) {
	c := newCalm(t)
	at, err := core.SpawnWith(c.there.system, func() *lingerer { return &lingerer{} }, core.Props{Name: "lingerer"})
	require.NoError(t, err)
	find := func() (core.AnyAddress, error) {
		return housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/lingerer"})
	}
	far, err := find()
	require.NoError(t, err)
	at.Stop()
	c.sim.Run(time.Millisecond)
	_, err = housetest.Ask(t, c.sim, add.At(far), addReq{1})
	require.ErrorIs(t, err, core.ErrStopped)
	_, err = find()
	require.ErrorIs(t, err, core.ErrNotFound)
	require.EqualValues(t, 1, c.here.self.links["there"].Session())
	c.sim.Run(2 * time.Minute)
}

// lingerer takes a minute to stop.
type lingerer struct{ tick core.Future[core.Tick] }

func (l *lingerer) add(s *core.AskStack[addReq, addRep]) core.Yield { return s.Return(addRep{}) }

func (l *lingerer) PostStop(s *core.HookStack) core.Yield {
	core.Timer.Ask(s, &l.tick, time.Minute)
	return core.Suspend(s, (*lingerer).rested)
}

func (l *lingerer) rested(s *core.HookStack) core.Yield { return s.Return() }

var _ = core.Handle((*lingerer).add).As(add)

// TestUsedInAnotherOrder: actors are declared when they are first used, whenever they were found.
func TestUsedInAnotherOrder(t *testing.T) {
	c := newCalm(t)
	_, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "other"})
	require.NoError(t, err)
	first := c.find(c.here, "there")
	second, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/other"})
	require.NoError(t, err)
	for _, to := range []core.AnyAddress{second, first} {
		_, err := housetest.Ask(t, c.sim, count.At(to), struct{}{})
		require.NoError(t, err)
	}
}

// TestNumberOfAParcel: the number of an actor that stops while a long message to it is written
// isn't free before the other end has read all of that.
func TestNumberOfAParcel(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	k := c.here.self.links["there"].tracks[0]
	r := k.standIns[1]
	require.NoError(t, core.Notice(tells.At(far), padded(0, 4<<20)))
	for !r.sending {
		c.sim.Turn()
	}
	require.NoError(t, k.gone(&frame.Gone{To: r.number}))
	require.Empty(t, k.unused)
	for r.sending {
		c.sim.Turn()
	}
	require.Equal(t, []unused{{r.number, k.parcels.sent[0].end}}, k.unused)
}

// TestLongNoticeAcknowledged: of the notices of a session that is given up, a long one that was
// acknowledged to its end isn't among those lost.
func TestLongNoticeAcknowledged(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	require.NoError(t, core.Notice(tells.At(far), padded(0, 200_000)))
	c.sim.Run(5 * time.Second)
	left := c.track().out.Left()
	require.Equal(t, left.End, left.Acknowledged)
	require.Greater(t, left.End, uint64(200_000))
	c.cut()
	c.tell(far, 1, 2)
	c.sim.Run(40 * time.Second)
	require.Equal(t, 1, letters(c.here.system), "the short one, which never left")
}

// TestAckBesideTalk: what was read is acknowledged soon though its sender has no reason to ask for
// that, as frames come the other way.
func TestAckBesideTalk(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	back := c.find(c.there, "here")
	c.sim.Run(2 * time.Second)
	out := &c.here.self.links["there"].tracks[0].out
	for range 2 {
		require.NoError(t, core.Notice(tells.At(far), item{}))
		c.sim.Run(10 * time.Millisecond)
	}
	left := out.Left()
	require.Less(t, left.Acknowledged, left.End, "the second came right behind an ACK")
	for range 15 {
		require.NoError(t, core.Notice(tells.At(back), item{}))
		c.sim.Run(100 * time.Millisecond)
	}
	left = out.Left()
	require.Equal(t, left.End, left.Acknowledged)
}

// TestDialBehindOneThatWasGivenUp: the other node dials while a dial to it hangs, its connection
// is lost, and this node dials again.
func TestDialBehindOneThatWasGivenUp(t *testing.T) {
	conf := house.Config{AskTimeout: time.Hour, Logger: slog.New(slog.DiscardHandler)}
	sim := housetest.New(t, 1, conf)
	other := sim.Beside(t, conf)
	const a, b = "127.0.0.1:7400", "127.0.0.1:7401"
	here, err := Start(t.Context(), sim, Config{Name: "here", Listen: a, Peers: map[string]string{"there": b}, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	there, err := Start(t.Context(), other, Config{Name: "there", Listen: b, Peers: map[string]string{"here": a}, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	_, err = core.SpawnWith(other, func() *counter { return &counter{} }, core.Props{Name: "counter"})
	require.NoError(t, err)

	sim.Net.Silent = map[string]bool{b: true}
	find := core.Begin(here.Finder(), Where{"there", "/user/counter"})
	sim.Run(100 * time.Millisecond)
	require.True(t, here.self.links["there"].dials[0].busy)
	_, err = housetest.Ask(t, sim, there.Finder(), Where{"here", "/user/nobody"})
	require.ErrorIs(t, err, core.ErrNotFound)
	require.True(t, find.Ready())
	far, err := find.Get()
	require.NoError(t, err)
	require.True(t, here.self.links["there"].dials[0].busy, "it hangs still")

	sim.Net.Unreachable = map[string]bool{a: true}
	sim.Net.Break(a)
	ask := core.Begin(add.At(far), addReq{1})
	sim.Net.Silent = nil
	sim.Run(20 * time.Second)
	require.True(t, ask.Ready())
	_, err = ask.Get()
	require.NoError(t, err)
}

// hasty asks, and waits for a second.
type hasty struct{}

type hastyStep struct {
	core.AskStack[core.Port[addReq, addRep], error]
	rep core.Future[addRep]
}

func (h *hasty) ask(s *hastyStep) core.Yield {
	s.Req.AskWithin(s, &s.rep, addReq{-1}, time.Second)
	return core.Suspend(s, (*hasty).asked)
}

func (h *hasty) asked(s *hastyStep) core.Yield {
	_, err := s.rep.Get()
	return s.Return(err)
}

var hastyAsk = core.Handle((*hasty).ask)

// TestGivenUpAsks leave nothing behind once they are answered.
func TestGivenUpAsks(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	err, _ := housetest.Ask(t, c.sim, hastyAsk.At(core.Spawn(c.sim, func() *hasty { return &hasty{} })), add.At(far))
	require.Equal(t, core.ErrTimeout, err)
	c.sim.Run(2 * time.Hour)
	for _, r := range c.track().standIns {
		require.Zero(t, r.away)
	}
}

// TestNumberUntilAcknowledged: what was written to an actor that has stopped has its number alone,
// as it may be a dead letter yet.
func TestNumberUntilAcknowledged(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	number := func(name string) uint64 {
		at, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: name})
		require.NoError(t, err)
		far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/" + name})
		require.NoError(t, err)
		require.NoError(t, core.Notice(tells.At(far), item{}))
		c.sim.Run(time.Millisecond)
		at.Stop()
		c.sim.Run(time.Millisecond)
		_, err = housetest.Ask(t, c.sim, add.At(far), addReq{1}) // so that it hears of the end
		require.ErrorIs(t, err, core.ErrStopped)
		h, _ := far.Any()
		return h.Remote().(*standIn).number
	}
	first := number("first")
	require.NotEqual(t, first, number("second"))
	c.sim.Run(2 * time.Second)
	require.Equal(t, first, number("third"))
}

// TestFewerTracks: a node whose next life has fewer tracks is reached as the one before.
func TestFewerTracks(t *testing.T) {
	c := newCalmOf(t, 3, 3)
	c.find(c.here, "there")
	c.find(c.here, "there")
	address := c.there.Addr()
	c.there.hub.Stop()
	c.sim.Run(time.Second)
	other := c.sim.Beside(t, house.Config{Logger: slog.New(slog.DiscardHandler)})
	_, err := Start(t.Context(), other, Config{Name: "there", Listen: address, Plaintext: true, Incarnation: 2})
	require.NoError(t, err)
	for _, name := range []string{"counter", "second"} {
		_, err = core.SpawnWith(other, func() *counter { return &counter{} }, core.Props{Name: name})
		require.NoError(t, err)
	}
	for _, name := range []string{"counter", "second"} {
		far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/" + name})
		require.NoError(t, err)
		_, err = housetest.Ask(t, c.sim, add.At(far), addReq{1})
		require.NoError(t, err)
	}
}
