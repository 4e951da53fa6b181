package netio

import (
	"io"
	"math"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var batches = []int{1, 2, batchMax}

func TestAddReportsWhatIsReadyAlready(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	f.write(b, "x")
	f.arrived(a)
	h := new(recorder)
	f.add(a, h)
	require.Equal(t, 1, f.poll())
	require.Equal(t, []Ready{Readable | Writable}, h.seen)
}

func TestEdgesComeOnce(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	f.add(a, h)
	require.Equal(t, 1, f.next()) // writable
	require.Equal(t, 0, f.poll())
	f.write(b, "x")
	require.Equal(t, 1, f.next())
	require.Equal(t, 0, f.poll(), "nothing new came, though a byte is unread")
	f.write(b, "y")
	require.Equal(t, 1, f.next())
	require.NotZero(t, h.seen[2]&Readable)
}

func TestPeerClosing(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	f.add(a, h)
	f.poll()
	f.write(b, "x")
	require.NoError(t, Shutdown(b, true))
	f.until(func() bool { return h.last()&Closed != 0 })
	require.Equal(t, Readable|Writable|Closed, h.last())
	buf := make([]byte, 8)
	n, err := Read(a, buf)
	require.NoError(t, err)
	require.Equal(t, "x", string(buf[:n]))
	_, err = Read(a, buf)
	require.Equal(t, io.EOF, err)
}

func TestReset(t *testing.T) {
	f := newFixture(t, batchMax)
	listener, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	client, err := Connect("tcp", bound)
	require.NoError(t, err)
	server := f.accept(listener)
	h := new(recorder)
	f.add(server, h)
	f.poll()
	require.NoError(t, f.connected(client))
	require.NoError(t, abortive(client))
	require.NoError(t, Close(client))
	f.until(func() bool { return h.last()&Closed != 0 })
	_, err = Read(server, make([]byte, 8))
	require.Equal(t, syscall.ECONNRESET, err)
}

func TestRemovedDescriptorIsSilent(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	tok := f.add(a, h)
	f.poll()
	f.write(b, "x")
	f.arrived(a)
	require.NoError(t, f.p.Remove(tok, a))
	require.Equal(t, 0, f.poll())
	require.Zero(t, f.p.Stale(), "what was not fetched is not fetched any more")
	h.seen = nil
	f.add(a, h)
	require.Equal(t, 1, f.poll())
	require.Equal(t, []Ready{Readable | Writable}, h.seen)
}

func TestEveryEventArrivesInSmallBatches(t *testing.T) {
	for _, batch := range batches {
		f := newFixture(t, batch)
		const pairs = 20
		handlers := make([]recorder, pairs)
		var ends [pairs]int
		for i := range ends {
			ends[i], _ = f.pair()
		}
		for i, a := range ends {
			f.add(a, &handlers[i])
		}
		total := 0
		for n := f.poll(); n > 0; n = f.poll() {
			require.LessOrEqual(t, n, batch)
			total += n
		}
		require.Equal(t, pairs, total)
		for i := range handlers {
			require.Equal(t, []Ready{Writable}, handlers[i].seen, "batch %d, pair %d", batch, i)
		}
	}
}

func TestSharedListener(t *testing.T) {
	f, g := newFixture(t, 1), newFixture(t, 1)
	listener, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	var h [2]recorder
	_, err := f.p.AddLevel(listener, &h[0])
	require.NoError(t, err)
	_, err = g.p.AddLevel(listener, &h[1])
	require.NoError(t, err)
	f.connect("tcp", bound)
	f.until(func() bool { return len(h[0].seen) > 0 })
	require.Equal(t, []Ready{Readable}, h[0].seen)
	require.Equal(t, 1, f.poll(), "level-triggered: it still is")
	fd, err := Accept(listener)
	require.NoError(t, err)
	require.NoError(t, Close(fd))
	require.Equal(t, 0, f.poll())
	require.Equal(t, 0, g.poll(), "nothing is left for the other")
}

func TestWaitCallsNobody(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	var h [2]recorder
	f.add(a, &h[0])
	second := f.add(b, &h[1])
	require.NoError(t, f.p.Wait(-1))
	require.Empty(t, h[0].seen)
	require.Empty(t, h[1].seen)
	require.NoError(t, f.p.Remove(second, b))
	require.Equal(t, 1, f.p.Deliver())
	require.Equal(t, []Ready{Writable}, h[0].seen)
	require.Empty(t, h[1].seen, "removed between Wait and Deliver")
	require.Equal(t, uint64(1), f.p.Stale())
	require.Zero(t, f.p.Deliver(), "delivered already")
}

// A collection must not wait for a parked worker, even if there is but one processor.
func TestCollectionDuringWait(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f := newFixture(t, batchMax)
	var g sync.WaitGroup
	g.Go(func() { f.p.Wait(-1) })
	for range 3 {
		runtime.GC()
	}
	f.p.Wake()
	g.Wait()
}

func TestClosedPoller(t *testing.T) {
	f := newFixture(t, batchMax)
	a, _ := f.pair()
	tok := f.add(a, new(recorder))
	require.NoError(t, f.p.Close())
	require.ErrorIs(t, f.p.Close(), ErrClosed)
	_, err := f.p.Poll()
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, f.p.Wait(-1), ErrClosed)
	require.Zero(t, f.p.Deliver())
	_, err = f.p.Add(a, new(recorder))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, f.p.Remove(tok, a), ErrClosed)
	require.Zero(t, f.p.Len())
	f.p.Wake()
}

// A peer that has ended its side can still break the connection.
func TestResetBehindTheEnd(t *testing.T) {
	f := newFixture(t, batchMax)
	conn, fd := f.raw()
	h := new(recorder)
	f.add(fd, h)
	require.NoError(t, conn.CloseWrite())
	f.until(func() bool { return h.last()&Closed != 0 })
	require.NoError(t, ConnectError(fd))
	require.NoError(t, conn.SetLinger(0))
	require.NoError(t, conn.Close())
	h.seen = nil
	// it may be told of the end twice
	f.until(func() bool { return h.last()&Closed != 0 && ConnectError(fd) != nil })
}

func TestLenAndRegistrationErrors(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	ta, tb := f.add(a, h), f.add(b, h)
	require.Equal(t, 2, f.p.Len())

	_, err := f.p.Add(a, h)
	require.Equal(t, syscall.EEXIST, err)
	_, err = f.p.Add(-1, h)
	require.Equal(t, syscall.EBADF, err)
	require.Equal(t, 2, f.p.Len())

	require.NoError(t, f.p.Remove(ta, a))
	require.NoError(t, Close(b))
	require.Equal(t, syscall.EBADF, f.p.Remove(tb, b), "closed too early")
	require.Equal(t, 0, f.p.Len())
	require.Equal(t, 0, f.poll())
}

func TestWaitEndsInTimeAndNotBefore(t *testing.T) { testWaitEnds(t, func(*fixture) {}) }

func testWaitEnds(t *testing.T, prepare func(f *fixture)) {
	f := newFixture(t, batchMax)
	prepare(f)
	f.poll()
	for _, d := range []time.Duration{0, 1, 300 * time.Microsecond, time.Millisecond, 1500 * time.Microsecond} {
		start := time.Now()
		require.Equal(t, 0, f.wait(d))
		took := time.Since(start)
		require.GreaterOrEqual(t, took, d)
		require.Less(t, took, lostAfter)
	}
}

// A wait without end, ended by a descriptor.
func TestWaitForEver(t *testing.T) { testWaitForEver(t, func(*fixture) {}) }

func testWaitForEver(t *testing.T, prepare func(f *fixture)) {
	for _, ns := range []int64{-1, math.MaxInt64} {
		f := newFixture(t, batchMax)
		prepare(f)
		a, b := f.pair()
		f.add(a, new(recorder))
		f.poll()
		var g sync.WaitGroup
		g.Go(func() { Write(b, []byte("x")) })
		require.Equal(t, 1, f.wait(time.Duration(ns)))
		g.Wait()
	}
}

// Events that nobody delivers don't end a Wait, nor get lost in it.
func TestWaitAddsToWhatWasFetched(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	var h [2]recorder
	f.add(a, &h[0])
	require.NoError(t, f.p.Wait(-1))
	start := time.Now()
	require.NoError(t, f.p.Wait(int64(time.Millisecond)))
	require.GreaterOrEqual(t, time.Since(start), time.Millisecond)
	f.add(b, &h[1])
	require.NoError(t, f.p.Wait(-1))
	f.p.Wake()
	require.NoError(t, f.p.Wait(-1))
	require.Equal(t, 2, f.p.Deliver())
	require.Equal(t, []Ready{Writable}, h[0].seen)
	require.Equal(t, []Ready{Writable}, h[1].seen)
}

// A batch that is full ends every Wait: nothing could be added.
func TestWaitWithoutRoom(t *testing.T) {
	f := newFixture(t, 1)
	a, b := f.pair()
	h := new(recorder)
	f.add(a, h)
	f.add(b, h)
	f.next()
	f.next()
	f.write(b, "x")
	f.arrived(a)
	require.NoError(t, f.p.Wait(-1))
	require.NoError(t, f.p.Wait(-1))
	require.Equal(t, 1, f.p.Deliver())
}

// Whoever runs the turns of a worker that waits may add and remove.
func TestAddAndRemoveDuringWait(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	var waited sync.WaitGroup
	waited.Go(func() { f.p.Wait(-1) })
	require.NoError(t, f.p.Remove(f.add(a, h), a))
	f.add(b, h)
	f.p.Wake()
	waited.Wait()
	f.p.Poll()
	f.p.Poll() // the first may only have delivered what the Wait had fetched
	require.Equal(t, []Ready{Writable}, h.seen)
}

// What was sent, and who connected, before Settle is there after it, though the poller has
// not told of it.
func TestSettle(t *testing.T) {
	f := newFixture(t, batchMax)
	listener, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	_, err := f.p.AddLevel(listener, new(recorder))
	require.NoError(t, err)
	buf := make([]byte, 16)
	for i := range fewer(30) {
		conn, err := net.Dial("tcp", bound)
		require.NoError(t, err)
		_, err = conn.Write([]byte("hello"))
		require.NoError(t, err)
		f.p.Settle()
		fd, err := Accept(listener)
		require.NoError(t, err, "connection %d", i)
		tok := f.add(fd, new(recorder))
		f.p.Settle()
		n, err := Read(fd, buf)
		require.NoError(t, err, "connection %d", i)
		require.Equal(t, "hello", string(buf[:n]))
		require.NoError(t, f.p.Remove(tok, fd))
		require.NoError(t, Close(fd))
		require.NoError(t, conn.Close())
	}
}
