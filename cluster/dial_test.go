package cluster

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
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

// TestAddressOfAnother: a node whose address is that of another one isn't reached, and the session
// with that one goes on.
func TestAddressOfAnother(t *testing.T) {
	conf := house.Config{AskTimeout: time.Minute, Logger: slog.New(slog.DiscardHandler)}
	sim := housetest.New(t, 1, conf)
	there, err := Start(t.Context(), sim.Beside(t, conf), Config{Name: "there", Listen: "127.0.0.1:7400", Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	here, err := Start(t.Context(), sim, Config{Name: "here", Peers: map[string]string{"there": there.Addr(), "east": there.Addr()}, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	of := &counter{}
	_, err = core.SpawnWith(there.system, func() *counter { return of }, core.Props{Name: "counter"})
	require.NoError(t, err)
	c := calm{t: t, sim: sim, here: here, there: there}
	far := c.find(here, "there")
	for i := range 10 {
		require.NoError(t, core.Notice(tells.At(far), item{N: i}))
		sim.Run(time.Minute)
	}
	for _, idle := range []bool{true, false} { // with a connection, and without one
		if idle {
			sim.Run(10 * time.Minute)
		}
		c.conns(map[bool]int{true: 0, false: 1}[idle])
		_, err = housetest.Ask(t, sim, here.Finder(), Where{"east", "/user/counter"})
		require.ErrorIs(t, err, ErrUnreachable)
		require.NoError(t, core.Notice(tells.At(far), item{N: 10}))
		sim.Run(time.Second)
	}
	require.Len(t, of.numbers(), 12)
	require.EqualValues(t, 1, here.self.links["there"].Session())
	_, err = here.Lookup(t.Context(), "east", "/user/counter")
	require.ErrorContains(t, err, errUnheard.Error())
}
