package channel_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

func numbers(c *config) { c.Codec = newNumberCodec }

// TestUnordered: results go out as they are complete, and so do errors, which the codec knows the
// number of.
func TestUnordered(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, numbers)
		c := w.dial()
		c.send("1 hold 1 a", "2 b", "3 hold 3 c", "4 throw d", "5 after 1 e")
		c.expect("2 b", "4 -d", "5 e")
		w.letGo(3)
		c.expect("3 c")
		c.send("6 panic on", "7 f")
		line, err := c.r.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "6 -stackhouse: actor panicked")
		c.expect("7 f")
		w.letGo(1)
		c.expect("1 a")
	})
}

// TestUnorderedParts: once a part is written the rest of that result comes before others, and these
// in the order in which they were complete.
func TestUnorderedParts(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, numbers)
		c := w.marked()
		c.send("1 hold 1 a", "2 part b|part c|hold 2 d", "3 e", "4 part f|g", "5 hasty h")
		c.expect("2 b", "2 c")
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
		w.letGo(1)
		w.pause()
		w.letGo(2)
		c.expect("2 d", "3 e", "4 f", "4 g", "5 -hasty", "1 a")
		require.Zero(t, w.peek().Used)
		c.send("6 parts 3 100000", "7 part |i", "8 hold 2 j")
		for range 3 {
			c.expect("6 " + big(100_000))
		}
		c.expect("7 ", "7 i", "8 j")
	})
}

// TestUnorderedIsBounded: what the client doesn't take is bounded, whatever comes late.
func TestUnorderedIsBounded(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const most, size, n = 100_000, 60_000, 200
		w := openWorld(t, p, func(c *config) { c.Codec, c.OutputMax = newNumberCodec, most })
		c := w.marked()
		lines := []string{"1 hold 1 a"}
		for range n {
			lines = append(lines, fmt.Sprint("2 big ", size))
		}
		c.send(lines...)
		for range 20 {
			w.pause()
			held := w.peek()
			require.Less(t, held.Unsent, most+size+10)
			require.Less(t, held.Waiting, most+64<<10)
		}
		for range n {
			c.expect("2 " + big(size))
		}
		w.letGo(1)
		c.expect("1 a")
	})
}

// TestUnorderedRefusals: a request beyond Config.WorkMax hears of that before others are answered.
func TestUnorderedRefusals(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.Codec, c.WorkMax = newNumberCodec, 1 })
		c := w.dial()
		c.send("1 hold 1 a", "2 b")
		c.expect("2 -stackhouse: overloaded")
		w.letGo(1)
		c.expect("1 a")
	})
}

// TestUnorderedPushes: messages that answer nothing have no number, and stand behind what is
// written.
func TestUnorderedPushes(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, numbers)
		c := w.dial()
		c.send("1 hold 1 a", "2 push b", "3 part c|push d", "4 e")
		c.expect("* b", "2 push b", "3 c", "3 push d", "* d", "4 e")
		w.letGo(1)
		c.expect("1 a")
	})
}

// TestUnorderedLast: behind the last result comes nothing, of earlier requests neither.
func TestUnorderedLast(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, numbers)
		other, c := w.marked(), w.dial()
		c.send("mark", "1 never", "2 hold 1 a", "3 last b", "4 never", "5 c")
		c.expect("mark", "3 b")
		c.expectEnd()
		require.Zero(t, w.peek().Used)
		other.send("1 a")
		other.expect("1 a")
	})
}

// TestUnorderedGone: what is in flight ends with the connection, wherever it stands.
func TestUnorderedGone(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for i := range 4 {
			w := openWorld(t, p, numbers)
			watch, c := w.marked(), w.dial()
			c.send("mark", "1 never", "2 part a|hold 1 b", "3 part c|never", "4 d", "5 part e|f", "6 hold 1 g")
			w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
			w.pause()
			c.arrived()
			if i%2 == 0 {
				w.letGo(1) // at about the same time
			}
			if i < 2 {
				c.reset()
			} else {
				require.NoError(t, w.server.Close(w.ctx))
			}
			w.await("its end", func() bool { return w.server.Stats().Conns <= int64(1-i/2) })
			w.await("the end of all", func() bool { return w.peek().Used == 0 })
			watch.Close()
		}
	})
}

// TestUnorderedDrain: what had arrived is answered.
func TestUnorderedDrain(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.Codec, c.InflightMax = newBothCodec, 3 })
		c := w.dial()
		c.send("1 hold 1 a", "2 b", "3 hold 3 c", "4 d", "5 solo e", "6 f")
		c.expect("2 b", "4 d")
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
		drained := begin(func() error { return w.server.Drain(w.ctx) })
		w.await("the listeners closed", w.refuses)
		w.letGo(3)
		c.expect("3 c")
		w.letGo(1)
		c.expect("1 a", "5 e", "6 f")
		c.expectEnd()
		require.NoError(t, <-drained)
	})
}

// TestClientOfAnUnorderedServer: both sides go by number.
func TestClientOfAnUnorderedServer(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, numbers)
		client := w.dialClient(func(c *clientConfig) { c.Codec = newNumberClient })
		first := core.Begin(client.Port(), request{[]byte("hold 1 first")})
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 50 {
					line := fmt.Sprintf("x%d-%d", i, j)
					text, err := get(w.ctx, client.Port(), []string{line, "after 0 " + line}[j%2])
					require.NoError(t, err)
					require.Equal(t, line, text)
				}
			})
		}
		all.Wait()
		require.False(t, first.Ready())
		w.letGo(1)
		require.NoError(t, first.GetInto(func(rep *reply) { require.Equal(t, "first", string(rep.text)) }))
		require.NoError(t, client.Close(w.ctx))
	})
}
