package channel_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// porter notes who comes, asks and goes, by their addresses. A line "change" has the connection
// speak lines anew.
type porter struct {
	log  []string
	next *channel.Protocol[porter, request, reply]
}

type (
	porterLine struct {
		core.ChannelStack[request, reply]
	}
	porterOpened struct {
		core.NoticeStack[channel.Opened[reply]]
	}
	porterClosed struct {
		core.NoticeStack[channel.Closed[reply]]
	}
)

var (
	porterOpens  = core.HandleNotice((*porter).opened)
	porterCloses = core.HandleNotice((*porter).closed)
	porterServes = channel.Handle((*porter).line).WithOpened(porterOpens).WithClosed(porterCloses)
)

func (p *porter) note(what, addr string) {
	if at := netip.MustParseAddrPort(addr); at.Addr().IsLoopback() {
		addr = "proxy" // its port is the network's
	}
	p.log = append(p.log, what+" "+addr)
}

func (p *porter) opened(s *porterOpened) core.Yield {
	p.note("opened", s.Msg.Peer.Addr())
	return s.Return()
}

func (p *porter) closed(s *porterClosed) core.Yield {
	p.note("closed", s.Msg.Peer.Addr())
	return s.Return()
}

func (p *porter) line(s *porterLine) core.Yield {
	p.note(string(s.Req.line), s.Peer().Addr())
	if string(s.Req.line) == "change" {
		channel.Upgrade(s, p.next)
	}
	return s.Return(reply{s.Req.line})
}

// openPorter has a simulation serve a porter behind the proxies in a prefix.
func openPorter(t *testing.T, seed uint64, prefix string) (*housetest.Sim, *channel.Server[request, reply], *porter) {
	sim := housetest.New(t, seed, house.Config{Workers: 1})
	next, err := channel.NewProtocol(config{Network: "tcp", Codec: newLineCodec}, porterServes)
	require.NoError(t, err)
	p := &porter{next: next}
	at := core.Spawn(sim.Workers()[0], func() *porter { return p })
	server, err := channel.Listen(t.Context(), config{
		Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec, ReadSize: 10,
		Stages: one(stage.Proxied(netip.MustParsePrefix(prefix))),
	}, porterServes, at)
	require.NoError(t, err)
	return sim, server, p
}

const proxyHeader = "PROXY TCP4 1.2.3.4 5.6.7.8 1234 80\r\n"

// TestProxied: the front hears of a connection when the proxy has said whose it is, and before its
// first request; the address stays, also of what the connection becomes.
func TestProxied(t *testing.T) {
	sim, server, porter := openPorter(t, 1, "127.0.0.0/8")
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Second)
	require.Empty(t, porter.log)
	p.Write([]byte(proxyHeader + "a\nchange\n"))
	sim.Run(time.Second)
	p.Write([]byte("b\n"))
	sim.Run(time.Second)
	require.Equal(t, "a\nchange\nb\n", string(p.Read(100)))
	p.Close()
	sim.Run(time.Second)
	require.Equal(t, "opened 1.2.3.4:1234,a 1.2.3.4:1234,change 1.2.3.4:1234,closed 1.2.3.4:1234,"+
		"opened 1.2.3.4:1234,b 1.2.3.4:1234,closed 1.2.3.4:1234", strings.Join(porter.log, ","))
	require.NoError(t, server.Close(t.Context()))
}

// TestProxiedOpensNothing: nobody hears of connections that end before.
func TestProxiedOpensNothing(t *testing.T) {
	sim, server, porter := openPorter(t, 1, "127.0.0.0/8")
	for _, say := range []string{"", "PROXY TCP4", "GET / HTTP/1.1\r\n"} {
		for _, end := range []bool{true, false} {
			p := sim.Net.Dial(server.Addr())
			p.Write([]byte(say))
			sim.Run(time.Millisecond)
			p.Write([]byte(say))
			sim.Run(time.Millisecond)
			if end {
				p.End()
			}
			sim.Run(10 * time.Second)
			require.Error(t, p.Err(), say)
			p.Close()
		}
	}
	require.Empty(t, porter.log)
	require.Zero(t, server.Stats().Conns)
	require.NoError(t, server.Close(t.Context()))
}

// TestProxiedDirectly: who is no proxy is taken as they are.
func TestProxiedDirectly(t *testing.T) {
	sim, server, porter := openPorter(t, 1, "10.0.0.0/8")
	p := sim.Net.Dial(server.Addr())
	sim.Run(time.Millisecond)
	require.Equal(t, []string{"opened proxy"}, porter.log)
	p.Write([]byte(proxyHeader))
	p.Close()
	sim.Run(time.Second)
	require.Equal(t, []string{"opened proxy", strings.TrimSpace(proxyHeader) + "\r proxy", "closed proxy"}, porter.log)
	require.NoError(t, server.Close(t.Context()))
}
