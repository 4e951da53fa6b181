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

// TestClientLooksUpBesideAFullMailbox: asks that fill the pool's mailbox don't keep it from looking
// its server up.
func TestClientLooksUpBesideAFullMailbox(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, AskTimeout: time.Hour, MailboxMax: 2, Budget: 1})
	door := sim.Net.Serve("10.0.0.1:80")
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: "server:80", Codec: newLineClient,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		}})
	require.NoError(t, err)
	sim.Run(time.Millisecond)
	peer := door.Accept()
	sim.Run(time.Minute)
	peer.Close()
	sim.Run(time.Millisecond)
	require.Zero(t, client.Stats().Conns)
	for range 100 {
		at := core.Spawn(sim.System, func() *flooder { return &flooder{server: client.Port()} })
		require.NoError(t, core.Notice(flooderFlood.At(at), struct{}{}))
	}
	sim.Run(time.Second)
	require.Zero(t, client.Stats().ConnectFailures)
	require.Zero(t, client.Stats().NotSent)
}

// flooder asks the server, and again if its mailbox is full.
type flooder struct {
	server core.Port[request, reply]
	asked  int
}

func (f *flooder) flood(s *floodStack) core.Yield {
	f.server.Ask(s, &s.rep, request{[]byte("a")})
	return core.Suspend(s, (*flooder).again)
}

func (f *flooder) again(s *floodStack) core.Yield {
	if _, err := s.rep.Get(); err == core.ErrMailboxFull {
		if f.asked++; f.asked < 1000 {
			return f.flood(s)
		}
	}
	return s.Return()
}

type floodStack struct {
	core.NoticeStack[struct{}]
	rep core.Future[reply]
}

var flooderFlood = core.HandleNotice((*flooder).flood)
