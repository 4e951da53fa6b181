package channel_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// run is what came of a run: the same plan must come to the same.
type run struct {
	hash   uint64 // of its events, if it is traced
	events int
	now    int64 // when it ended
	served int   // bytes of results
	ends   map[string]int

	watched int // connections
}

// simulated makes the simulation of a run.
func simulated(t testing.TB, seed uint64, untraced bool, steps int, rng *rand.Rand, c house.Config) *housetest.Sim {
	c.Logger = slog.New(slog.DiscardHandler)
	if untraced {
		return housetest.Untraced(t, seed, c)
	}
	sim := housetest.New(t, seed, c)
	if steps > 0 {
		sim.Steps = func() time.Duration { return time.Duration(rng.IntN(steps)) }
	}
	return sim
}

// orDefault is d, shortest at least, unless that is zero.
func orDefault(d, zero time.Duration) time.Duration {
	if d == 0 {
		return zero
	}
	return max(shortest, d)
}

// simulate serves customers over a network in which much goes wrong, then nothing any more: then
// all that aren't broken get all their results.
func simulate(t testing.TB, p serverPlan) run {
	rng := rand.New(rand.NewPCG(p.Seed, 3))
	sim := simulated(t, p.Seed, p.Untraced, p.Steps, rng, house.Config{Workers: max(1, p.Workers), Budget: p.Budget})
	var fronts []core.Address[front]
	watch := core.Spawn(sim.Workers()[0], func() *lookout { return &lookout{ended: map[channel.Peer[reply]]int{}} })
	for _, on := range sim.Workers() {
		fronts = append(fronts, core.Spawn(on, func() *front { return &front{parts: &atomic.Int64{}, joins: lookoutJoins.At(watch)} }))
	}
	l := p.Limits
	server, err := channel.Listen(t.Context(), config{
		Network: "tcp", Address: "127.0.0.1:80", Codec: codecOf(&p), Stages: whimsOf(p.Seed, p.Whims),
		InflightMax: l.InflightMax, RequestsMax: l.RequestsMax, ReadSize: l.ReadSize, InputMax: l.InputMax, OutputMax: l.OutputMax, ConnsMax: l.ConnsMax,
		RequestTimeout: orDefault(l.RequestTimeout, time.Hour), WriteTimeout: time.Hour, IdleTimeout: orDefault(l.IdleTimeout, 10*time.Hour),
	}, serve, fronts...)
	require.NoError(t, err)
	sim.Net.Faults = p.Faults

	rules := rulesOf(&p)
	var all []*customer
	for _, c := range p.Customers {
		all = append(all, newCustomer(p.Seed, c, rules))
	}
	dial := func(moment int) {
		for _, c := range all {
			if c.peer == nil && c.At <= moment {
				c.peer = sim.Net.Dial("127.0.0.1:80")
			}
		}
	}
	for moment := range p.Moments {
		if dial(moment); len(all) > 0 {
			all[rng.IntN(len(all))].act(t, false)
		}
		for range rng.IntN(4) {
			sim.Turn()
		}
		if rng.IntN(100) == 0 {
			sim.Run(time.Duration(rng.IntN(1 << rng.IntN(27))))
		}
	}
	dial(max(p.Moments, 1<<30))
	sim.Net.Faults = housetest.Faults{}
	heal(t, sim, server, all)

	r := run{ends: map[string]int{}}
	for _, c := range all {
		r.served += c.got
		r.ends[c.how]++
		if c.slips != nil {
			r.ends["overtaken"] += c.slips.overtook
		}
		c.peer.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, server.Drain(ctx))
	require.Zero(t, server.Stats().Conns)
	require.Zero(t, sim.Net.Open(), "descriptors are open")
	counts, err := housetest.Ask(t, sim, lookoutAsks.At(watch), "")
	require.NoError(t, err)
	for _, n := range counts {
		require.True(t, n == 1 || n == 2, "an end is heard of %d times; twice if the lookout came too late", n)
	}
	r.watched = len(counts)
	r.hash, r.events, r.now = sim.Hash(), sim.Events(), sim.Now
	return r
}

// codecOf is what makes the codecs of a server.
func codecOf(p *serverPlan) func() channel.Codec[request, reply] {
	switch {
	case p.Unordered && p.Alone:
		return newBothCodec
	case p.Unordered:
		return newNumberCodec
	case p.Alone:
		return newSoloCodec
	}
	return newLineCodec
}

// heal lets time pass until all customers have what they wait for.
func heal(t testing.TB, sim *housetest.Sim, server *server, all []*customer) {
	for range 1000 {
		open := 0
		for _, c := range all {
			if c.act(t, true); c.waits() {
				open++
			}
		}
		if sim.Run(time.Second); open == 0 {
			return
		}
	}
	for _, c := range all {
		if c.waits() {
			t.Errorf("customer %d waits for ever: %d of %d bytes got, %d to be sent, connected %v", c.ID, c.got, len(c.wants), len(c.sends), c.peer.Connected())
		}
	}
	t.Fatalf("%+v", server.Stats())
}

// seeds is how many seeds a test of simulations runs.
func seeds() uint64 {
	if n, _ := strconv.Atoi(os.Getenv("STACKHOUSE_SEEDS")); n > 0 {
		return uint64(n)
	}
	if housetest.Slow {
		return 50
	}
	return 500
}

// few reports whether n seeds don't meet all that can happen, or a plan runs alone.
func few(n uint64) bool { return n < 500 || os.Getenv("STACKHOUSE_PLAN") != "" }

// TestSimulations: servers over simulated networks by seeds, each of which is run twice and must do
// the same.
func TestSimulations(t *testing.T) { simulateServers(t, seeds()) }

func simulateServers(t *testing.T, n uint64) {
	served, events, watched, ends := 0, 0, 0, map[string]int{}
	housetest.Simulate(t, n, drawServer, func(t testing.TB, p serverPlan) {
		r := simulate(t, p)
		require.Equal(t, r, simulate(t, p), "the same plan does something else")
		served, events, watched = served+r.served, events+r.events, watched+r.watched
		for how, n := range r.ends {
			ends[how] += n
		}
	})
	t.Logf("%d bytes of results, %d events, %d connections watched, connections that ended %v", served, events, watched, ends)
	for _, how := range []string{"in order", "gave up", "broken", "idle", "overtaken", refusal(channel.ErrConnsMax), refusal(channel.ErrSlowRequest)} {
		require.True(t, ends[how] > 0 || few(n), "no connection ended so: "+how)
	}
}

// TestFullConnectionsRest: connections whose clients take nothing wait for that, and not for room
// in Config.RequestsMax: they would wake each other for ever.
func TestFullConnectionsRest(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	at := core.Spawn(sim.Workers()[0], func() *front { return &front{} })
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec,
		RequestsMax: 1, OutputMax: 1000}, serve, at)
	require.NoError(t, err)
	sim.Net.Faults.Window = 1000
	var peers []*housetest.Peer
	send := func(peer *housetest.Peer, request string) {
		require.Equal(t, len(request), peer.Write([]byte(request)))
		sim.Run(time.Millisecond)
	}
	for i := range 3 {
		peers = append(peers, sim.Net.Dial(server.Addr()))
		if sim.Run(time.Millisecond); i < 2 {
			send(peers[i], "big 3000\nbig 3000\n")
		}
	}
	send(peers[2], "after 50 x\n")
	for _, peer := range peers[:2] { // they wait in line behind the third
		send(peer, "big 3000\n")
	}
	sim.Now += int64(time.Second)
	for turns := 0; sim.Workers()[0].Turn(); turns++ {
		require.Less(t, turns, 1000, "the server doesn't rest")
	}
	require.Equal(t, "x\n", string(peers[2].Read(10)))
	require.NoError(t, server.Close(t.Context()))
}
