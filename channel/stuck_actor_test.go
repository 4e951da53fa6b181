package channel_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// slug answers one line after the other, each after a while; window passes a connection's lines on
// to it.
type (
	slug      struct{ takes *time.Duration }
	slugStack struct {
		core.AskStack[string, string]
		tick core.Future[core.Tick]
	}
	window      struct{ slug core.Port[string, string] }
	windowStack struct {
		core.ChannelStack[request, reply]
		done core.Future[string]
	}
)

var (
	slugDoes     = core.Handle((*slug).do)
	windowServes = channel.Handle((*window).serve)
)

func (g *slug) do(s *slugStack) core.Yield {
	if *g.takes == 0 {
		return g.done(s)
	}
	core.Timer.Ask(s, &s.tick, *g.takes)
	return core.Suspend(s, (*slug).done)
}

func (g *slug) done(s *slugStack) core.Yield { return s.Return(s.Req) }

func (w *window) serve(s *windowStack) core.Yield {
	w.slug.Ask(s, &s.done, string(s.Req.line))
	return core.Suspend(s, (*window).served)
}

func (w *window) served(s *windowStack) core.Yield {
	text, err := s.done.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(reply{[]byte(text)})
}

// TestG7SlowActorStopsReading: clients send far more than fits to fronts that ask one actor, which
// does nothing for a while, then one thing a millisecond. With the defaults of server and mailbox
// no ask is refused: connections aren't read, so that the clients wait, and what the server has
// taken from them is bounded, and so is its memory. Once the actor is fast all is answered, in
// order.
func TestG7SlowActorStopsReading(t *testing.T) {
	const (
		clients, lines, size = 30, 1200, 1000
		room                 = 32 << 10 // of the network, for each connection and way
		mailbox              = 1024     // the default
		requests             = mailbox / 4 * 3
		readSize             = 16 << 10
	)
	sim := housetest.Untraced(t, 1, house.Config{Workers: 3, AskTimeout: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	sim.Net.Faults.Window = room
	takes := time.Millisecond
	workers := sim.Workers()
	at, err := core.SpawnWith(workers[2], func() *slug { return &slug{&takes} }, core.Props{Serial: true})
	require.NoError(t, err)
	var fronts []core.Address[window]
	for _, on := range workers[:2] {
		fronts = append(fronts, core.Spawn(on, func() *window { return &window{slugDoes.At(at)} }))
	}
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:7000", Codec: newLineCodec}, windowServes, fronts...)
	require.NoError(t, err)

	text := make([]byte, 0, lines*size)
	for i := range lines {
		text = fmt.Appendf(text, "%0*d\n", size-1, i)
	}
	type client struct {
		*housetest.Peer
		sent, got int
	}
	var all [clients]client
	for i := range all {
		all[i].Peer = sim.Net.Dial(server.Addr())
	}
	// move has all clients send, and read what has come, for as long as anything moves in d.
	move := func(d time.Duration) (taken int) {
		for moved, began := true, sim.Now; moved && sim.Now-began < int64(time.Minute); {
			sim.Run(d)
			moved = false
			for i := range all {
				c := &all[i]
				n := c.Write(text[c.sent:])
				c.sent += n
				b := c.Read(len(text))
				require.Equal(t, string(text[c.got:c.got+len(b)]), string(b), "client %d, behind %d bytes", i, c.got)
				c.got += len(b)
				moved = moved || n+len(b) > 0
			}
		}
		for i := range all {
			if all[i].sent < len(text) {
				taken += all[i].sent - all[i].got - room // all of it: somebody has to read for more
			}
		}
		return taken
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what finalizers and pools let go
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	// Received bytes take up to four times as much memory; behind each request stand two stacks.
	const takenMax = requests*size + clients*readSize
	const heapMax = 4*takenMax + requests*4096 + clients*(2*room+4096)
	require.Less(t, 3*heapMax, clients*len(text), "it is far more than fits")

	at.Pause()
	require.LessOrEqual(t, move(time.Second), takenMax)
	require.LessOrEqual(t, heap()-before, heapMax)
	for i := range all {
		require.Zero(t, all[i].got)
		require.Less(t, all[i].sent, 2*room+readSize+128*size, "client %d waits", i)
	}
	at.Continue()
	for range 3 {
		sim.Run(500 * time.Millisecond)
		require.LessOrEqual(t, move(0), takenMax)
		require.LessOrEqual(t, heap()-before, heapMax)
	}
	takes = 0
	for n := 0; all[0].got < len(text); n++ {
		require.Less(t, n, 1000)
		move(time.Millisecond)
	}
	move(time.Second)
	for i := range all {
		require.Equal(t, len(text), all[i].got, "client %d", i)
		all[i].Close()
	}
	stats := server.Stats()
	require.Zero(t, stats.Overloaded+stats.Refused+stats.RequestTimeouts+stats.WriteTimeouts)
	require.NoError(t, server.Close(t.Context()))
	require.False(t, strings.Contains(string(text), "-"), "an error's text is no result")
}
