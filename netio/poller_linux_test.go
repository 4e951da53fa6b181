package netio

import (
	"io"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var batches = []int{1, 2, batchMax}

func TestAddReportsWhatIsReadyAlready(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	f.write(b, "x")
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
	require.Equal(t, 1, f.poll()) // writable
	require.Equal(t, 0, f.poll())
	f.write(b, "x")
	require.Equal(t, 1, f.poll())
	require.Equal(t, 0, f.poll(), "nothing new came, though a byte is unread")
	f.write(b, "y")
	require.Equal(t, 1, f.poll())
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
	require.Equal(t, 1, f.poll())
	require.Equal(t, Readable|Writable|Closed, h.seen[1])
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
	f.until(func() bool { return h.seen[len(h.seen)-1]&Closed != 0 })
	_, err = Read(server, make([]byte, 8))
	require.Equal(t, unix.ECONNRESET, err)
}

func TestLenAndRegistrationErrors(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	ta, tb := f.add(a, h), f.add(b, h)
	require.Equal(t, 2, f.p.Len())

	_, err := f.p.Add(a, h)
	require.Equal(t, unix.EEXIST, err)
	_, err = f.p.Add(-1, h)
	require.Equal(t, unix.EBADF, err)
	file, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer file.Close()
	_, err = f.p.Add(int(file.Fd()), h)
	require.Equal(t, unix.EPERM, err)
	require.Equal(t, 2, f.p.Len())

	require.NoError(t, f.p.Remove(ta, a))
	require.NoError(t, Close(b))
	require.Equal(t, unix.EBADF, f.p.Remove(tb, b), "closed too early")
	require.Equal(t, 0, f.p.Len())
	require.Equal(t, 0, f.poll())
}

func TestRemovedDescriptorIsSilent(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	tok := f.add(a, h)
	f.poll()
	f.write(b, "x")
	require.NoError(t, f.p.Remove(tok, a))
	require.Equal(t, 0, f.poll())
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
		for i := range handlers {
			a, _ := f.pair()
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

// Which of several parked workers is woken is the kernel's affair; that it was
// asked to wake but one shows in its refusal to modify such a registration.
func TestListenerIsExclusive(t *testing.T) {
	f := newFixture(t, 1)
	listener, _ := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	tok, err := f.p.AddLevel(listener, new(recorder))
	require.NoError(t, err)
	require.Equal(t, unix.EINVAL, f.p.control(unix.EPOLL_CTL_MOD, listener, unix.EPOLLIN, tok))
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
	require.NoError(t, f.p.Wait(-1), "what was not delivered ends the next wait")

	require.NoError(t, f.p.Remove(second, b))
	require.Equal(t, 1, f.p.Deliver())
	require.Equal(t, []Ready{Writable}, h[0].seen)
	require.Empty(t, h[1].seen, "removed between Wait and Deliver")
	require.Equal(t, uint64(1), f.p.Stale())
	require.Zero(t, f.p.Deliver(), "delivered already")
}

func TestWaitEndsInTimeAndNotBefore(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		f := newFixture(t, batchMax)
		f.p.coarse = coarse
		f.poll()
		for _, d := range []time.Duration{0, 1, 300 * time.Microsecond, time.Millisecond, 1500 * time.Microsecond} {
			start := time.Now()
			require.Equal(t, 0, f.wait(d))
			took := time.Since(start)
			require.GreaterOrEqual(t, took, d, "coarse %v", coarse)
			require.Less(t, took, lostAfter)
		}
		require.Equal(t, coarse, f.p.coarse, "the kernel has epoll_pwait2")
	}
}

func TestWaitFallsBack(t *testing.T) {
	p := new(Poller)
	for errno, want := range map[unix.Errno]bool{0: false, unix.EINTR: false, unix.EBADF: false, unix.ENOSYS: true, unix.EPERM: true} {
		require.Equal(t, want, p.absent(errno), errno)
		require.Equal(t, want, p.coarse, errno)
	}
}

func TestMillisecondsRoundUp(t *testing.T) {
	for ns, want := range map[int64]int32{
		-5: -1, math.MinInt64: -1, 0: 0, 1: 1, 999_999: 1, 1_000_000: 1, 1_000_001: 2,
		math.MaxInt64: math.MaxInt32, math.MaxInt32 * 1e6: math.MaxInt32,
	} {
		require.Equal(t, want, milliseconds(ns), "%d ns", ns)
	}
}

// A wait without end, in both ways of waiting, ended by a descriptor.
func TestWaitForEver(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		for _, ns := range []int64{-1, math.MaxInt64} {
			f := newFixture(t, batchMax)
			f.p.coarse = coarse
			a, b := f.pair()
			f.add(a, new(recorder))
			f.poll()
			var g sync.WaitGroup
			g.Go(func() { Write(b, []byte("x")) })
			require.Equal(t, 1, f.wait(time.Duration(ns)))
			g.Wait()
		}
	}
}

func TestSignalEndsWait(t *testing.T) {
	f := newFixture(t, batchMax)
	tid := make(chan int)
	var done atomic.Bool
	var g sync.WaitGroup
	g.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		tid <- unix.Gettid()
		err := f.p.Wait(int64(lostAfter))
		done.Store(true)
		require.NoError(t, err)
		require.Zero(t, f.p.Deliver())
	})
	id, start := <-tid, time.Now()
	for !done.Load() { // it may not wait yet
		require.NoError(t, unix.Tgkill(unix.Getpid(), id, unix.SIGURG))
		runtime.Gosched()
	}
	g.Wait()
	require.Less(t, time.Since(start), lostAfter)
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
