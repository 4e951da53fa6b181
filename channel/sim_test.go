package channel_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// customer is a client in a simulation. What it gets back must be, byte by byte, the results of
// what it has asked for.
type customer struct {
	peer  *housetest.Peer
	sends []byte // not sent yet
	wants []byte // the results of all that it asks for
	got   int    // bytes of wants
	gone  bool   // it has given up, or the connection broke
	deaf  bool   // it never reads
	ended bool   // it has ended its side
	lasts bool   // its last request is the connection's last
}

// newCustomer draws what a customer asks for.
func newCustomer(rng *rand.Rand, peer *housetest.Peer, n int) *customer {
	c := &customer{peer: peer, deaf: rng.IntN(12) == 0}
	for i := range rng.IntN(2 * n) {
		switch what := rng.IntN(20); {
		case what < 2:
			fmt.Fprintf(c, "after %d late%d", rng.IntN(20), i)
			fmt.Fprintf(&wanted{c}, "late%d", i)
		case what < 3:
			fmt.Fprintf(c, "throw error%d", i)
			fmt.Fprintf(&wanted{c}, "-error%d", i)
		case what < 5:
			n := rng.IntN(1 << rng.IntN(17))
			fmt.Fprintf(c, "big %d", n)
			text := make([]byte, n)
			for i := range text {
				text[i] = 'a' + byte(i%26)
			}
			(&wanted{c}).Write(text)
		case what < 7:
			line := bytes.Repeat([]byte("long"), rng.IntN(1<<rng.IntN(14)))
			fmt.Fprintf(c, "x%s", line)
			fmt.Fprintf(&wanted{c}, "x%s", line)
		default:
			fmt.Fprintf(c, "x%d", i)
			fmt.Fprintf(&wanted{c}, "x%d", i)
		}
	}
	if rng.IntN(8) == 0 {
		fmt.Fprint(c, "last goodbye")
		fmt.Fprint(&wanted{c}, "goodbye")
		c.lasts = true
	}
	return c
}

// Write adds a request.
func (c *customer) Write(line []byte) (int, error) {
	c.sends = append(append(c.sends, line...), '\n')
	return len(line), nil
}

// wanted is a customer whose Write adds a result.
type wanted struct{ *customer }

func (w *wanted) Write(line []byte) (int, error) {
	w.wants = append(append(w.wants, line...), '\n')
	return len(line), nil
}

// act does something, or nothing. Once all is healed it does what it can.
func (c *customer) act(t *testing.T, rng *rand.Rand, healed bool) {
	if c.gone {
		return
	}
	if !healed && rng.IntN(400) == 0 {
		c.gone = true
		if rng.IntN(2) == 0 {
			c.peer.Reset()
		} else {
			c.peer.Close()
		}
		return
	}
	if n := len(c.sends); n > 0 && (healed || rng.IntN(2) == 0) {
		if !healed {
			n = min(n, 1+rng.IntN(1<<rng.IntN(16)))
		}
		c.sends = c.sends[c.peer.Write(c.sends[:n]):]
	} else if n == 0 && !c.ended && rng.IntN(4) == 0 {
		c.ended = true
		c.peer.End()
	}
	if !c.deaf && (healed || rng.IntN(2) == 0) {
		most := 1 << 20
		if !healed {
			most = 1 + rng.IntN(1<<rng.IntN(16))
		}
		b := c.peer.Read(most)
		require.LessOrEqual(t, len(b), len(c.wants)-c.got, "more results than requests: %.100q", b)
		require.Equal(t, string(c.wants[c.got:c.got+len(b)]), string(b))
		c.got += len(b)
	}
	switch err := c.peer.Err(); err {
	case nil:
	case io.EOF:
		c.gone = true
		require.True(t, c.ended || c.lasts, "the server has ended the connection")
		require.Equal(t, len(c.wants), c.got, "the server ends before all results are sent")
	default:
		c.gone = true
	}
}

// simulate serves customers over a network in which much goes wrong, then nothing any more: then
// all that aren't broken get all their results.
func simulate(t *testing.T, seed uint64) (hash uint64, served int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	sim := housetest.New(t, seed, house.Config{Workers: 1 + rng.IntN(3), Budget: rng.IntN(3), Logger: slog.New(slog.DiscardHandler)})
	sim.Steps = func() time.Duration { return time.Duration(rng.IntN(1 << rng.IntN(16))) }
	var fronts []core.Address[front]
	for _, on := range sim.Workers() {
		fronts = append(fronts, core.Spawn(on, func() *front { return &front{} }))
	}
	some := func(most int) int { return max(0, rng.IntN(2*most)-most) }
	server, err := channel.Listen(t.Context(), config{
		Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec,
		InflightMax: some(1 << rng.IntN(6)), RequestsMax: some(1 << rng.IntN(6)), ReadSize: some(1 << rng.IntN(12)),
		InputMax: some(1 << rng.IntN(20)), OutputMax: some(1 << rng.IntN(16)),
		RequestTimeout: time.Hour, WriteTimeout: time.Hour, IdleTimeout: 10 * time.Hour,
	}, serve, fronts...)
	require.NoError(t, err)
	sim.Net.Faults = housetest.Draw(rng)

	var all []*customer
	for range 1 + rng.IntN(8) {
		all = append(all, newCustomer(rng, sim.Net.Dial("127.0.0.1:80"), 1<<rng.IntN(6)))
	}
	for range rng.IntN(3000) {
		all[rng.IntN(len(all))].act(t, rng, false)
		for range rng.IntN(4) {
			sim.Turn()
		}
		if rng.IntN(100) == 0 {
			sim.Run(time.Duration(rng.IntN(1 << rng.IntN(25))))
		}
	}

	sim.Net.Faults = housetest.Faults{}
	for rounds := 0; ; rounds++ {
		open := 0
		for _, c := range all {
			c.deaf = false
			if c.act(t, rng, true); !c.gone && (len(c.sends) > 0 || c.got < len(c.wants)) {
				open++
			}
		}
		if sim.Run(time.Second); open == 0 {
			break
		}
		if rounds == 1000 {
			for i, c := range all {
				if !c.gone && (len(c.sends) > 0 || c.got < len(c.wants)) {
					t.Errorf("seed %d: customer %d waits for ever: %d of %d bytes got, %d to be sent, connected %v, %+v", seed, i, c.got, len(c.wants), len(c.sends), c.peer.Connected(), sim.Net.Faults)
				}
			}
			t.Fatalf("%+v", server.Stats())
		}
	}
	for _, c := range all {
		served += c.got
	}
	for _, c := range all {
		c.peer.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, server.Drain(ctx))
	require.Zero(t, server.Stats().Conns)
	require.Zero(t, sim.Net.Open(), "descriptors are open")
	return sim.Hash(), served
}

// seeds is how many seeds a test of simulations runs.
func seeds() uint64 {
	if n, _ := strconv.Atoi(os.Getenv("STACKHOUSE_SEEDS")); n > 0 {
		return uint64(n)
	}
	return 200
}

// TestSimulations: servers over simulated networks by seeds, each of which is run twice and must do
// the same.
func TestSimulations(t *testing.T) {
	served := 0
	for seed := range seeds() {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			hash, n := simulate(t, seed)
			again, _ := simulate(t, seed)
			require.Equal(t, hash, again, "the same seed does something else")
			served += n
		})
	}
	t.Logf("%d bytes of results", served)
	require.NotZero(t, served)
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
