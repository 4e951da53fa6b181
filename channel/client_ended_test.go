package channel_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/netio"
)

// TestClientAsksNobodyWhoHasEnded: what waits goes out over the next connection, though not all is
// read yet that came before the end.
func TestClientAsksNobodyWhoHasEnded(t *testing.T) {
	if !netio.CanShare {
		t.Skip("its poller tells of an end when everything before is read")
	}
	ctx, cancel := context.WithTimeout(t.Context(), lostAfter)
	defer cancel()
	l, err := net.Listen("unix", address(t, "unix"))
	require.NoError(t, err)
	defer l.Close()
	sys, err := house.New(house.Config{Workers: 1, AskTimeout: time.Hour})
	require.NoError(t, err)
	require.NoError(t, sys.Start(ctx))
	defer sys.Shutdown(ctx)
	client, err := channel.Dial(ctx, sys, clientConfig{Network: "unix", Address: l.Addr().String(), Codec: newLineClient, InflightMax: 4})
	require.NoError(t, err)
	conn, err := l.Accept()
	require.NoError(t, err)
	var all []core.Pending[reply]
	for i := range 5 {
		all = append(all, core.Begin(client.Port(), request{fmt.Appendf(nil, "x%d", i)}))
	}
	for got := 0; got < 12; {
		n, err := conn.Read(make([]byte, 100))
		require.NoError(t, err)
		got += n
	}
	gate := make(chan struct{})
	core.Notice(gateEnter.At(core.Spawn(sys, func() *gater { return &gater{} })), gate)
	gate <- struct{}{} // the worker stands
	_, err = conn.Write([]byte(strings.Repeat(strings.Repeat("y", 20000)+"\n", 4)))
	require.NoError(t, err)
	require.NoError(t, conn.(*net.UnixConn).CloseWrite())
	close(gate)
	for i := range 4 {
		require.NoError(t, all[i].GetInto(func(rep *reply) { require.Len(t, rep.text, 20000) }), "reply %d", i)
	}
	late, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Empty(t, string(late))
	next, err := l.Accept()
	require.NoError(t, err)
	n, err := next.Read(make([]byte, 100))
	require.NoError(t, err)
	require.Equal(t, len("x4\n"), n)
	_, err = next.Write([]byte("x\n"))
	require.NoError(t, err)
	require.NoError(t, all[4].GetInto(func(rep *reply) { require.Equal(t, "x", string(rep.text)) }))
	require.NoError(t, client.Close(ctx))
}
