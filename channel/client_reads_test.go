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

// TestClientReadsWhatCame: a server that replies to all it got and hangs up has replied, though
// another request can't be written any more.
func TestClientReadsWhatCame(t *testing.T) {
	repliedAndEnded(t, func(l net.Listener, conn *net.UnixConn) {
		conn.Close()
		l.Close()
	}, func(_ net.Listener, _ *net.UnixConn, fifth core.Pending[reply]) {
		_, err := fifth.Get()
		require.Error(t, err)
	})
}

// TestClientAsksNobodyWhoHasEnded: what waits goes out over the next connection, though not all is
// read yet that came before the end.
func TestClientAsksNobodyWhoHasEnded(t *testing.T) {
	repliedAndEnded(t, func(_ net.Listener, conn *net.UnixConn) {
		require.NoError(t, conn.CloseWrite())
	}, func(l net.Listener, conn *net.UnixConn, fifth core.Pending[reply]) {
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
		require.NoError(t, fifth.GetInto(func(rep *reply) { require.Equal(t, "x", string(rep.text)) }))
	})
}

// repliedAndEnded has a server reply to four requests and end, while the client's worker stands and
// a fifth request waits for room. The four must get their replies; then what became of the fifth is
// looked at.
func repliedAndEnded(t *testing.T, end func(net.Listener, *net.UnixConn), then func(net.Listener, *net.UnixConn, core.Pending[reply])) {
	if !netio.CanShare {
		t.Skip("its poller tells of an end when everything before is read, and reads nothing that can't be written")
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
	accepted, err := l.Accept()
	require.NoError(t, err)
	conn := accepted.(*net.UnixConn)
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
	end(l, conn)
	close(gate)
	for i := range 4 {
		require.NoError(t, all[i].GetInto(func(rep *reply) { require.Len(t, rep.text, 20000) }), "reply %d", i)
	}
	then(l, conn, all[4])
	require.NoError(t, client.Close(ctx))
}

type gater struct{}

func (*gater) enter(s *gateStack) core.Yield {
	<-s.Msg
	<-s.Msg
	return s.Return()
}

type gateStack struct {
	core.NoticeStack[chan struct{}]
}

var gateEnter = core.HandleNotice((*gater).enter)
