//go:build !portable

package channel_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// dialRaw returns a blocking descriptor: a client that needs no heap.
func dialRaw(t testing.TB, addr string) int {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp4", addr)
	require.NoError(t, err)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	sa := &unix.SockaddrInet4{Port: a.Port}
	copy(sa.Addr[:], a.IP.To4())
	require.NoError(t, unix.Connect(fd, sa))
	return fd
}

func writeAll(t testing.TB, fd int, p []byte) {
	for len(p) > 0 {
		n, err := unix.Write(fd, p)
		if err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
		p = p[max(0, n):]
	}
}

func readAll(t testing.TB, fd int, p []byte) {
	for len(p) > 0 {
		n, err := unix.Read(fd, p)
		if n == 0 || err != nil && err != unix.EINTR {
			t.Fatal("the connection ended", err)
		}
		p = p[max(0, n):]
	}
}
