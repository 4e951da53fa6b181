package channel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/netio"
)

// TestParts: a result comes in parts, each in its turn.
func TestParts(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("part a|b", "hold 1 c", "part d|part e|hold 2 f", "part |g", "h")
		c.expect("a", "b")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		require.EqualValues(t, 3, w.parts.Load(), "nobody goes on behind a part before its turn")
		w.letGo(1)
		c.expect("c", "d", "e")
		w.letGo(2)
		c.expect("f", "", "g", "h")
		c.send("mark", "hold 3 h", "parts 2 100000")
		c.expect("mark")
		w.await("the part", func() bool { return w.parts.Load() == 5 })
		w.pause()
		require.GreaterOrEqual(t, w.peek().Waiting, 100_000, "it counts before its turn")
		w.letGo(3)
		c.expect("h", big(100_000), big(100_000))
		c.send("part i|throw j", "part k|last l", "m")
		c.expect("i", "-j", "k", "l")
		c.expectEnd()
	})
}

// TestPartsAwaitRoom: a client that reads nothing has a few parts in memory, and others' requests
// have room: those that wait behind a part take none of RequestsMax.
func TestPartsAwaitRoom(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const (
			n, size = 500, 50_000
			conns   = 4
		)
		w := openWorld(t, p, func(c *config) { c.OutputMax, c.RequestsMax = 100_000, p.workers })
		var all []*client
		for range conns {
			c := w.dial()
			c.send("mark", fmt.Sprint("parts ", n, " ", size), "x")
			c.expect("mark")
			all = append(all, c)
		}
		for range 20 {
			other := w.dial()
			other.send("hold 1 a")
			w.letGo(1)
			other.expect("a")
		}
		for before := int64(-1); before != w.parts.Load(); { // the kernel takes some
			before = w.parts.Load()
			for range 20 {
				require.LessOrEqual(t, w.peek().Unsent, 100_000+size)
			}
		}
		require.Less(t, w.parts.Load(), int64(conns*n))
		require.Zero(t, w.peek().Waiting, "there is no room for another part")
		text := big(size)
		for _, c := range all {
			for range n {
				c.expect(text)
			}
			c.expect("x")
		}
		require.Zero(t, w.peek().Used)
	})
}

// TestPartsHaveNoDeadline: who reads or waits for long gets all.
func TestPartsHaveNoDeadline(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		if !netio.CanShare {
			t.Skip("the time of its poller is real")
		}
		w := openWorld(t, p, func(c *config) { c.OutputMax, c.WriteTimeout = 1000, 1000*time.Hour },
			virtual, func(_ *world, c *house.Config) { c.AskTimeout = time.Second })
		const n, size = 20, 1_000_000
		slow, waits := w.dial(), w.dial()
		waits.send("after 600000 a", "part b|c")
		w.await("the part, behind the timer", func() bool { return w.parts.Load() == 1 })
		slow.send(fmt.Sprint("parts ", n, " ", size))
		w.await("the parts", func() bool { return w.parts.Load() > 1 })
		w.pause()
		for range 5 {
			w.pass(time.Minute)
		}
		require.Less(t, w.parts.Load(), int64(n+1))
		for range n {
			slow.expect(big(size))
		}
		for range 5 {
			w.pass(time.Minute)
		}
		waits.expect("a", "b", "c")
	})
}

// TestPartOfWhoEnds: what ends in another way before there is room drops the part, and an end that
// nobody awaits frees all.
func TestPartOfWhoEnds(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("mark", "hold 1 a", "hasty b", "part c|panic d")
		c.expect("mark")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		w.pause()
		w.letGo(1)
		c.expect("a", "-hasty", "c")
		line, err := c.r.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "-stackhouse: actor panicked")
		w.await("its end", func() bool { return w.peek().Used == 0 })

		c.send("x", "hold 2 a", "part b|c", "hasty d", "part e|f")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 2 })
		w.pause()
		c.arrived()
		c.reset()
		w.await("the end of all", func() bool { return w.server.Stats().Conns == 0 })
	})
}

// pause has the fronts do what they have to.
func (w *world) pause() {
	w.Helper()
	for range 5 {
		for _, at := range w.fronts {
			_, err := core.Ask(w.ctx, frontNap.At(at), struct{}{})
			require.NoError(w, err)
		}
	}
}

// TestPartOfAFunctionThatIsKept: the connection ends while its request waits behind a part, or
// before it offers one, and it goes on, as it has to.
func TestPartOfAFunctionThatIsKept(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, behind := range []bool{false, true} {
			late.began, late.open, late.saw = make(chan struct{}), make(chan struct{}), make(chan string, 1)
			w := openWorld(t, p, nil)
			c := w.dial()
			c.send("mark", "never", "keptpart x")
			<-late.began
			if behind {
				close(late.open)
				w.await("the part", func() bool { return w.parts.Load() == 1 })
			}
			c.arrived()
			c.reset()
			if !behind {
				w.await("the end of the other", func() bool { return w.system.Stats().Cancelled == 1 })
				close(late.open)
			}
			select {
			case saw := <-late.saw:
				require.Equal(t, "went on", saw)
			case <-w.ctx.Done():
				require.Fail(t, "the request hangs behind its part")
			}
			for range 20 { // of the share of each there is all left
				require.Zero(t, w.peek().Used)
			}
		}
	})
}

// TestEndAtAPart: who ends while it waits behind a part, and keeps a function, has one result.
func TestEndAtAPart(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		c := w.dial()
		c.send("mark", "keptend a", "b")
		c.expect("mark")
		w.await("the part", func() bool { return w.parts.Load() == 1 })
		w.pause()
		w.gate <- struct{}{}
		c.expect("a", "b")
		require.Zero(t, w.peek().Used)
	})
}

// TestNothingBeginsBehindALongPart: a part that waits counts as a result does.
func TestNothingBeginsBehindALongPart(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.OutputMax = 1000 })
		c := w.dial()
		c.send("hold 1 a")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		c.send("parts 2 300000", "hold 2 b", "hold 2 b", "hold 2 b")
		w.await("the part", func() bool { return w.parts.Load() == 1 })
		w.pause()
		require.EqualValues(t, 1, w.keeper.holding.Load())
		w.letGo(1)
		w.letGo(2)
		c.expect("a", big(300_000), big(300_000), "b", "b", "b")
	})
}

// TestPartsOfAHeldFront: results of what is in flight are written, in parts too, while the front's
// calls are held.
func TestPartsOfAHeldFront(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.OutputMax = 1 }) // there is room once all is sent
		w.letGo(1)
		c := w.dial()
		c.send("alone a|part b|hold 1 c", "alone d|e", "f")
		c.expect("a", "b", "c", "d", "e", "f")

		c.send("hold 2 a", "part b|part c|d")
		w.await("the part", func() bool { return w.parts.Load() == 4 })
		for _, at := range w.fronts {
			at.Pause()
		}
		w.letGo(2)
		c.expect("a", "b", "c", "d")
		for _, at := range w.fronts {
			at.Continue()
		}
	})
}
