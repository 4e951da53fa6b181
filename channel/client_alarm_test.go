package channel_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestClientPauseEnds: when it says so, though an alarm of the attempt before still waits.
func TestClientPauseEnds(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, AskTimeout: time.Hour})
	door := sim.Net.Serve("10.0.0.1:80")
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: "server:80", Codec: newLineClient,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}, nil
		}})
	require.NoError(t, err)
	sim.Run(time.Millisecond)
	door.Accept().Close()
	sim.Run(70 * time.Millisecond) // BackoffMin is 50 ms
	a := core.Begin(client.Port(), request{[]byte("a")})
	sim.Run(30 * time.Millisecond)
	peer := door.Accept()
	require.NotNil(t, peer, "no connection")
	peer.Write([]byte("x\n"))
	sim.Run(time.Millisecond)
	_, err = a.Get()
	require.NoError(t, err)
}
