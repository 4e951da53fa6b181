package netio

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

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

// next waits until a handler is called.
func (f *fixture) next() int {
	f.Helper()
	n := 0
	for start := time.Now(); n == 0; n = f.wait(lostAfter) {
		require.Less(f, time.Since(start), lostAfter, "an event is lost")
	}
	return n
}

// arrived waits until something can be read from fd.
func (f *fixture) arrived(fd int) {
	f.Helper()
	p, err := open(1)
	require.NoError(f, err)
	other := &fixture{f.T, p}
	h := new(recorder)
	tok := other.add(fd, h)
	other.until(func() bool { return h.last()&(Readable|Closed) != 0 })
	require.NoError(f, p.Remove(tok, fd))
	require.NoError(f, p.Close())
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

// raw is a connection of package net to a descriptor.
func (f *fixture) raw() (conn *net.TCPConn, fd int) {
	f.Helper()
	listener, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	c, err := net.Dial("tcp", bound)
	require.NoError(f, err)
	f.Cleanup(func() { c.Close() })
	require.NoError(f, c.SetDeadline(time.Now().Add(lostAfter)))
	return c.(*net.TCPConn), f.accept(listener)
}

// socketName is an address for a Unix socket that no other process has.
func socketName(t *testing.T, name string) string {
	t.Helper()
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("@netio-%d-%s", os.Getpid(), name)
	}
	return filepath.Join(shortDir(t), name)
}

// shortDir is a folder whose path leaves room in a socket's address: a hundred bytes are all.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "netio")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// fewer is n for a quick run, less for one that is slow or meant to be short.
func fewer(n int) int {
	if testing.Short() || invariant.Race {
		return n / 10
	}
	return n
}
