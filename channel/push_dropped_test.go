package channel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestDroppedCountsAllRefusals: Stats.Dropped has each message that a full connection refused,
// whichever worker it came from.
func TestDroppedCountsAllRefusals(t *testing.T) {
	for at := range 2 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			sim, server, shout := openHall(t, 1, 2, at, func(c *config) { c.OutputMax, c.WriteTimeout = 1000, time.Minute })
			sim.Net.Faults.Window = 100
			p := sim.Net.Dial(server.Addr())
			sim.Run(time.Millisecond)
			says(t, sim, p, "join x\n", "x\n")
			full := 0
			for range 20 {
				errs, err := housetest.Ask(t, sim, shout, strings.Repeat("m", 99))
				require.NoError(t, err)
				full += errs[core.ErrMailboxFull]
			}
			require.EqualValues(t, full, server.Stats().Dropped)
		})
	}
}
