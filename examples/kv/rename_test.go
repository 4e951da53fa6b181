package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// TestGoneAmongSteps: clients that go while commands of several steps are under
// way, and others wait behind them, lose nothing and leave nothing behind.
func TestGoneAmongSteps(t *testing.T) {
	each(t, func(t *testing.T, workers int) {
		seed := uint64(time.Now().UnixNano())
		rng := rand.New(rand.NewPCG(seed, 1))
		w := openWorld(t, workers, options{seed: seed})
		keys := w.dial()
		keys.do("SET", "k", "v")
		for i := range 10 {
			require.Equal(t, ":1", keys.do("HSET", fmt.Sprint("k", i), "f", "v"))
		}
		for i := range 50 {
			c := w.dial()
			var text []byte
			for j := range 60 { // nothing is overwritten, and no new key is made
				from, to := fmt.Sprint("k", rng.IntN(10)), fmt.Sprint("x", i, ".", j)
				text = resp.AppendCommand(text, "RENAME", from, to)
				text = resp.AppendCommand(text, "RENAMENX", to, from)
				text = resp.AppendCommand(text, "MSETNX", "k", "v", "other", "v", "third", "v")
				text = resp.AppendCommand(text, "HLEN", from)
			}
			c.send(text)
			for range rng.IntN(100) {
				_, err := c.next()
				require.NoError(t, err)
			}
			c.Close()
		}
		for began := time.Now(); w.server.Stats().Conns > 1; {
			require.Less(t, time.Since(began), lostAfter, "seed %d: connections stay", seed)
		}
		require.Equal(t, ":11", keys.do("DBSIZE"), "seed %d", seed)
	})
}
