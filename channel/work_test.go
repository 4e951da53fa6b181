package channel_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorkMax: one request more than a connection may have handlers for is refused, in its turn;
// when there is room again others are handled.
func TestWorkMax(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.WorkMax = 2 })
		c := w.dial()
		c.send("hold 1 a", "hold 1 b", "c", "d")
		w.await("the refusals", func() bool { return w.server.Stats().Overloaded == 2 })
		w.await("both handlers", func() bool { return w.keeper.holding.Load() == 2 })
		w.letGo(1)
		c.expect("a", "b", "-stackhouse: overloaded", "-stackhouse: overloaded")
		for range 3 {
			c.send("e")
			c.expect("e")
		}
		require.EqualValues(t, 2, w.server.Stats().Overloaded)
	})
}
