package main

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestEchoOverBadNetworks: whatever pieces and delays there are, clients get what they have sent.
func TestEchoOverBadNetworks(t *testing.T) {
	const clients, most = 3, 20_000
	seeds := uint64(100)
	if housetest.Slow {
		seeds = 20
	}
	for seed := range seeds {
		sim, rng := housetest.New(t, seed, house.Config{Workers: 3}), rand.New(rand.NewPCG(seed, 1))
		length := []int{0, 1 + rng.IntN(2000)}[rng.IntN(2)]
		address := serve(t.Context(), sim.System, "tcp", "127.0.0.1:7090", length, nil)
		sim.Net.Faults = housetest.Draw(rng)
		sim.Net.Faults.Resets, sim.Net.Faults.Descriptors = 0, 0
		var all [clients]struct {
			*housetest.Peer
			text, sent, got []byte
		}
		for i := range all {
			all[i].Peer, all[i].text = sim.Net.Dial(address), draw(rng, rng.IntN(most))
		}
		for over := 0; over < clients; {
			require.Less(t, sim.Now, int64(time.Hour), "seed %d", seed)
			over = 0
			for i := range all {
				c := &all[i]
				n := len(c.sent) + c.Write(c.text[len(c.sent):][:min(len(c.text)-len(c.sent), rng.IntN(5000))])
				if c.sent = c.text[:n]; n == len(c.text) && c.Connected() {
					c.End()
				}
				c.got = append(c.got, c.Read(rng.IntN(5000))...)
				if c.Err() != nil {
					over++
				}
			}
			sim.Run(time.Duration(rng.IntN(1000)) * time.Microsecond)
		}
		for i, c := range all {
			want := c.text
			if length > 0 {
				want = want[:len(want)/length*length]
			}
			require.True(t, bytes.Equal(want, c.got), "seed %d, client %d, length %d: %d bytes, want %d", seed, i, length, len(c.got), len(want))
			c.Close()
		}
		require.NoError(t, sim.Shutdown(t.Context()))
		require.Zero(t, sim.Net.Open(), "seed %d", seed)
	}
}
