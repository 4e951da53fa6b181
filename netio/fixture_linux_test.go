package netio

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lostAfter is how long a test waits for what must happen before it fails.
const lostAfter = 30 * time.Second

// fixture is a poller with helpers that fail the test. When the test ends all its
// descriptors must be gone.
type fixture struct {
	*testing.T
	p *Poller
}

func newFixture(t *testing.T, batch int) *fixture {
	t.Helper()
	checkDescriptors(t)
	p, err := open(batch)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != ErrClosed {
			require.NoError(t, err)
		}
	})
	return &fixture{t, p}
}

func checkDescriptors(t *testing.T) {
	t.Helper()
	before := descriptors(t)
	t.Cleanup(func() {
		require.Equal(t, before, descriptors(t), "descriptors leaked")
	})
}

// descriptors reads the list twice, because the first read may open what the
// runtime keeps open for ever.
func descriptors(t *testing.T) []string {
	t.Helper()
	var open []string
	for range 2 {
		open = open[:0]
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		for _, e := range entries {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil { // not the list's own
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

func (f *fixture) add(fd int, h Handler) Token {
	f.Helper()
	t, err := f.p.Add(fd, h)
	require.NoError(f, err)
	return t
}

func (f *fixture) poll() int {
	f.Helper()
	n, err := f.p.Poll()
	require.NoError(f, err)
	return n
}

// wait waits, and delivers what came.
func (f *fixture) wait(d time.Duration) int {
	f.Helper()
	require.NoError(f, f.p.Wait(int64(d)))
	return f.p.Deliver()
}

// until waits for events until done.
func (f *fixture) until(done func() bool) {
	f.Helper()
	for start := time.Now(); !done(); {
		require.Less(f, time.Since(start), lostAfter, "an event is lost")
		f.wait(lostAfter)
	}
}

func (f *fixture) write(fd int, s string) {
	f.Helper()
	n, err := Write(fd, []byte(s))
	require.NoError(f, err)
	require.Equal(f, len(s), n)
}

func (f *fixture) listen(network, address string, opt ListenOptions) (fd int, bound string) {
	f.Helper()
	fd, bound, err := Listen(network, address, opt)
	require.NoError(f, err)
	f.Cleanup(func() { Close(fd) })
	return fd, bound
}

func (f *fixture) connect(network, address string) int {
	f.Helper()
	fd, err := Connect(network, address)
	require.NoError(f, err)
	f.Cleanup(func() { Close(fd) })
	return fd
}

// connected ends the attempt begun on fd, and returns ConnectError.
func (f *fixture) connected(fd int) error {
	f.Helper()
	tok := f.add(fd, new(recorder))
	err := ErrAgain
	f.until(func() bool {
		err = ConnectError(fd)
		return err != ErrAgain
	})
	require.NoError(f, f.p.Remove(tok, fd))
	return err
}

func (f *fixture) accept(listener int) int {
	f.Helper()
	var fd int
	tok, err := f.p.AddLevel(listener, new(recorder))
	require.NoError(f, err)
	f.until(func() bool {
		fd, err = Accept(listener)
		return err != ErrAgain
	})
	require.NoError(f, err)
	require.NoError(f, f.p.Remove(tok, listener))
	f.Cleanup(func() { Close(fd) })
	return fd
}

// tcpPair is a TCP connection over loopback.
func (f *fixture) tcpPair() (client, server int) {
	f.Helper()
	listener, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	client = f.connect("tcp", bound)
	server = f.accept(listener)
	require.NoError(f, f.connected(client))
	return client, server
}

// abortive makes the close of fd a reset.
func abortive(fd int) error {
	return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// abstract is a name in the abstract name space that no other process has.
func abstract(name string) string { return fmt.Sprintf("@netio-%d-%s", os.Getpid(), name) }

// fewer is n for a quick run, less for one that is slow or meant to be short.
func fewer(n int) int {
	if testing.Short() || invariant.Race {
		return n / 10
	}
	return n
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
