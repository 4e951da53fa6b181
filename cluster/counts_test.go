package cluster

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// listens spawns an actor that is told of a node's gaps, beside it.
func (n *Node) listens(c *calm) *gauge {
	g := &gauge{}
	n.Gaps.Subscribe(gaugeGap.At(core.Spawn(n.system, func() *gauge { return g })))
	c.sim.Run(time.Millisecond)
	return g
}

// loses gives up the session of two nodes, with so many notices that have left and don't come.
func (c *calm) loses(to core.AnyAddress, n int) {
	address := c.there.Addr()
	c.sim.Net.Unreachable = map[string]bool{address: true}
	c.sim.Net.Break(address)
	for i := range n {
		require.NoError(c.t, core.Notice(tells.At(to), item{N: i}))
	}
	c.sim.Run(time.Minute)
	c.sim.Net.Unreachable = nil
}

// TestG13CountsOfALife: notices are counted for two lives. A new one isn't told of what the one
// before has missed; and what it misses, or the other end does of it, is counted from its begin.
func TestG13CountsOfALife(t *testing.T) {
	c := newCalm(t)
	far, back := c.find(c.here, "there"), c.find(c.there, "here")
	for i := range 10 {
		require.NoError(t, core.Notice(tells.At(far), item{N: i}))
		require.NoError(t, core.Notice(tells.At(back), item{N: i}))
	}
	c.sim.Run(time.Second)
	require.NoError(t, c.there.Close(t.Context()))
	again, err := Start(t.Context(), c.there.system, Config{Name: "there", Listen: c.there.Addr(), Plaintext: true, Incarnation: 2})
	require.NoError(t, err)
	c.there = again
	heardHere, heardThere := c.here.listens(&c), c.there.listens(&c)

	far, back = c.find(c.here, "there"), c.find(c.there, "here")
	for i := range 2 {
		require.NoError(t, core.Notice(tells.At(far), item{N: i}))
		require.NoError(t, core.Notice(tells.At(back), item{N: i}))
	}
	c.sim.Run(time.Second)
	require.Empty(t, heardThere.heard)
	c.loses(far, 3)
	c.find(c.here, "there")
	c.sim.Run(time.Second)
	require.Equal(t, []heard{{gap: Gap{"here", 3, 5}}}, heardThere.heard)
	require.Empty(t, heardHere.heard)

	c.loses(c.find(c.there, "here"), 4)
	c.find(c.here, "there")
	c.sim.Run(time.Second)
	require.Equal(t, []heard{{gap: Gap{"there", 3, 6}}}, heardHere.heard)
}

// TestG13CountsOfTheForgotten: who forgets a node, as too many are known, still knows how many
// notices they have told each other, as long as that life of the node lasts.
func TestG13CountsOfTheForgotten(t *testing.T) {
	for _, what := range []string{"the same life", "a new life"} {
		t.Run(what, func(t *testing.T) {
			c := newCalm(t)
			heardHere, heardThere := c.here.listens(&c), c.there.listens(&c)
			far, back := c.find(c.here, "there"), c.find(c.there, "here")
			for i := range 10 {
				require.NoError(t, core.Notice(tells.At(far), item{N: i}))
				require.NoError(t, core.Notice(tells.At(back), item{N: i}))
			}
			c.sim.Run(10 * time.Minute)
			c.conns(0)
			require.True(t, c.there.self.forget())
			before := uint64(10)
			if what == "a new life" {
				before = 0
				require.NoError(t, c.here.Close(t.Context()))
				again, err := Start(t.Context(), c.here.system, Config{Name: "here", Peers: map[string]string{"there": c.there.Addr()}, Plaintext: true, Incarnation: 2})
				require.NoError(t, err)
				c.here = again
				heardHere = again.listens(&c)
			} else {
				_, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/counter"})
				require.ErrorIs(t, err, ErrUnreachable, "the session is over at one end")
			}
			far = c.find(c.here, "there")
			require.Empty(t, c.there.self.counts.names)
			c.loses(far, 3)
			c.find(c.here, "there")
			back = c.find(c.there, "here")
			c.loses(back, 4)
			c.find(c.here, "there")
			c.sim.Run(time.Second)
			require.Equal(t, []heard{{gap: Gap{"here", before + 1, before + 3}}}, heardThere.heard)
			require.Equal(t, []heard{{gap: Gap{"there", before + 1, before + 4}}}, heardHere.heard)
		})
	}
}

// TestCountsAreBounded: of a node of which nothing is to be counted nothing is kept, and of others
// those that were forgotten last.
func TestCountsAreBounded(t *testing.T) {
	var f forgotten
	name := strconv.Itoa
	f.keep("nothing", counts{life: 1})
	for i := range forgottenMax + 2 {
		f.keep(name(i), counts{life: 1, got: uint64(i + 1)})
	}
	require.Len(t, f.counts, forgottenMax)
	require.Len(t, f.names, forgottenMax)
	for i, got := range map[int]uint64{0: 0, 1: 0, 2: 3, 7: 8, forgottenMax + 1: forgottenMax + 2} {
		require.Equal(t, got, f.take(name(i)).got, "%d", i)
		require.Zero(t, f.take(name(i)), "%d, again", i)
	}
	require.Len(t, f.names, forgottenMax-3)
	f.keep(name(2), counts{life: 1, wrote: 1})
	require.Equal(t, name(2), f.names[len(f.names)-1])
	require.Equal(t, name(3), f.names[0])
}
