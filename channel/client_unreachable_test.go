package channel_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestClientTriesTheNextAtOnce: behind an address to which there is no way, also if another attempt
// is on its way.
func TestClientTriesTheNextAtOnce(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	sim.Net.Serve("10.0.0.3:80")
	sim.Net.Silent = map[string]bool{"10.0.0.1:80": true}
	sim.Net.Unreachable = map[string]bool{"10.0.0.2:80": true}
	began := sim.Now
	_, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: "server:80", Codec: newLineClient,
		Resolve: func(context.Context, string) (all []netip.Addr, err error) {
			for i := range byte(3) {
				all = append(all, netip.AddrFrom4([4]byte{10, 0, 0, i + 1}))
			}
			return all, nil
		}})
	require.NoError(t, err)
	require.InDelta(t, 0.25, time.Duration(sim.Now-began).Seconds(), 0.05)
}
