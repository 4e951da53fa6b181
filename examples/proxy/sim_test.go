package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// party is one end of what a proxy connects.
type party struct {
	*housetest.Peer
	out, got []byte
	sent     int
}

// TestOverBadNetworks: whatever delays, pieces and windows there are, each end gets what the other
// one has sent. Then one ends its side, the other one hears of it, and says something more, which
// arrives, too. Then nothing stays open.
func TestOverBadNetworks(t *testing.T) {
	const pairs = 3
	seeds := uint64(100)
	if housetest.Slow {
		seeds = 20
	}
	for seed := range seeds {
		sim, rng := housetest.New(t, seed, house.Config{Workers: 3}), rand.New(rand.NewPCG(seed, 1))
		const behind = "10.0.0.1:80"
		door := sim.Net.Serve(behind)
		server := serve(t.Context(), sim.System, "127.0.0.1:7110", behind)
		sim.Net.Faults = housetest.Draw(rng)
		sim.Net.Faults.Resets, sim.Net.Faults.Descriptors = 0, 0
		most := 10_000
		if seed%10 == 0 { // more than the proxy and a window hold
			sim.Net.Faults, most = housetest.Faults{Delay: time.Millisecond, Window: 50_000}, 500_000
		}
		var all [pairs][2]party // of each pair the client and the server
		turn := func() {
			require.Less(t, sim.Now, int64(time.Hour), "seed %d", seed)
			sim.Run(time.Duration(rng.IntN(2000)) * time.Microsecond)
			for i := range all {
				for k := range all[i] {
					if c := &all[i][k]; c.Peer != nil {
						c.sent += c.Write(c.out[c.sent:][:min(len(c.out)-c.sent, rng.IntN(30_000))])
						c.got = append(c.got, c.Read(rng.IntN(30_000))...)
					}
				}
			}
		}
		for i := range all { // one after the other, so that it is known whose server is whose
			all[i][0] = party{Peer: sim.Net.Dial(server.Addr()), out: draw(rng, 1+rng.IntN(most))}
			all[i][1] = party{out: draw(rng, rng.IntN(most))}
			for all[i][1].Peer == nil {
				turn()
				all[i][1].Peer = door.Accept()
			}
		}
		for i := range all {
			client, server := &all[i][0], &all[i][1]
			for len(client.got) < len(server.out) || len(server.got) < len(client.out) {
				turn()
			}
			require.True(t, bytes.Equal(client.out, server.got), "seed %d: %d bytes up", seed, len(client.out))
			require.True(t, bytes.Equal(server.out, client.got), "seed %d: %d bytes down", seed, len(server.out))
		}
		for i := range all {
			ends, hears := &all[i][0], &all[i][1]
			if rng.IntN(2) == 0 {
				ends, hears = hears, ends
			}
			ends.End()
			for hears.Err() == nil {
				turn()
			}
			more := draw(rng, rng.IntN(most))
			hears.out = append(hears.out, more...)
			for hears.sent < len(hears.out) {
				turn()
			}
			hears.End()
			for ends.Err() == nil {
				turn()
			}
			require.Equal(t, io.EOF, ends.Err(), "seed %d", seed)
			require.True(t, bytes.Equal(hears.out, ends.got), "seed %d: %d bytes behind the end", seed, len(more))
			hears.Close()
			ends.Close()
		}
		sim.Run(time.Minute)
		require.Zero(t, server.Stats().Conns, "seed %d", seed)
		door.Close()
		require.NoError(t, sim.Shutdown(t.Context()))
		require.Zero(t, sim.Net.Open(), "seed %d", seed)
	}
}

// TestLastBytesWait: a client has ended, and its server gets all that it has sent, though it reads
// nothing for a while.
func TestLastBytesWait(t *testing.T) {
	for seed := range uint64(100) {
		sim, rng := housetest.New(t, seed, house.Config{Workers: 3}), rand.New(rand.NewPCG(seed, 1))
		const behind = "10.0.0.1:80"
		door := sim.Net.Serve(behind)
		client := sim.Net.Dial(serve(t.Context(), sim.System, "127.0.0.1:7110", behind).Addr())
		sim.Net.Faults.Window = 1 + rng.IntN(100_000)
		text := draw(rng, 1_000_000)
		sent := 0
		for n := 1; n > 0 || sent == 0; sim.Run(time.Second) {
			n = client.Write(text[sent:])
			sent += n
		}
		require.Less(t, sent, len(text), "seed %d: somebody keeps it", seed)
		server := door.Accept()
		got := server.Read(1 + rng.IntN(sent)) // room for what waits, or not
		client.End()
		sim.Run(time.Second)
		for server.Err() == nil {
			got = append(got, server.Read(len(text))...)
			sim.Run(time.Millisecond)
		}
		require.True(t, bytes.Equal(text[:sent], got), "seed %d: %d bytes, want %d", seed, len(got), sent)
		server.Close()
		client.Close()
		door.Close()
		require.NoError(t, sim.Shutdown(t.Context()))
	}
}
