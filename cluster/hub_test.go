package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestForgetInOneOrder: of nodes that went away at one time it's the first by name that is
// forgotten, whatever the order of a map; one with a connection never is.
func TestForgetInOneOrder(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	h := c.there.self
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, name := range names {
		require.NotNil(t, h.linkTo(name))
	}
	for _, name := range names {
		require.Contains(t, h.links, name)
		require.True(t, h.forget())
		require.NotContains(t, h.links, name)
	}
	require.False(t, h.forget())
	require.Contains(t, h.links, "here")
}

// TestFlushWithoutConnections: who closes a node doesn't wait for others that aren't there, but for
// a track of one that is.
func TestFlushWithoutConnections(t *testing.T) {
	c := newCalmOf(t, 3, 3)
	_, far := c.counters(2)
	c.sim.Run(time.Second)
	flush := func() time.Duration {
		began := c.sim.Now
		_, err := housetest.Ask(t, c.sim, hubFlush.At(c.here.hub), struct{}{})
		require.NoError(t, err)
		return time.Duration(c.sim.Now - began)
	}
	k := c.here.self.links["there"].tracks[2]
	k.conn.shut()
	require.NoError(t, core.Notice(tells.At(far[1]), item{}))
	c.sim.Run(10 * time.Microsecond)
	require.True(t, k.isUnread())
	require.Nil(t, k.conn)
	require.Less(t, flush(), 200*time.Millisecond)
	require.False(t, k.isUnread())

	c.cut()
	c.tell(far[1], 1, 2)
	require.Less(t, flush(), time.Millisecond)
	left := k.out.Left()
	require.Less(t, left.Acknowledged, left.End)
}

// TestAllAreTold: each node that watches an actor hears of its end.
func TestAllAreTold(t *testing.T) {
	c := newCalm(t)
	var told []chan core.Terminated
	for _, n := range []*Node{c.here, c.third()} {
		far, _ := core.As[counter](c.find(n, "there"))
		m := &mourner{make(chan core.Terminated, 1)}
		_, err := housetest.Ask(t, c.sim, mournerWatch.At(core.Spawn(n.system, func() *mourner { return m })), far)
		require.NoError(t, err)
		told = append(told, m.told)
	}
	at, err := core.Lookup[counter](c.there.system, "/user/counter")
	require.NoError(t, err)
	at.Stop()
	c.sim.Run(time.Second)
	for _, of := range told {
		require.Len(t, of, 1)
		require.NoError(t, (<-of).Lost)
	}
}

// seeker looks an actor of another node up, whose session ends right behind the answer.
type seeker struct {
	link *link
	err  error
}

type seekStep struct {
	core.AskStack[string, core.AnyAddress]
	found core.Future[core.AnyAddress]
}

func (k *seeker) seek(s *seekStep) core.Yield {
	findMethod.At(k.link.control().hub().any()).Ask(s, &s.found, findActor{s.Req})
	return core.Suspend(s, (*seeker).found)
}

func (k *seeker) found(s *seekStep) core.Yield {
	k.link.giveUp(k.err)
	k.link.begin()
	return there(&s.AskStack, &s.found)
}

var seekers = core.Handle((*seeker).seek)

// TestLookupAtTheEnd: who has found an actor whose session is over by then hears that it is lost,
// not that there is none.
func TestLookupAtTheEnd(t *testing.T) {
	for _, err := range []error{ErrUnreachable, ErrNodeLost} {
		c := newCalm(t)
		c.find(c.here, "there")
		by := core.Spawn(c.sim, func() *seeker { return &seeker{c.here.self.links["there"], err} })
		_, got := housetest.Ask(t, c.sim, seekers.At(by), "/user/counter")
		require.ErrorIs(t, got, err)
		require.ErrorIs(t, got, core.ErrNotSent)
		require.NotErrorIs(t, got, core.ErrNotFound)
	}
}

// TestAlarmThatIsLate: an alarm for another time than the link waits for takes the place of none,
// or there would be ever more of them.
func TestAlarmThatIsLate(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	c.sim.Run(time.Second)
	c.find(c.here, "there")
	l := c.here.self.links["there"]
	ring := l.ring
	next, ok := l.Wake()
	require.True(t, ok)
	require.Greater(t, next, ring)
	l.rings(ring - 1)
	require.Equal(t, ring, l.ring)
	l.rings(ring)
	require.Equal(t, next, l.ring)
}

// TestForgetTheFirstThatLeft: who is away for longest is forgotten first, whatever its name.
func TestForgetTheFirstThatLeft(t *testing.T) {
	c := newCalm(t)
	h := c.there.self
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for i, name := range names {
		h.linkTo(name).leftAt = int64(len(names) - i)
	}
	for _, name := range slices.Backward(names) {
		require.Contains(t, h.links, name)
		require.True(t, h.forget())
		require.NotContains(t, h.links, name)
	}
}

// TestAddressesOfTheForgotten: with a node its session is forgotten, and who has an address of that
// hears of it.
func TestAddressesOfTheForgotten(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	back := c.find(c.there, "here")
	c.sim.Run(10 * time.Minute)
	c.conns(0)
	require.NoError(t, c.there.hubDoes(&c, func(h *hub) { require.True(t, h.forget()) }))
	require.ErrorIs(t, core.Notice(tells.At(back), item{}), ErrUnreachable)
	ask := core.Begin(add.At(back), addReq{1})
	c.sim.Run(time.Millisecond)
	require.True(t, ask.Ready())
	_, err := ask.Get()
	require.ErrorIs(t, err, ErrUnreachable)
}

// hubDoes calls f in a turn of the hub.
func (n *Node) hubDoes(c *calm, f func(*hub)) error {
	_, err := housetest.Ask(c.t, c.sim, hubLook.At(n.hub), f)
	return err
}

// TestFlushOfAllLinks: who closes a node waits for each of the others.
func TestFlushOfAllLinks(t *testing.T) {
	c := newCalm(t)
	third := c.third()
	of := &counter{}
	_, err := core.SpawnWith(third.system, func() *counter { return of }, core.Props{Name: "counter"})
	require.NoError(t, err)
	c.find(c.here, "there")
	c.find(third, "there")
	far := c.find(c.there, "third")
	c.sim.Run(2 * time.Second)
	c.sim.Net.Faults.Delay = 5 * time.Millisecond
	c.tell(far, 0, 1)
	k := c.there.self.links["third"].tracks[0]
	require.True(t, k.isUnread())
	_, err = housetest.Ask(t, c.sim, hubFlush.At(c.there.hub), struct{}{})
	require.NoError(t, err)
	require.False(t, k.isUnread())
	requireInOrder(t, 1, of)
}

// TestFlushOfTheDeaf: who closes a node doesn't wait for ever for one that reads nothing.
func TestFlushOfTheDeaf(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.sim.Run(2 * time.Second)
	sys := c.there.system.(*house.System)
	c.sim.Pause(sys)
	c.tell(far, 0, 1)
	began := c.sim.Now
	_, err := housetest.Ask(t, c.sim, hubFlush.At(c.here.hub), struct{}{})
	require.NoError(t, err)
	require.True(t, c.track().isUnread())
	require.InDelta(t, flushTime, c.sim.Now-began, 1e7)
	c.sim.Resume(sys)
}

// oracle answers whoever looks an actor up, as the test says.
type oracle struct{ says core.AnyAddress }

func (o *oracle) find(s *core.AskStack[findActor, core.AnyAddress]) core.Yield {
	return s.Return(o.says)
}

var _ = core.Handle((*oracle).find).As(findMethod)

// pilgrim looks actors up at an oracle.
type pilgrim struct{ at core.AnyAddress }

func (p *pilgrim) seek(s *seekStep) core.Yield {
	findMethod.At(p.at).Ask(s, &s.found, findActor{})
	return core.Suspend(s, (*pilgrim).found)
}

func (p *pilgrim) found(s *seekStep) core.Yield { return there(&s.AskStack, &s.found) }

var pilgrims = core.Handle((*pilgrim).seek)

// TestLookupOfNobody: an answer without an actor, or with one that has stopped, is none.
func TestLookupOfNobody(t *testing.T) {
	c := newCalm(t)
	gone := core.Spawn(c.sim, func() *counter { return &counter{} })
	gone.Stop()
	c.sim.Run(time.Millisecond)
	lives := core.Spawn(c.sim, func() *counter { return &counter{} })
	for says, want := range map[core.AnyAddress]error{{}: core.ErrNotFound, gone.Any(): core.ErrNotFound, lives.Any(): nil} {
		at := core.Spawn(c.sim, func() *oracle { return &oracle{says} }).Any()
		by := core.Spawn(c.sim, func() *pilgrim { return &pilgrim{at} })
		_, err := housetest.Ask(t, c.sim, pilgrims.At(by), "")
		require.Equal(t, want, err)
	}
}

// TestOneAlarm: a link that waits for a time needs no second alarm for it.
func TestOneAlarm(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	c.sim.Run(time.Second)
	h := c.here.self
	l := h.links["there"]
	l.rings(l.ring)
	next, ok := l.Wake()
	require.True(t, ok)
	require.Equal(t, next, l.ring)
	before := h.at.Queued(h.w)
	for range 10 {
		l.settle()
	}
	require.Equal(t, before, h.at.Queued(h.w))
}
