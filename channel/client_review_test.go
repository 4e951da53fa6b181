package channel_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// hosts is a Resolve for a server with n addresses, from 10.0.0.1 on.
func hosts(n byte) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) (all []netip.Addr, err error) {
		for i := range n {
			all = append(all, netip.AddrFrom4([4]byte{10, 0, 0, i + 1}))
		}
		return all, nil
	}
}

// TestClientBesideAlone: once a request that goes alone has a connection, later ones go over
// others.
func TestClientBesideAlone(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.Conns = 2 })
	a, alone := p.ask("a"), p.ask("client-alone")
	p.accept(1)
	b := p.ask("b")
	require.Equal(t, "a\nb\n", string(p.peers[0].Read(100)))
	p.gets("client-alone\n", "1\n")
	p.is(alone, "1")
	p.peers[0].Write([]byte("2\n3\n"))
	p.Run(time.Millisecond)
	p.is(a, "2")
	p.is(b, "3")
}

// TestClientTriesTheNextWhenOneIsRefused: at once, also beside an attempt on its way.
func TestClientTriesTheNextWhenOneIsRefused(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	sim.Net.Serve("10.0.0.3:80")
	sim.Net.Silent = map[string]bool{"10.0.0.1:80": true}
	began := sim.Now
	_, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: "server:80", Codec: newLineClient, Resolve: hosts(3)})
	require.NoError(t, err)
	require.InDelta(t, 0.25, time.Duration(sim.Now-began).Seconds(), 0.05)
}

// TestClientWaitsInOrder: asks that wait go out in the order in which they came, also if more come
// than ever waited before.
func TestClientWaitsInOrder(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.InflightMax = 1 })
	var all []core.Pending[reply]
	answered := 0
	serve := func(n int) {
		for range n {
			line := fmt.Sprint(answered)
			p.gets(line+"\n", line+"\n")
			p.is(all[answered], line)
			answered++
		}
	}
	for _, n := range []int{12, 20, 100} {
		for range n {
			all = append(all, p.ask(fmt.Sprint(len(all))))
		}
		serve(9)
	}
	serve(len(all) - answered)
}

// TestClientTwoAccept: of two attempts that succeed at the same time one becomes a connection.
func TestClientTwoAccept(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, AskTimeout: 10_000 * time.Hour})
	doors := []*housetest.Door{sim.Net.Serve("10.0.0.1:80"), sim.Net.Serve("10.0.0.2:80")}
	client, err := channel.Dial(t.Context(), sim.System, clientConfig{Network: "tcp", Address: "server:80", Codec: newLineClient,
		ConnectTimeout: -1, IdleTimeout: -1, ReplyTimeout: -1, Resolve: hosts(2)})
	require.NoError(t, err)
	sim.Run(time.Second)
	doors[0].Accept().Close()
	sim.Run(time.Second)
	sim.Net.Faults.Delay = 1000 * time.Hour
	a := core.Begin(client.Port(), request{[]byte("a")})
	sim.Run(time.Second)
	require.Equal(t, 2, sim.Net.Open(), "attempts")
	sim.Net.Faults.Delay = 0
	sim.Now += int64(1000 * time.Hour)
	sim.Run(time.Second)
	require.Equal(t, 1, sim.Net.Open())
	require.EqualValues(t, 2, client.Stats().Connects)
	require.EqualValues(t, 1, client.Stats().Conns)
	for _, door := range doors {
		if peer := door.Accept(); peer != nil {
			peer.Write([]byte("x\n"))
		}
	}
	sim.Run(time.Second)
	_, err = a.Get()
	require.NoError(t, err)
}
