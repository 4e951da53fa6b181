package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// TestSweepBesideTracksThatAreAway: that an actor has stopped is said by each track that is up to
// whoever knows it, though tracks and nodes before that one have no connection.
func TestSweepBesideTracksThatAreAway(t *testing.T) {
	c := newCalmOf(t, 3, 3)
	third := c.third()
	_, far := c.counters(2)
	far = append(far, c.find(third, "there"))
	for _, to := range far {
		c.tell(to, 0, 1) // so that it is declared
	}
	c.sim.Run(2 * time.Second)
	h := c.there.self
	gone := func(to core.AnyAddress) bool {
		at, _ := to.Any()
		return at.Gone()
	}
	shut := func(tracks ...int) {
		for _, n := range tracks {
			h.links["here"].tracks[n].conn.shut()
			require.Nil(t, h.links["here"].tracks[n].conn)
		}
		tell(h, on.sweep, struct{}{})
		c.sim.Run(time.Millisecond)
	}
	stop := func(name string) {
		at, err := core.Lookup[counter](c.there.system, "/user/"+name)
		require.NoError(t, err)
		at.Stop()
		c.sim.Run(time.Millisecond)
	}
	for i := range 2 {
		stop(fmt.Sprint("counter", i))
		require.False(t, gone(far[i]), "nobody has told of it")
	}
	shut(0, 1)
	require.False(t, gone(far[0]))
	require.True(t, gone(far[1]), "its track is up")

	c.sim.Run(5 * time.Second)
	c.conns(3)
	stop("counter")
	require.False(t, gone(far[2]))
	shut(0, 1, 2)
	require.True(t, gone(far[2]), "its node is there")
}

// TestSweepOfAllTracks: whoever is there hears at once which of the actors that it knows have
// stopped, by each track, whoever else was declared over it that isn't known any more.
func TestSweepOfAllTracks(t *testing.T) {
	c := newCalmOf(t, 3, 3)
	_, far := c.counters(6)
	h := c.there.self
	stop := func(i int) {
		at, err := core.Lookup[counter](c.there.system, fmt.Sprint("/user/counter", i))
		require.NoError(t, err)
		at.Stop()
		c.sim.Run(time.Millisecond)
	}
	for _, to := range far {
		c.tell(to, 0, 1) // so that it is declared
	}
	c.sim.Run(2 * time.Second)
	for i, k := range h.links["here"].tracks[1:] {
		stop(i)
		k.refs[1].house = nil // as if it had been forgotten before it was declared
		k.refs[1].ended()
	}
	gone := func(to core.AnyAddress) bool {
		at, _ := to.Any()
		return at.Gone()
	}
	for i := 2; i < 6; i++ {
		stop(i)
		require.False(t, gone(far[i]), "nobody has told of it")
	}
	tell(h, on.sweep, struct{}{})
	c.sim.Run(time.Millisecond)
	for _, to := range far {
		require.True(t, gone(to))
		at, _ := to.Any()
		require.NoError(t, at.Loss(), "it has stopped, and its node is there")
	}
}

// TestExportsAreBounded: of actors that were found, and have stopped, some twice as many are kept
// as of those that live; and one that is found again is none more.
func TestExportsAreBounded(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	h := c.there.self
	at, err := core.Lookup[counter](c.there.system, "/user/counter")
	require.NoError(t, err)
	before := h.served.exported
	h.export(at.House())
	require.Equal(t, before, h.served.exported, "it is known")
	most := 0
	for range 1000 {
		short := core.Spawn(c.there.system, func() *counter { return &counter{} })
		h.export(short.House())
		short.Stop()
		c.sim.Rest()
		most = max(most, len(h.served.actors))
	}
	require.EqualValues(t, before+1000, h.served.exported)
	require.Less(t, most, 100)
	require.Same(t, at.House(), h.served.actors[at.House().Serial()])
}
