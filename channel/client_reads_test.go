package channel_test

import (
	"context"
	"fmt"
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
	if !netio.CanShare {
		t.Skip("a stream of its poller that can't be written can't be read")
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
	conn.Close()
	l.Close()
	close(gate)
	for i := range 4 {
		require.NoError(t, all[i].GetInto(func(rep *reply) { require.Len(t, rep.text, 20000) }), "reply %d", i)
	}
	_, err = all[4].Get()
	require.Error(t, err)
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
