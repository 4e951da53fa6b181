//go:build !portable

package netio

import (
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

// Which of several parked workers is woken is the kernel's affair; that it was
// asked to wake but one shows in its refusal to modify such a registration.
func TestListenerIsExclusive(t *testing.T) {
	f := newFixture(t, 1)
	listener, _ := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	tok, err := f.p.AddLevel(listener, new(recorder))
	require.NoError(t, err)
	require.Equal(t, unix.EINVAL, f.p.control(f.p.epfd, unix.EPOLL_CTL_MOD, listener, unix.EPOLLIN, tok))
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

func coarse(f *fixture) { f.p.coarse = true }

func TestCoarseWaitEndsInTimeAndNotBefore(t *testing.T) { testWaitEnds(t, coarse) }
func TestCoarseWaitForEver(t *testing.T)                { testWaitForEver(t, coarse) }

// TestWaitForWake: a Wake ends it, and an event doesn't, which isn't lost.
func TestWaitForWake(t *testing.T) {
	f := newFixture(t, batchMax)
	fd, _ := f.pair()
	f.add(fd, new(recorder)) // it is writable
	start := time.Now()
	require.NoError(t, f.p.WaitForWake(int64(time.Millisecond)))
	require.GreaterOrEqual(t, time.Since(start), time.Millisecond)
	require.Equal(t, 1, f.poll())
	require.Zero(t, mallocs(func() {
		f.p.Wake()
		f.p.WaitForWake(-1)
	}))
}

// TestCoarseCantNap: where a millisecond is the least that a poller waits, nobody naps.
func TestCoarseCantNap(t *testing.T) {
	p, err := Open()
	require.NoError(t, err)
	defer p.Close()
	require.True(t, p.CanNap())
	p.coarse = true // a millisecond is the least that it waits
	require.False(t, p.CanNap())
}

func TestKernelHasPreciseWait(t *testing.T) {
	f := newFixture(t, batchMax)
	f.wait(0)
	require.False(t, f.p.coarse)
}

func TestFilesCantBeAdded(t *testing.T) {
	f := newFixture(t, batchMax)
	file, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer file.Close()
	_, err = f.p.Add(int(file.Fd()), new(recorder))
	require.Equal(t, unix.EPERM, err)
	require.Zero(t, f.p.Len())
}

// TestWaitIsExact: the system doesn't put the end of a short wait off, to end others with it.
func TestWaitIsExact(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := func() int {
		n, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_TIMERSLACK, 0, 0)
		require.Zero(t, errno)
		return int(n)
	}
	const usual = 50_000
	_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, usual, 0)
	require.Zero(t, errno)
	p, err := Open()
	require.NoError(t, err)
	defer p.Close()
	require.NoError(t, p.Wait(exactMost))
	require.Equal(t, usual, slack(), "a long wait isn't worth a system call")
	require.NoError(t, p.Wait(exactMost-1))
	require.Equal(t, 1, slack())
}
