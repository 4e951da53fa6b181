package channel_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// frontOpen has a front open a connection of its own, by which requests come to it.
type frontOpen struct {
	core.AskStack[struct{}, struct{}]
	conn core.Future[channel.Peer[reply]]
}

var frontOpens = core.Handle((*front).open)

func (f *front) open(s *frontOpen) core.Yield {
	channel.Connect(s, &s.conn, f.far)
	return core.Suspend(s, (*front).opened)
}

func (f *front) opened(s *frontOpen) core.Yield {
	if _, err := s.conn.Get(); err != nil {
		return s.Throw(err)
	}
	return s.Return(struct{}{})
}

// TestRequestsOfOwnConnections: what comes by a connection that an actor has opened is served as
// what comes by one that a server has accepted.
func TestRequestsOfOwnConnections(t *testing.T) {
	for _, c := range []struct {
		name, say, want string
		set             func(*config)
	}{
		{"in order", "after 9 a\nb\n", "a\nb\n", nil},
		{"by number", "1 after 9 a\n2 b\n3 tell 3\n", "2 b\n* ~ttt\n3 tell 3\n1 a\n", numbers},
		{"parts by number", "1 parts 2 3\n2 b\n", "1 abc\n1 abc\n2 b\n", numbers},
		{"alone", "after 9 a\nsolo after 9 b\nsolo c\nd\n", "a\nb\nc\nd\n", soloists},
		{"alone, by number", "1 after 9 a\n2 b\n3 solo tell 2\n4 after 9 d\n5 e\n", "2 b\n1 a\n* ~tt\n3 tell 2\n5 e\n4 d\n", func(c *config) { c.Codec = newBothCodec }},
		{"late", "1 tell 1\n2 never\n3 b\n", "* ~t\n3 b\n1 tell 1\n2 never\n", func(c *config) { c.Codec, c.AnswerTimeout = newNumberCodec, time.Second }},
		{"with little room", "parts 2 200\nlast x\n", big(200) + "\n" + big(200) + "\nx\n", func(c *config) { c.OutputMax = 100 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := housetest.New(t, 1, house.Config{Workers: 1})
			far := &channel.ConnectConfig[front, request, reply]{Handler: serve}
			far.Network, far.Address, far.Codec = "tcp", doorAddress, newLineCodec
			if c.set != nil {
				c.set(&far.Config)
			}
			door := sim.Net.Serve(doorAddress)
			at := core.Spawn(sim.Workers()[0], func() *front { return &front{far: far, parts: new(atomic.Int64)} })
			_, err := housetest.Ask(t, sim, frontOpens.At(at), struct{}{})
			require.NoError(t, err)
			p := door.Accept()
			p.Write([]byte(c.say))
			p.End() // results come all the same
			got := ""
			for range 40 {
				sim.Run(100 * time.Millisecond)
				got += string(p.Read(1000))
			}
			require.Equal(t, c.want, got)
			require.Error(t, p.Err(), "and then the end")
			p.Close()
			sim.Run(time.Second)
			require.NoError(t, at.StopWait(t.Context()))
			require.Zero(t, sim.Net.Open())
		})
	}
}
