package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
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
