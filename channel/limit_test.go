package channel_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConnsMax(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.ConnsMax = 3 })
		for range 3 {
			var all []*client
			for range 3 {
				c := w.dial()
				c.send("a")
				c.expect("a")
				all = append(all, c)
			}
			for range 5 {
				c := w.dial()
				c.expect("refused: channel: too many connections")
				c.expectEnd()
			}
			for _, c := range all {
				c.send("b")
				c.expect("b")
				c.Close()
			}
			w.await("room", func() bool { return w.server.Stats().Conns == 0 })
		}
		require.Equal(t, uint64(9), w.server.Stats().Accepted)
		require.Equal(t, uint64(15), w.server.Stats().Rejected)
		require.Contains(t, w.failed.last.Load(), "too many connections", "it is told")
	})
}
