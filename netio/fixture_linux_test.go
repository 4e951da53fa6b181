//go:build !portable

package netio

import (
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func checkDescriptors(t *testing.T) {
	t.Helper()
	before := descriptors(t)
	t.Cleanup(func() {
		require.Equal(t, before, descriptors(t), "descriptors leaked")
	})
}

// openPoller has the runtime open its own poller, which it keeps for ever: something else than a
// test's descriptors would be the first to need it, if the test's output is a file.
var openPoller = sync.OnceFunc(func() {
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
})

// descriptors reads the list twice, because the first read may open what the
// runtime keeps open for ever.
func descriptors(t *testing.T) []string {
	t.Helper()
	openPoller()
	var open []string
	for range 2 {
		open = open[:0]
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		for _, e := range entries {
			// not the list's own
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
				open = append(open, e.Name()+" "+to)
			}
		}
	}
	return open
}

// pair is a connected pair of Unix stream sockets, closed with the test.
func (f *fixture) pair() (a, b int) {
	f.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	require.NoError(f, err)
	f.Cleanup(func() { Close(fds[0]); Close(fds[1]) })
	return fds[0], fds[1]
}

// abortive makes the close of fd a reset.
func abortive(fd int) error {
	return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// fetched lets the poller have events that no kernel sent.
func (f *fixture) fetched(all []told) {
	f.p.at, f.p.end = 0, len(all)
	for i, e := range all {
		f.p.events[i] = event(uint32(e.ready&Readable)*unix.EPOLLIN|uint32(e.ready&Writable>>1)*unix.EPOLLOUT, e.token)
	}
}

// throttle makes a's buffers small.
func (f *fixture) throttle(a, _ int) {
	require.NoError(f, unix.SetsockoptInt(a, unix.SOL_SOCKET, unix.SO_SNDBUF, 4096))
}

// mallocs is how many allocations f makes, the least of three tries, because the
// runtime makes a few of its own.
func mallocs(f func()) uint64 {
	least := ^uint64(0)
	var before, after runtime.MemStats
	for try := 0; try < 3 && least > 0; try++ {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}
