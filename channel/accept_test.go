package channel_test

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
)

// servedBy asks a connection for the worker that serves it.
func (c *client) servedBy() int {
	c.t.Helper()
	c.send("worker")
	got, err := c.r.ReadString('\n')
	require.NoError(c.t, err)
	n, err := strconv.Atoi(strings.TrimSuffix(got, "\n"))
	require.NoError(c.t, err)
	return n
}

// Connections are spread: whoever accepts gives one away that another worker has far fewer of.
func TestConnectionsAreSpread(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		w := openWorld(t, place{network: network, workers: 4}, nil)
		var by [4]int
		for range 200 {
			by[w.dial().servedBy()]++
		}
		t.Log(network, by)
		require.LessOrEqual(t, slices.Max(by[:])-slices.Min(by[:]), 12)
	}
}

// A worker that is busy for long gets no new connections, and keeps nobody from others.
func TestNewConnectionsGoRoundABusyWorker(t *testing.T) {
	if !netio.CanShare {
		t.Skip("the first worker accepts for all")
	}
	for _, network := range []string{"tcp", "unix"} {
		w := openWorld(t, place{network: network, workers: 4}, nil)
		for at := range w.fronts {
			blocked := w.blocked.Load()
			gate := make(chan struct{})
			in, err := core.SpawnWith(w.system.Workers()[at], func() *front { return &front{gate: gate, blocked: &w.blocked} }, core.Props{})
			require.NoError(t, err)
			core.Notice(frontBlock.At(in), struct{}{})
			w.await("the block", func() bool { return w.blocked.Load() > blocked })
			time.Sleep(2 * time.Millisecond) // it counts as busy from then on
			var all []*client
			for range 100 {
				c := w.dial()
				require.NotEqual(t, at, c.servedBy())
				all = append(all, c)
			}
			close(gate)
			for _, c := range all {
				c.Close()
			}
			w.await("they are gone", func() bool { return w.server.Stats().Conns == 0 })
		}
	}
}

// peerOf tells who sent its lines.
type peers struct{ all []core.Peer[reply] }

type peerStack struct {
	core.ChannelStack[request, reply]
}

var servePeers = channel.Handle((*peers).serve)

func (p *peers) serve(s *peerStack) core.Yield {
	p.all = append(p.all, s.Peer())
	return s.Return(reply{[]byte(s.Peer().Addr())})
}

// Requests of one connection have one Peer, which knows the client's address, also when that is
// gone.
func TestPeer(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		w := openWorld(t, place{network: network, workers: 1}, nil)
		p := &peers{}
		at := core.Spawn(w.system.Workers()[0], func() *peers { return p })
		server, err := channel.Listen(w.ctx, config{Network: network, Address: address(t, network), Codec: newLineCodec}, servePeers, at)
		require.NoError(t, err)
		var want []string
		for range 2 {
			conn, err := net.Dial(network, server.Addr())
			require.NoError(t, err)
			c := dialed(t, conn)
			c.send("a", "b")
			addr := conn.LocalAddr().String()
			if addr == "@" {
				addr = ""
			}
			c.expect(addr, addr)
			want = append(want, addr, addr)
			c.Close()
		}
		require.NoError(t, server.Close(w.ctx))
		require.NoError(t, at.StopWait(w.ctx))
		require.Len(t, p.all, 4)
		for i, peer := range p.all {
			require.Equal(t, want[i], peer.Addr())
			for k, other := range p.all {
				require.Equal(t, i/2 == k/2, peer == other, "%d, %d", i, k)
			}
		}
		require.Equal(t, "", core.Peer[reply]{}.Addr())
	}
}
