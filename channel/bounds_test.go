package channel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
)

// Results that have ended out of turn, and those that the client doesn't take, are bounded by
// their bytes: beyond, no further request of the connection begins, and all are answered in the
// end.
func TestG7ResultsThatWaitAreBounded(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const long, most = 60_000, 128 << 10
		w := openWorld(t, p, func(c *config) { c.OutputMax = most })
		// which the client's system doesn't take at once
		for _, first := range []string{"hold 1 a", "big 5000000"} {
			c := w.dial()
			lines := append([]string{"mark", first}, slices.Repeat([]string{fmt.Sprint("big ", long)}, 200)...)
			c.send(lines...)
			c.expect("mark")
			var held channel.Held
			w.await("results that wait", func() bool {
				held = w.peek()
				return held.Waiting+held.Unsent >= most
			})
			time.Sleep(20 * time.Millisecond)
			held = w.peek()
			require.LessOrEqual(t, held.Waiting, most+64<<10, "held by results out of turn")
			if first == "hold 1 a" {
				w.letGo(1)
				c.expect("a")
			} else {
				require.Less(t, held.Unsent, 5_000_000+most)
				c.expect(big(5_000_000))
			}
			for range 200 {
				c.expect(big(long))
			}
			c.send("b")
			c.expect("b")
			c.Close()
			w.await("it is closed", func() bool { return w.server.Stats().Conns == 0 })
		}
	})
}

// What was held back ends with its connection.
func TestHeldBackAndGone(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.OutputMax, c.RequestsMax = 128<<10, 400 })
		for i := range 18 {
			c := w.dial()
			c.send(append([]string{"mark", fmt.Sprintf("hold %d a", i)}, slices.Repeat([]string{"big 60000"}, 100)...)...)
			c.expect("mark")
			w.await("results that wait", func() bool {
				return w.peek().Waiting >= 128<<10
			})
			switch {
			case i < 17 && i%2 == 0:
				c.reset()
				w.letGo(i) // a Unix socket isn't broken by that
			case i < 17: // a client that only ends its side gets its results
				c.Close()
				w.letGo(i)
			default:
				ctx, cancel := context.WithCancel(w.ctx)
				cancel()
				require.Error(t, w.server.Drain(ctx))
			}
			w.await("it is closed", func() bool { return w.server.Stats().Conns == 0 })
		}
	})
}

// Who holds the front's requests, as a pause or a Serial call does, doesn't hold its results.
func TestResultsOfAFrontThatBeginsNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, serial := range []bool{false, true} {
			p.props.Serial = serial
			w := openWorld(t, p, nil)
			c := w.dial()
			if serial {
				c.send("a", "hold 1 b", "hold 2 c", "d")
				w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
				c.expect("a")
				w.letGo(1)
				c.expect("b")
				w.letGo(2)
				c.expect("c", "d")
				continue
			}
			c.send("hold 1 a", "hold 2 b")
			w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
			for _, at := range w.fronts {
				at.Pause()
			}
			w.letGo(1)
			c.expect("a")
			c.send("c")
			w.letGo(2)
			c.expect("b")
			c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			_, err := c.r.Peek(1)
			require.Error(t, err, "a paused front begins nothing")
			c.SetReadDeadline(time.Now().Add(lostAfter))
			for _, at := range w.fronts {
				at.Continue()
			}
			c.expect("c")
		}
	})
}

// A codec that panics of a result of a front that begins nothing costs its connection.
func TestEncodePanicsWhilePaused(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, nil)
	c, other := w.dial(), w.dial()
	c.send("hold 1 encode-panic", "a")
	other.send("hold 1 b")
	w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
	w.fronts[0].Pause()
	w.letGo(1)
	other.expect("b")
	w.fronts[0].Continue()
	rest, _ := c.r.ReadString('\n')
	require.Empty(t, rest)
	other.send("d")
	other.expect("d")
	w.await("the failure", func() bool { return w.failed.n.Load() > 0 })
}

// With the defaults no request is refused because the actor that is asked has a full mailbox.
func TestRequestsMax(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		workers := w.system.Workers()
		blocked := core.Spawn(workers[len(workers)-1], func() *front { return &front{gate: w.gate, blocked: &w.blocked} })
		w.letGo(1)
		if p.workers > 1 { // the keeper's worker begins nothing
			core.Notice(frontBlock.At(blocked), struct{}{})
			w.await("the block", func() bool { return w.blocked.Load() == 1 })
		}
		const conns, each = 40, 100
		var all []*client
		for range conns {
			c := w.dial()
			c.send(slices.Repeat([]string{"hold 1 a"}, each)...)
			all = append(all, c)
		}
		time.Sleep(50 * time.Millisecond)
		close(w.gate)
		for _, c := range all {
			c.expect(slices.Repeat([]string{"a"}, each)...)
		}
	})
}

type blockStack struct{ core.NoticeStack[struct{}] }

var frontBlock = core.HandleNotice((*front).block)

func (f *front) block(s *blockStack) core.Yield {
	f.blocked.Add(1)
	<-f.gate
	return s.Return()
}

// RequestsMax is kept over all connections, and whoever waits for that has its turn, however it
// ends.
func TestRequestsMaxIsShared(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const most = 8
		w := openWorld(t, p, func(c *config) { c.RequestsMax = most })
		var all []*client
		for range 20 {
			c := w.dial()
			c.send(slices.Repeat([]string{"hold 1 a"}, 10)...)
			all = append(all, c)
		}
		w.await("as many as there may be", func() bool { return w.keeper.holding.Load() >= int64(most/p.workers) })
		time.Sleep(20 * time.Millisecond)
		require.LessOrEqual(t, w.keeper.holding.Load(), int64(most))
		for _, c := range all[:5] {
			c.reset()
		}
		w.letGo(1)
		for _, c := range all[5:] {
			c.expect(slices.Repeat([]string{"a"}, 10)...)
		}
		require.NoError(t, w.server.Close(w.ctx))
	})
}

// decodes counts what codecs decode between two steps of an actor of the same worker.
var decodes atomic.Int64

type countingCodec struct{ lineCodec }

func (c *countingCodec) Decode(in []byte, req *request) (int, error) {
	decodes.Add(1)
	return c.lineCodec.Decode(in, req)
}

// decodeWatch tells itself to go on, and notes the most that was decoded in between.
type decodeWatch struct {
	self core.NoticePort[struct{}]
	most *atomic.Int64
	stop *atomic.Bool
}

type watchStack struct{ core.NoticeStack[struct{}] }

var watchGo = core.HandleNotice((*decodeWatch).goOn)

func (b *decodeWatch) goOn(s *watchStack) core.Yield {
	b.most.Store(max(b.most.Load(), decodes.Swap(0)))
	if !b.stop.Load() {
		b.self.Notice(s, struct{}{})
	}
	return s.Return()
}

// Bytes that ask for nothing share the turn as requests do.
func TestEmptyLinesShareTheTurn(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) {
		c.Codec = func() channel.Codec[request, reply] { return &countingCodec{} }
	})
	var most atomic.Int64
	var stop atomic.Bool
	b := &decodeWatch{most: &most, stop: &stop}
	at := core.Spawn(w.system.Workers()[0], func() *decodeWatch { return b })
	b.self = watchGo.At(at)
	c := w.dial()
	c.send("a")
	c.expect("a")
	core.Notice(b.self, struct{}{})
	c.send(strings.Repeat("\n", 65_535), "b")
	c.expect("b")
	stop.Store(true)
	require.LessOrEqual(t, most.Load(), int64(1_000), "decoded between two steps of another actor")
	require.NotZero(t, most.Load())
}

// A long result is sent in parts, one in a turn: others have theirs in between.
func TestLongResultsShareTheTurn(t *testing.T) {
	const each, size, part = 60, 1_000_000, 64 << 10
	w := openWorld(t, place{network: "tcp", workers: 1}, nil)
	c := w.dial()
	before := w.system.Stats().Turns
	for range each {
		c.send(fmt.Sprint("big ", size))
		c.expect(big(size))
	}
	w.await("turns", func() bool { return w.system.Stats().Turns-before >= each*size/part })
}

// A request must come whole in its time, which is longer for a long one; bytes that ask for
// nothing keep no connection.
func TestG24RequestTimeout(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.IdleTimeout = 2 * time.Minute }, virtual)
	drips, long, idle, other := w.dial(), w.dial(), w.dial(), w.dial()
	late := "refused: " + channel.ErrSlowRequest.Error()
	pass := func(d time.Duration) {
		other.send("b") // the poller tells in the order of arrival
		other.expect("b")
		w.pass(d)
	}
	long.Write([]byte(strings.Repeat("x", 60<<10))) // a minute more
	for i := range 29 {
		_, err := drips.Write([]byte("x"))
		require.NoError(t, err, i)
		idle.send("")
		pass(time.Second)
	}
	require.Zero(t, w.server.Stats().RequestTimeouts)
	pass(2 * time.Second)
	drips.expect(late)
	drips.expectEnd()
	require.EqualValues(t, 1, w.server.Stats().RequestTimeouts)
	long.Write([]byte(strings.Repeat("x", 60<<10)))
	for range 11 {
		idle.send("")
		pass(10 * time.Second)
	}
	require.EqualValues(t, 1, w.server.Stats().IdleTimeouts, "empty lines keep no connection")
	idle.expectEnd()
	long.send("y")
	long.expect(strings.Repeat("x", 120<<10) + "y")
	long.send("c")
	long.expect("c")
	long.Write([]byte("last"))
	pass(29 * time.Second)
	require.EqualValues(t, 1, w.server.Stats().RequestTimeouts, "each request has its own time")
	pass(2 * time.Second)
	long.expect(late)
	long.expectEnd()
}

// A client needn't end a request that isn't read.
func TestRequestTimeoutWhileNotRead(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.InflightMax = 2 }, virtual)
	c := w.dial()
	c.Write([]byte("hold 1 a\nhold 1 b\nthe start"))
	w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
	for range 10 {
		w.pass(10 * time.Second)
	}
	c.send(" and the end")
	w.letGo(1)
	w.pass(time.Second)
	c.expect("a", "b", "the start and the end")
	require.Zero(t, w.server.Stats().RequestTimeouts)
}

// boastfulCodec announces more than comes.
type boastfulCodec struct{ lineCodec }

func (c *boastfulCodec) Need() int { return lineMax }

// What a client announces takes no memory before it comes.
func TestAnnouncedLengthTakesNothing(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) {
		c.Codec = func() channel.Codec[request, reply] { return &boastfulCodec{} }
	})
	c, other := w.dial(), w.dial()
	c.send("mark")
	c.expect("mark")
	for sent := range 40 { // 1 KiB each
		_, err := c.Write([]byte(strings.Repeat("x", 1<<10)))
		require.NoError(t, err)
		other.send("b") // the poller tells in the order of arrival
		other.expect("b")
		require.LessOrEqual(t, w.peek().Input, 4*(sent+1)<<10)
	}
	// the portable poller tells in any order
	w.await("the bytes", func() bool { return w.peek().Input > 0 })
	require.LessOrEqual(t, w.peek().Input, 4*40<<10)
}

// Silence counts from the result, though that has no bytes.
func TestIdleBehindAnEmptyResult(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.IdleTimeout = time.Minute }, virtual)
	c := w.dial()
	c.send("hold 1 encode-none")
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
	for range 10 {
		w.pass(time.Minute)
	}
	w.letGo(1)
	w.pass(time.Second)
	w.pass(50 * time.Second)
	c.send("a")
	c.expect("a")
	require.Zero(t, w.server.Stats().IdleTimeouts)
}
