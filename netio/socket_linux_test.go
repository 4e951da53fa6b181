//go:build !portable

package netio

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWriteToEndWithoutReader(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	require.NoError(t, Shutdown(a, false))
	_, err := Read(a, make([]byte, 1))
	require.Equal(t, io.EOF, err)
	_, err = Write(b, []byte("x"))
	require.Equal(t, unix.EPIPE, err)
}

// write(2) would raise SIGPIPE here. Signals that are due together are
// delivered in the order of their numbers, so the later one tells that it is not.
func TestWriteRaisesNoSignal(t *testing.T) {
	f := newFixture(t, batchMax)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGPIPE, unix.SIGWINCH)
	defer signal.Stop(signals)
	a, b := f.pair()
	require.NoError(t, Close(b))
	_, err := Write(a, []byte("x"))
	require.Equal(t, unix.EPIPE, err)
	var v IOVecs
	v.Add([]byte("x"))
	_, err = Writev(a, &v)
	require.Equal(t, unix.EPIPE, err)
	require.NoError(t, unix.Kill(unix.Getpid(), unix.SIGWINCH))
	require.Equal(t, unix.SIGWINCH, <-signals)
}

func TestAcceptedSocketIsNonBlocking(t *testing.T) {
	f := newFixture(t, batchMax)
	_, server := f.tcpPair()
	flags, err := unix.FcntlInt(uintptr(server), unix.F_GETFL, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.O_NONBLOCK)
	flags, err = unix.FcntlInt(uintptr(server), unix.F_GETFD, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.FD_CLOEXEC)
	require.NoError(t, SetNoDelay(server))
	on, err := unix.GetsockoptInt(server, unix.IPPROTO_TCP, unix.TCP_NODELAY)
	require.NoError(t, err)
	require.NotZero(t, on)
}

// At the descriptor limit the connection stays queued, and is accepted later.
func TestAcceptWithoutDescriptors(t *testing.T) {
	f := newFixture(t, batchMax)
	listener, bound := f.listen("tcp", "127.0.0.1:0", ListenOptions{})
	client := f.connect("tcp", bound)
	require.NoError(t, f.connected(client))

	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	free, err := unix.Dup(listener)
	require.NoError(t, err)
	require.NoError(t, Close(free))
	low := limit
	low.Cur = uint64(free)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	_, acceptErr := Accept(listener)
	_, connectErr := Connect("tcp", bound)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))

	require.Equal(t, ErrDescriptors, acceptErr)
	require.ErrorIs(t, connectErr, ErrDescriptors)
	fd, err := Accept(listener)
	require.NoError(t, err)
	require.NoError(t, Close(fd))
}

func TestAcceptSkipsLostConnections(t *testing.T) {
	for errno, want := range map[unix.Errno]bool{
		unix.ECONNABORTED: true, unix.EPROTO: true, unix.ENETDOWN: true,
		unix.EOPNOTSUPP: false, unix.EINVAL: false, unix.EAGAIN: false, unix.EMFILE: false,
	} {
		require.Equal(t, want, lost(errno), errno)
	}
}

// A socket file is replaced only if it refuses connections: not if its server is too busy for one,
// or takes none.
func TestLiveSocketFilesAreNotReplaced(t *testing.T) {
	f := newFixture(t, batchMax)
	dir := shortDir(t)

	full := filepath.Join(dir, "full")
	f.listen("unix", full, ListenOptions{Backlog: 1})
	for {
		fd, err := Connect("unix", full)
		if err != nil {
			require.ErrorIs(t, err, ErrAgain)
			break
		}
		defer Close(fd)
	}
	datagrams := filepath.Join(dir, "datagrams")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: datagrams}))

	for _, path := range []string{full, datagrams} {
		before, err := os.Lstat(path)
		require.NoError(t, err)
		_, _, err = Listen("unix", path, ListenOptions{})
		require.ErrorIs(t, err, unix.EADDRINUSE)
		after, err := os.Lstat(path)
		require.NoError(t, err)
		require.True(t, os.SameFile(before, after), path)
	}
}
