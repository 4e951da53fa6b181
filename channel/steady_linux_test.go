//go:build !portable

package channel_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who reads little, but always, is served to the end: the kernel asks for more only when it has
// room for much of it, and may not for longer than WriteTimeout.
func TestSteadyReaderIsServed(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		w := openWorld(t, place{network: network, workers: 1}, func(c *config) { c.OutputMax = 64 << 20 }, virtual)
		c := w.dial()
		require.NoError(t, c.Conn.(interface{ SetReadBuffer(int) error }).SetReadBuffer(128<<10))
		const size = 40 << 20
		c.send("mark", "big 41943040", "last a")
		c.expect("mark")
		w.await("the connection to be stuck", func() bool { return w.peek().StuckAt != 0 })
		some := make([]byte, 256<<10)
		got := 0
		for range 30 {
			w.pass(8 * time.Second)
			n, err := io.ReadFull(c.r, some)
			require.NoError(t, err)
			got += n
			w.pass(18 * time.Second)
			require.Zero(t, w.server.Stats().WriteTimeouts, "%s: %d bytes were read", network, got)
		}
		rest, err := io.ReadAll(c.r)
		require.NoError(t, err)
		require.Equal(t, size+len("\na\n"), got+len(rest))

		silent := w.marked()
		require.NoError(t, silent.Conn.(interface{ SetReadBuffer(int) error }).SetReadBuffer(128<<10))
		silent.send("big 41943040")
		w.await("it to be stuck", func() bool { return w.peek().StuckAt != 0 })
		_, err = io.ReadFull(silent.r, some) // what it takes now counts once
		require.NoError(t, err)
		for n := 0; w.server.Stats().WriteTimeouts == 0; n++ {
			require.Less(t, n, 100)
			w.pass(8 * time.Second) // the kernels pass a little on, at first
		}
		require.EqualValues(t, 1, w.server.Stats().WriteTimeouts, network)
	}
}
