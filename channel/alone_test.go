package channel_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

func soloists(c *config) { c.Codec = newSoloCodec }

// TestAlone: a request that must be alone begins when all before it are answered, and nothing
// behind it does before it is.
func TestAlone(t *testing.T) {
	for _, codec := range []func() channel.Codec[request, reply]{newSoloCodec, newBothCodec} {
		everywhere(t, func(t *testing.T, p place) {
			w := openWorld(t, p, func(c *config) { c.Codec = codec })
			c := w.dial()
			c.send("solo a", "b", "hold 1 c", "solo hold 2 d", "solo e", "f", "solo after 1 g", "solo part h|after 1 i", "j")
			c.expect("a", "b")
			w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
			w.pause()
			require.EqualValues(t, 1, w.keeper.holding.Load())
			w.letGo(1)
			c.expect("c")
			w.await("the ask", func() bool { return w.keeper.holding.Load() == 2 })
			w.letGo(2)
			c.expect("d", "e", "f", "g", "h", "i", "j")
		})
	}
}

// TestAloneBehindResultsThatWait: the results before must be written, for which there is no room.
func TestAloneBehindResultsThatWait(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.Codec, c.OutputMax = newSoloCodec, 1000 })
		c := w.dial()
		c.send("big 5000000", "big 3000", "solo hold 1 a", "solo b", "c")
		w.letGo(1)
		w.pause()
		require.Zero(t, w.keeper.holding.Load())
		c.expect(big(5000000), big(3000), "a", "b", "c")
	})
}

// TestAloneIsNotRefused: one more than Config.WorkMax waits, as nothing can come in behind it.
func TestAloneIsNotRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.Codec, c.WorkMax = newSoloCodec, 1 })
		c := w.dial()
		c.send("hold 1 a", "solo b", "hold 2 c", "d")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		w.letGo(1)
		c.expect("a", "b")
		w.await("the refusal", func() bool { return w.server.Stats().Overloaded == 1 })
		w.letGo(2)
		c.expect("c", "-stackhouse: overloaded")
	})
}

// TestAloneTakesNoRoom: while it waits it isn't one of Config.RequestsMax, and then it waits for
// room, if there is none.
func TestAloneTakesNoRoom(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.Codec, c.RequestsMax = newSoloCodec, 2 })
	c, other, third := w.marked(), w.dial(), w.dial()
	c.send("hold 1 a", "solo hold 2 b")
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
	w.pause()
	other.send("b")
	other.expect("b")
	other.send("hold 3 c")
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 2 })
	third.send("hold 4 d") // it is first in line
	w.pause()
	w.letGo(1)
	c.expect("a")
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 3 })
	w.letGo(2)
	w.pause()
	require.EqualValues(t, 2, w.peek().Used)
	require.EqualValues(t, 3, w.keeper.holding.Load(), "there are two others")
	w.letGo(4)
	third.expect("d")
	c.expect("b")
	w.letGo(3)
	other.expect("c")
	require.Zero(t, w.peek().Used)
}

// TestAloneAndDrain: a server that drains answers what waits to be alone, and what came behind it.
func TestAloneAndDrain(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, soloists)
		c, half := w.dial(), w.dial()
		for _, c := range []*client{c, half} {
			c.send("hold 1 a", "solo hold 2 b", "c", "solo d", "e")
		}
		half.halfClose()
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
		drained := begin(func() error { return w.server.Drain(w.ctx) })
		w.await("the listeners closed", w.refuses)
		w.letGo(1)
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 4 })
		w.letGo(2)
		for _, c := range []*client{c, half} {
			c.expect("a", "b", "c", "d", "e")
			c.expectEnd()
		}
		require.NoError(t, <-drained)
	})
}

// TestAloneAndGone: what waits to be alone ends with its connection, however that ends.
func TestAloneAndGone(t *testing.T) {
	for name, end := range map[string]func(*world, *client){
		"last":  func(w *world, c *client) { w.letGo(1); c.expect("mark", "a", "b"); c.expectEnd() },
		"reset": func(_ *world, c *client) { c.arrived(); c.reset() },
		"close": func(w *world, _ *client) { require.NoError(w, w.server.Close(w.ctx)) },
		"front": func(w *world, _ *client) {
			for _, at := range w.fronts {
				at.Stop()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) {
				w := openWorld(t, p, soloists)
				c := w.dial()
				c.send("mark", "hold 1 a", "last b", "solo c", "d")
				w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
				w.pause()
				end(w, c)
				w.await("its end", func() bool { return w.server.Stats().Conns == 0 })
				if name != "front" {
					require.Zero(t, w.peek().Used)
				}
			})
		})
	}
}

// poisonCodec panics in Alone.
type poisonCodec struct{ lineCodec }

func (c *poisonCodec) Alone(req *request) bool {
	if string(req.line) == "poison" {
		panic("alone")
	}
	return false
}

// TestAlonePanics costs the connection, and nothing else.
func TestAlonePanics(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.Codec = func() channel.Codec[request, reply] { return &poisonCodec{} } })
		healthy, c := w.dial(), w.dial()
		c.send("never", "poison", "x")
		if _, err := io.ReadAll(c.r); err != nil && !isBroken(err) {
			t.Fatal(err)
		}
		healthy.send("a")
		healthy.expect("a")
	})
}

// TestConnectionsOfLonersRest: connections in which a request waits to be alone have nothing to
// wait for in the line of Config.RequestsMax: they would wake each other for ever.
func TestConnectionsOfLonersRest(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	at := core.Spawn(sim.Workers()[0], func() *front { return &front{} })
	server, err := channel.Listen(t.Context(), config{Network: "tcp", Address: "127.0.0.1:80", Codec: newSoloCodec, RequestsMax: 3}, serve, at)
	require.NoError(t, err)
	var peers []*housetest.Peer
	send := func(peer *housetest.Peer, text string) {
		require.Equal(t, len(text), peer.Write([]byte(text)))
		sim.Run(time.Millisecond)
	}
	for i := range 3 {
		peers = append(peers, sim.Net.Dial(server.Addr()))
		if sim.Run(time.Millisecond); i < 2 {
			send(peers[i], "after 2000 a\nsolo b\n")
		}
	}
	send(peers[2], "after 1000 x\n") // now there is no room
	for _, peer := range peers {
		send(peer, "c\n")
	}
	for range 3 {
		sim.Now += int64(time.Second)
		for turns := 0; sim.Workers()[0].Turn(); turns++ {
			require.Less(t, turns, 1000, "the server doesn't rest")
		}
	}
	for i, want := range []string{"a\nb\nc\n", "a\nb\nc\n", "x\nc\n"} {
		require.Equal(t, want, string(peers[i].Read(100)))
	}
	require.NoError(t, server.Close(t.Context()))
}
