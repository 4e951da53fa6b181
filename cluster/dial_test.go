package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
)

// TestDialThatIsOverAtOnce: a connection that is lost before anybody looks at it is a dial that has
// failed.
func TestDialThatIsOverAtOnce(t *testing.T) {
	c := newCalm(t)
	l := c.here.self.links["there"]
	c.sim.Net.Silent = map[string]bool{c.there.Addr(): true}
	find := core.Begin(c.here.Finder(), Where{"there", "/user/counter"})
	c.sim.Run(time.Millisecond)
	require.Equal(t, session.Dialling, l.State(0))
	d := &l.dials[0]
	d.opened = newConn(c.here.self, l)
	d.dialled(d.number, nil)
	require.Equal(t, session.Down, l.State(0))
	require.Empty(t, l.conns)
	c.sim.Net.Silent = nil
	c.sim.Run(time.Minute)
	_, err := find.Get()
	require.NoError(t, err)
}

// TestConnectionThatNobodyWants: a dial leads to a connection when it was given up. That is closed.
func TestConnectionThatNobodyWants(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	l := c.here.self.links["there"]
	d, conn := &l.dials[0], l.conns[0]
	require.Zero(t, d.number)
	d.opened = conn
	d.dialled(77, nil)
	c.sim.Run(time.Millisecond)
	require.Nil(t, conn.of)
}

// TestOneDialAtATime: while one is under way none begins, whatever is wanted meanwhile.
func TestOneDialAtATime(t *testing.T) {
	c := newCalm(t)
	c.sim.Net.Silent = map[string]bool{c.there.Addr(): true}
	find := core.Begin(c.here.Finder(), Where{"there", "/user/counter"})
	c.sim.Run(time.Millisecond)
	h := c.here.self
	d := &h.links["there"].dials[0]
	require.True(t, d.busy)
	before := h.at.Queued(h.w)
	d.wants(d.number)
	require.Equal(t, before, h.at.Queued(h.w))
	c.sim.Net.Silent = nil
	c.sim.Run(time.Minute)
	_, err := find.Get()
	require.NoError(t, err)
	c.conns(1)
}
