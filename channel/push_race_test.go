package channel_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// TestPushWhileConnectionWorks: with the race detector. An actor of another worker sends to a
// connection, while that is scheduled for what comes in.
func TestPushWhileConnectionWorks(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	defer sys.Shutdown(t.Context())
	far := core.Spawn(sys.Workers()[1], func() *hall { return &hall{} })
	near := core.Spawn(sys.Workers()[0], func() *hall { return &hall{other: hallJoin.At(far)} })
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec}, hallServe, near)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range 200 {
		_, err := io.WriteString(conn, "join x\n")
		require.NoError(t, err)
		_, err = core.Ask(t.Context(), hallShout.At(far), "y")
		require.NoError(t, err)
		for line := ""; line != "x\n"; { // and what was pushed before
			line, err = in.ReadString('\n')
			require.NoError(t, err)
		}
	}
}
