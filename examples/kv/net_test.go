package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// caller is a client in a simulated network. Its commands are about keys of its own, so that its
// model knows what they reply whatever others do.
type caller struct {
	driver
	peer  *housetest.Peer
	lives int
	sends []byte
	wants []want // of the commands that have no reply yet
	got   []byte // of the reply that is coming
}

// want is the reply that a command must get.
type want struct {
	words []string
	reply string
}

// dial gives c a new connection, and other keys: nobody knows which commands on the old ones were
// done.
func (c *caller) dial(net *housetest.Network, i int) {
	c.lives++
	c.name = fmt.Sprintf("%d-%d/", i, c.lives)
	c.model = model{keys: map[string]entryOf{}}
	c.sends, c.wants, c.got = nil, nil, nil
	c.peer = net.Dial("127.0.0.1:6379")
}

// ask draws a command.
func (c *caller) ask() {
	words := c.draw()
	reply, _ := c.model.do(words)
	c.sends = resp.AppendCommand(c.sends, words...)
	c.wants = append(c.wants, want{words, reply})
}

// act writes and reads a part, or everything. It reports false if the connection has broken.
func (c *caller) act(t *testing.T, all bool) bool {
	n, most := len(c.sends), 1<<20
	if !all {
		n, most = min(n, c.rng.IntN(1<<c.rng.IntN(16))), c.rng.IntN(1<<c.rng.IntN(16))
	}
	c.sends = c.sends[c.peer.Write(c.sends[:n]):]
	c.got = append(c.got, c.peer.Read(most)...)
	for len(c.got) > 0 {
		var v resp.Value
		n, err := resp.DecodeReply(c.got, &v, resp.Limits{})
		require.NoError(t, err)
		if n == 0 {
			break
		}
		require.NotEmpty(t, c.wants, "a reply to nothing: %.100q", c.got)
		w := c.wants[0]
		require.True(t, agrees(flat(c.got[:n]), w.reply, 0), "%.100q: %.100q, want %.100q", w.words, c.got[:n], w.reply)
		c.wants, c.got = c.wants[1:], c.got[n:]
	}
	return c.peer.Err() == nil
}

// serveWorld serves random clients over a network in which much goes wrong, then nothing any more.
func serveWorld(t *testing.T, seed uint64) (hash uint64, replies int) {
	rng := rand.New(rand.NewPCG(seed, 5))
	sim := housetest.New(t, seed, house.Config{Workers: 1 + rng.IntN(3), Budget: rng.IntN(4), Logger: slog.New(slog.DiscardHandler)})
	sim.Steps = func() time.Duration { return time.Duration(rng.IntN(1 << rng.IntN(14))) }
	s := &service{system: sim.System, cluster: newStores(sim.System, seed, 1)}
	s.secret.set("")
	require.NoError(t, listen(t.Context(), s, options{network: "tcp", address: "127.0.0.1:6379", seed: seed}))
	s.opened.Store(true)

	sim.Net.Faults = housetest.Draw(rng)
	all := make([]*caller, 1+rng.IntN(6))
	for i := range all {
		all[i] = &caller{driver: driver{stores: s.cluster, rng: rng}}
		all[i].dial(sim.Net, i)
	}
	for range rng.IntN(1000) {
		i := rng.IntN(len(all))
		c := all[i]
		for range rng.IntN(1 << rng.IntN(5)) {
			c.ask()
		}
		if !c.act(t, false) {
			c.dial(sim.Net, i)
		}
		for range rng.IntN(4) {
			sim.Turn()
		}
		if rng.IntN(50) == 0 {
			sim.Run(time.Duration(rng.IntN(1 << rng.IntN(25))))
		}
	}
	sim.Net.Faults = housetest.Faults{}
	for rounds := 0; ; rounds++ {
		waiting := 0
		for i, c := range all {
			if !c.act(t, true) {
				c.dial(sim.Net, i) // it broke before
			}
			waiting += len(c.wants)
		}
		if waiting == 0 {
			break
		}
		require.Less(t, rounds, 1000, "seed %d: %d commands are never replied to", seed, waiting)
		sim.Run(10 * time.Millisecond)
	}
	for i, c := range all { // what they know is there
		for range 20 {
			c.ask()
		}
		for range 100 {
			require.True(t, c.act(t, true), "seed %d, client %d", seed, i)
			sim.Run(time.Millisecond)
		}
		require.Empty(t, c.wants)
		replies += len(c.model.keys)
		c.peer.Close()
	}
	require.NoError(t, s.server.Drain(t.Context()))
	sim.Run(3 * time.Second)
	require.Zero(t, sim.Net.Open())
	return sim.Hash(), replies
}

// TestSimulatedNetwork: clients of the whole cache, over simulated networks by seeds. Each seed is
// run twice and must do the same.
func TestSimulatedNetwork(t *testing.T) {
	keys := 0
	seeds := uint64(100)
	if housetest.Slow {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			hash, n := serveWorld(t, seed)
			again, _ := serveWorld(t, seed)
			require.Equal(t, hash, again, "two runs differ")
			keys += n
		})
	}
	require.NotZero(t, keys)
}
