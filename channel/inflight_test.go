package channel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestInflightAgainstModel plays what a connection does with its requests, in order and not.
func TestInflightAgainstModel(t *testing.T) {
	seeds := uint64(300)
	if housetest.Slow {
		seeds = 30
	}
	for seed := range seeds {
		sim := housetest.Untraced(t, seed, house.Config{Workers: 1})
		channel.PlayInflight(t, seed, sim, sim.Rest, sim.Run)
		require.NoError(t, sim.Shutdown(t.Context()))
		require.Zero(t, sim.Outstanding(), "seed %d", seed)
	}
}
