package channel_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// greeter speaks first, and knows who is there.
type greeter struct {
	there map[channel.Peer[reply]]bool
	came  int
}

type (
	greetStack struct {
		core.ChannelStack[request, reply]
	}
	cameStack struct {
		core.NoticeStack[channel.Opened[reply]]
	}
	leftStack struct {
		core.NoticeStack[channel.Closed[reply]]
	}
	countStack struct{ core.AskStack[struct{}, int] }
)

var (
	greeterServes = channel.Handle((*greeter).serve).
			WithOpened(core.HandleNotice((*greeter).opened)).
			WithClosed(core.HandleNotice((*greeter).closed))
	greeterCounts = core.Handle((*greeter).count)
)

func (g *greeter) serve(s *greetStack) core.Yield {
	if !g.there[s.Peer()] {
		return s.Throw(errMark)
	}
	return s.Return(reply{s.Req.line})
}

func (g *greeter) opened(s *cameStack) core.Yield {
	g.came++
	g.there[s.Msg.Peer] = true
	s.Msg.Peer.Notice(s, reply{[]byte("hello " + s.Msg.Peer.Addr())})
	return s.Return()
}

func (g *greeter) closed(s *leftStack) core.Yield {
	delete(g.there, s.Msg.Peer)
	return s.Return()
}

func (g *greeter) count(s *countStack) core.Yield { return s.Return(g.came*100 + len(g.there)) }

// TestOpenedAndClosed: a front hears of each connection before its first request, and of its end,
// also if its mailbox is full.
func TestOpenedAndClosed(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1, Logger: slog.New(slog.DiscardHandler)})
	at, err := core.SpawnWith(sim.Workers()[0], func() *greeter { return &greeter{there: map[channel.Peer[reply]]bool{}} }, core.Props{Mailbox: core.Bounded(1, core.Reject)})
	require.NoError(t, err)
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80", Codec: newLineCodec}, greeterServes, at)
	require.NoError(t, err)
	count := func() int {
		n, err := housetest.Ask(t, sim, greeterCounts.At(at), struct{}{})
		require.NoError(t, err)
		return n
	}
	var all []*housetest.Peer
	for range 10 {
		all = append(all, sim.Net.Dial(server.Addr()))
	}
	sim.Run(time.Millisecond)
	require.Equal(t, 1010, count())
	for _, p := range all {
		require.Regexp(t, `^hello 127.0.0.1:\d+\n$`, string(p.Read(100)))
		says(t, sim, p, "x\n", "x\n")
	}
	for _, p := range all[3:] {
		p.Reset()
	}
	sim.Run(time.Millisecond)
	require.Equal(t, 1003, count())
	early := sim.Net.Dial(server.Addr()) // its request comes with the connection
	for !early.Connected() {
		sim.Turn()
	}
	says(t, sim, early, "y\n", "hello "+"127.0.0.1:40011\ny\n")
	require.NoError(t, server.Drain(t.Context()))
	require.Equal(t, 1100, count())
}
