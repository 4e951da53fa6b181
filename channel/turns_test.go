package channel_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/netio"
)

// How limits of a connection, of its front and of all connections meet.

var lone = place{network: "tcp", workers: 1}

// A connection that is full of its own output, while others use up all requests, goes on when it
// isn't.
func TestFullOfItsOwnWhileAllRequestsAreUsed(t *testing.T) {
	for i := range 10 {
		w := openWorld(t, lone, func(c *config) { c.RequestsMax, c.OutputMax = 1, 1<<10 })
		a, b, sleeper := w.dial(), w.dial(), w.dial()
		for _, c := range []*client{a, b, sleeper} {
			c.send("x")
			c.expect("x")
		}
		sleeper.send("sleep 50") // so that what follows is one turn
		time.Sleep(10 * time.Millisecond)
		long := "x" + big(2000)
		a.send(long, long)
		time.Sleep(5 * time.Millisecond)
		b.send("hold 1 z")
		sleeper.expect("sleep 50")
		w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		a.expect(long)
		w.letGo(1)
		b.expect("z")
		a.SetReadDeadline(time.Now().Add(5 * time.Second))
		got, err := a.r.ReadString('\n')
		require.NoError(t, err, "round %d", i)
		require.Equal(t, long+"\n", got)
	}
}

// A drain ends though all requests are used while it begins.
func TestDrainWhileAllRequestsAreUsed(t *testing.T) {
	w := openWorld(t, lone, func(c *config) { c.RequestsMax = 1 })
	all := []*client{w.dial(), w.dial(), w.dial()}
	for _, c := range all {
		c.send("x")
		c.expect("x")
	}
	lines := []string{"hold 1 a", "hold 2 b", "hold 3 c"}
	for i, c := range all {
		c.send(lines[i])
		if i == 0 {
			w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
		}
		time.Sleep(10 * time.Millisecond)
	}
	drained := begin(func() error { return w.server.Drain(w.ctx) })
	time.Sleep(10 * time.Millisecond)
	for i, c := range all {
		w.letGo(i + 1)
		c.expect(string("abc"[i]))
	}
	for _, c := range all {
		c.expectEnd()
	}
	require.NoError(t, <-drained)
}

// Clients that wait for a server are served, however many they are, as it opens.
func TestListenWhileManyConnect(t *testing.T) {
	dir, err := os.MkdirTemp("", "channel")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	for range 10 {
		path := filepath.Join(dir, "s")
		stop := make(chan struct{})
		var group sync.WaitGroup
		for range 60 {
			group.Go(func() {
				for {
					conn, err := net.Dial("unix", path)
					if err == nil {
						defer conn.Close()
						<-stop
						return
					}
					select {
					case <-stop:
						return
					case <-time.After(100 * time.Microsecond):
					}
				}
			})
		}
		w := openWorld(t, place{network: "unix", workers: 2}, func(c *config) { c.Address = path })
		w.await("all", func() bool { return w.server.Stats().Accepted == 60 })
		close(stop)
		group.Wait()
		require.Zero(t, w.system.Stats().Failures)
		require.NoError(t, w.server.Close(w.ctx))
		require.Zero(t, w.server.Stats().Conns)
	}
}

// All results of a paused front leave, long ones and many.
func TestAllResultsOfAPausedFront(t *testing.T) {
	const long = 20_000_000
	w := openWorld(t, lone, nil)
	c := w.dial()
	c.send("hold 1 a", "hold 2 b", "big 20000000", "x")
	w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
	many := w.dial()
	many.send("mark")
	many.expect("mark")
	line := "x" + big(60_000)
	many.send(append([]string{"hold 1 a"}, slices.Repeat([]string{line}, 10)...)...)
	w.await("all to be read", func() bool { return w.peek().Inflight == 11 })
	w.peek() // comes behind them: what hasn't begun waits for Continue
	w.fronts[0].Pause()
	defer w.fronts[0].Continue()
	w.letGo(1)
	many.expect("a")
	many.expect(slices.Repeat([]string{line}, 10)...)
	c.expect("a")
	w.letGo(2)
	c.expect("b", big(long))
}

// What ReturnLast has cancelled never begins.
func TestCancelledNeverBegins(t *testing.T) {
	w := openWorld(t, place{network: "tcp", workers: 2}, nil, func(_ *world, c *house.Config) { c.Spin = -1 })
	w.letGo(1)
	c := w.dial()
	for c.servedBy() != 0 { // not the keeper's worker
		defer c.Close() // it stays, so that the next one goes to the other worker in the end
		c = w.dial()
	}
	before := w.server.Stats().Conns
	lines := slices.Concat([]string{"sleep 5", "hold 1 a", "lastbig 12000000"},
		slices.Repeat([]string{"sleep 5"}, 60), slices.Repeat([]string{"hold 9 z"}, 20))
	c.send(lines...)
	c.expect("sleep 5", "a", big(12_000_000))
	c.expectEnd()
	w.await("it is closed", func() bool { return w.server.Stats().Conns < before })
	require.EqualValues(t, 1, w.keeper.holding.Load())
	w.letGo(9)
}

// A file that only has the name of an abstract socket isn't the server's.
func TestOtherFilesStay(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("@other", []byte("kept"), 0o600))
	w := openWorld(t, lone, nil)
	server, err := channel.Listen(w.ctx, config{Network: "unix", Address: "@other", SocketMode: 0o600, Codec: newLineCodec}, serve, w.fronts...)
	if err != nil {
		t.Skip(err) // no abstract names here
	}
	require.NoError(t, server.Close(w.ctx))
	text, err := os.ReadFile("@other")
	require.NoError(t, err)
	require.Equal(t, "kept", string(text))
}

// What was held back begins within RequestsMax.
func TestHeldBackWithinRequestsMax(t *testing.T) {
	const most = 8
	w := openWorld(t, lone, func(c *config) { c.RequestsMax, c.OutputMax = most, 64<<10 })
	sleeper := w.dial()
	var all []*client
	for range 12 {
		c := w.dial()
		c.send("x")
		c.expect("x")
		all = append(all, c)
	}
	sleeper.send("sleep 100")
	time.Sleep(10 * time.Millisecond)
	for _, c := range all {
		c.send(append([]string{"big 8000000"}, slices.Repeat([]string{"hold 2 z"}, 7)...)...)
	}
	sleeper.expect("sleep 100")
	time.Sleep(100 * time.Millisecond)
	var group sync.WaitGroup
	for _, c := range all {
		group.Go(func() {
			if got, err := c.r.ReadString('\n'); err != nil || len(got) != 8_000_001 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	group.Wait()
	time.Sleep(20 * time.Millisecond)
	require.LessOrEqual(t, w.keeper.holding.Load(), int64(most))
	w.letGo(2)
	for _, c := range all {
		c.expect(slices.Repeat([]string{"z"}, 7)...)
	}
	all[0].send("mark")
	all[0].expect("mark")
	require.Zero(t, w.peek().Used)
}

// What was held back of a client that is refused for what came behind it begins, too, when there
// is room again.
func TestHeldBackOfWhoIsRefused(t *testing.T) {
	const long = 20_000_000 // a system takes 4 MiB of it
	w := openWorld(t, lone, func(c *config) { c.RequestsMax, c.OutputMax = 4, 64<<10 })
	a, b := w.dial(), w.dial()
	a.send("mark")
	a.expect("mark")
	b.send("x")
	b.expect("x")
	a.send("big 20000000", "x", "y", "!")
	w.await("a's result", func() bool { return w.peek().Unsent > long/2 })
	b.send(slices.Repeat([]string{"hold 1 z"}, 4)...)
	w.await("the asks", func() bool { return w.keeper.holding.Load() == 4 })
	a.expect(big(long))
	w.await("a's result sent", func() bool { return w.peek().Unsent == 0 })
	w.pause()
	w.letGo(1)
	b.expect("z", "z", "z", "z")
	a.expect("x", "y", "refused: "+errMark.Error())
	a.expectEnd()
}

// Who waits for its turn isn't idle, and neither is who has had it a moment ago.
func TestWaitingForItsTurnIsNotIdle(t *testing.T) {
	w := openWorld(t, lone, func(c *config) { c.RequestsMax, c.IdleTimeout = 1, time.Minute }, virtual)
	b, a := w.dial(), w.dial()
	b.send("hold 1 b")
	w.await("the ask", func() bool { return w.keeper.holding.Load() == 1 })
	a.send("x")
	time.Sleep(10 * time.Millisecond)
	for range 5 {
		w.pass(30 * time.Second)
	}
	w.letGo(1)
	w.pass(time.Second)
	b.expect("b")
	a.expect("x")
}

// A client of whose requests each is whole in time, but which always owes the rest of one.
func TestRequestTimeoutIsOfEachRequest(t *testing.T) {
	w := openWorld(t, lone, nil, virtual)
	c := w.dial()
	c.Write([]byte("a"))
	for range 20 {
		_, err := c.Write([]byte("b\nc\na")) // with the start of the next
		require.NoError(t, err)
		c.expect("ab", "c")
		w.pass(10 * time.Second)
	}
	require.Zero(t, w.server.Stats().RequestTimeouts)
}

// A long request gives the next one, which is short, no more time.
func TestRequestTimeoutBehindALongRequest(t *testing.T) {
	w := openWorld(t, lone, func(c *config) { c.IdleTimeout = -1 }, virtual)
	c := w.dial()
	c.send("mark")
	c.expect("mark")
	c.Write([]byte(strings.Repeat("x", 600_000))) // ten minutes more
	w.await("the bytes", func() bool { return w.peek().Input >= 600_000 })
	c.send("", "a")
	c.expect(strings.Repeat("x", 600_000), "a")
	c.Write([]byte("short"))
	w.await("the bytes", func() bool { in := w.peek().Input; return in > 0 && in < 10_000 })
	w.await("the timeout", func() bool { w.pass(10 * time.Second); return w.server.Stats().RequestTimeouts == 1 })
	require.Less(t, w.clock.Load(), int64(90*time.Second))
	c.expect("refused: " + channel.ErrSlowRequest.Error())
}

// A client needn't end a request that isn't read because others have used up all requests.
func TestRequestTimeoutWhileOthersAreAtIt(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.RequestsMax = 2 }, virtual)
	c, other := w.dial(), w.dial()
	c.Write([]byte("the start"))
	other.send("a") // the poller tells in the order of arrival
	other.expect("a")
	other.send("hold 1 a", "hold 1 b")
	w.await("the asks", func() bool { return w.keeper.holding.Load() == 2 })
	for range 10 {
		w.pass(10 * time.Second)
	}
	c.send(" and the end")
	w.letGo(1)
	w.pass(time.Second)
	other.expect("a", "b")
	c.expect("the start and the end")
	require.Zero(t, w.server.Stats().RequestTimeouts)
}

// The time of a short request isn't that of the long one before it.
func TestRequestTimeoutSoonBehindALongRequest(t *testing.T) {
	if !netio.CanShare {
		t.Skip("goroutines tell this poller of bytes, and a virtual clock doesn't wait for them")
	}
	w := openWorld(t, place{network: "tcp", workers: 1}, nil, virtual)
	c, other := w.dial(), w.dial()
	pass := func(d time.Duration) {
		other.send("b") // the poller tells in the order of arrival
		other.expect("b")
		w.pass(d)
	}
	long := strings.Repeat("x", 120<<10) // it has two minutes more
	c.Write([]byte(long))
	pass(time.Second)
	c.send("")
	c.expect(long)
	c.Write([]byte("short"))
	pass(29 * time.Second)
	require.Zero(t, w.server.Stats().RequestTimeouts)
	pass(2 * time.Second)
	require.EqualValues(t, 1, w.server.Stats().RequestTimeouts)
	c.expect("refused: " + channel.ErrSlowRequest.Error())
	c.expectEnd()
}
