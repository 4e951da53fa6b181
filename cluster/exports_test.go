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
