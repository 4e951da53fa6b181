package channel_test

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
)

// TestG8ClientsThatNeverRead: each costs a bounded amount of memory and then its
// connection, and the others don't notice.
func TestG8ClientsThatNeverRead(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		const (
			stuck     = 20
			result    = 16 << 10
			outputMax = 64 << 10
		)
		w := openWorld(t, p, func(c *config) { c.OutputMax, c.InflightMax = outputMax, 8 }, virtual)
		pipeline := "mark\n" + strings.Repeat("big 16383\n", 2000)
		for range stuck {
			c := w.dial()
			c.Conn.(interface{ SetReadBuffer(int) error }).SetReadBuffer(4 << 10)
			ended := begin(func() error { _, err := io.WriteString(c, pipeline); return err })
			t.Cleanup(func() { c.Close(); <-ended })
		}
		w.await("a connection to be stuck", func() bool { return w.peek().StuckAt != 0 && w.peek().Unsent >= outputMax })
		healthy := w.dial()
		var took []time.Duration
		for range 300 {
			began := time.Now()
			healthy.send("a")
			healthy.expect("a")
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		if median := took[len(took)/2]; median > 20*time.Millisecond {
			t.Errorf("beside clients that don't read a request took %v", median)
		}
		w.await("all to be stuck", func() bool {
			for _, at := range w.fronts {
				h, err := core.Ask(w.ctx, frontPeek.At(at), struct{}{})
				require.NoError(t, err)
				if h.Unsent < outputMax && h.Unsent > 0 {
					return false
				}
				require.LessOrEqual(t, h.Unsent, outputMax+result)
				require.LessOrEqual(t, h.Chunks, 2*(outputMax+result))
				require.LessOrEqual(t, h.Inflight, 8)
				require.LessOrEqual(t, h.Input, 32<<10)
			}
			return true
		})
		w.pass(29 * time.Second)
		require.Equal(t, int64(stuck+1), w.server.Stats().Conns)
		// The kernels may still pass a few bytes on now and then, which counts.
		w.await("the stuck ones closed", func() bool {
			w.pass(31 * time.Second)
			healthy.send("a")
			healthy.expect("a")
			return w.server.Stats().Conns == 1
		})
		require.Equal(t, uint64(stuck), w.server.Stats().WriteTimeouts)
		healthy.send("mark")
		healthy.expect("mark")
		require.Zero(t, w.peek().Used, "nothing is under way")
	})
}

// TestSlowReaderIsServed: one that takes something now and then.
func TestSlowReaderIsServed(t *testing.T) {
	w := openWorld(t, place{network: "unix", workers: 1}, func(c *config) { c.InflightMax = 8 }, virtual)
	c := w.dial()
	const n = 500
	ended := begin(func() error {
		_, err := io.WriteString(c, "mark\n"+strings.Repeat("big 60000\n", n)+"last a\n")
		return err
	})
	c.expect("mark")
	some := make([]byte, 100_000)
	got := 0
	for range 10 {
		w.await("the connection to be stuck", func() bool { return w.peek().StuckAt != 0 })
		w.pass(20 * time.Second)
		for since := w.peek().StuckAt; w.peek().StuckAt == since; {
			n, err := c.r.Read(some)
			require.NoError(t, err)
			got += n
			w.clock.Add(1) // or a connection that is stuck again has the same time
		}
	}
	rest, err := io.ReadAll(c.r)
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.Equal(t, n*60001+len("a\n"), got+len(rest))
	require.Zero(t, w.server.Stats().WriteTimeouts)
}

// TestSlowSenderIsServedIdleOneIsClosed: a byte now and then keeps a connection.
func TestSlowSenderIsServedIdleOneIsClosed(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.IdleTimeout, c.RequestTimeout = 10*time.Second, time.Hour }, virtual)
	slow, idle, half, other := w.dial(), w.dial(), w.dial(), w.dial()
	idle.send("a")
	idle.expect("a")
	half.Write([]byte("the start of a request"))
	for range 30 {
		_, err := slow.Write([]byte("x"))
		require.NoError(t, err)
		other.send("b") // the poller tells in the order of arrival
		other.expect("b")
		if !netio.CanShare { // in which each connection has a goroutine, and it may be any time
			time.Sleep(5 * time.Millisecond)
		}
		w.pass(time.Second)
	}
	idle.expectEnd()
	half.expectEnd()
	slow.send("")
	slow.expect(strings.Repeat("x", 30))
	require.Equal(t, uint64(2), w.server.Stats().IdleTimeouts)
	w.pass(11 * time.Second)
	slow.expectEnd()
	other.expectEnd()
	require.Equal(t, uint64(4), w.server.Stats().IdleTimeouts)
}

// TestWaitingIsNotIdle: a request that takes longer than the idle timeout, and the
// time behind its result.
func TestWaitingIsNotIdle(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.IdleTimeout = 10 * time.Minute }, virtual)
	c := w.dial()
	c.send("mark", "after 900000 a") // 15 minutes
	c.expect("mark")
	for range 15 {
		w.pass(time.Minute)
	}
	c.expect("a")
	for range 9 {
		w.pass(time.Minute)
	}
	c.send("b")
	c.expect("b")
	w.pass(9 * time.Minute)
	w.pass(2 * time.Minute)
	c.expectEnd()
}

func TestTimeoutsCanBeOff(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.IdleTimeout, c.RequestTimeout, c.WriteTimeout = -1, -1, -1 }, virtual)
	idle, stuck := w.dial(), w.dial()
	stuck.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	ended := begin(func() error {
		_, err := io.WriteString(stuck, "mark\n"+strings.Repeat("big 60000\n", 1000))
		return err
	})
	w.await("the connection to be stuck", func() bool { return w.peek().StuckAt != 0 })
	for range 30 {
		w.pass(24 * time.Hour)
	}
	idle.send("a")
	idle.expect("a")
	require.Equal(t, int64(2), w.server.Stats().Conns)
	stuck.Close()
	if err := <-ended; err != nil && !errors.Is(err, net.ErrClosed) && !isBroken(err) {
		t.Error(err)
	}
}
