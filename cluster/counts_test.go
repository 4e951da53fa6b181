package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
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
