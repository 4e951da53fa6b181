//go:build !portable

package channel_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestKeepAlive: a client's system that is silent, or acknowledges nothing, is asked and given up
// by default; a server may say otherwise, and one that waits for slow readers for ever gives none
// up for that.
func TestKeepAlive(t *testing.T) {
	for _, c := range []struct {
		set                 func(*config)
		alive, idle, unread int
	}{
		{func(*config) {}, 1, 15, 60_000},
		{func(c *config) { c.KeepAlive, c.WriteTimeout = time.Minute, 10*time.Minute }, 1, 60, 600_000},
		{func(c *config) { c.WriteTimeout = -1 }, 1, 15, 0},
		{func(c *config) { c.KeepAlive = -1 }, 0, 7200, 0},
	} {
		w := openWorld(t, place{network: "tcp", workers: 1}, c.set)
		client := w.dial()
		client.send("a")
		client.expect("a")
		server := acceptedFrom(t, client.LocalAddr().(*net.TCPAddr).Port)
		for _, o := range []struct{ level, name, want int }{
			{unix.SOL_SOCKET, unix.SO_KEEPALIVE, c.alive},
			{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, c.idle},
			{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, c.unread},
		} {
			got, err := unix.GetsockoptInt(server, o.level, o.name)
			require.NoError(t, err)
			require.Equal(t, o.want, got, "option %d", o.name)
		}
	}
}

// acceptedFrom is the descriptor of this process whose other end has the port.
func acceptedFrom(t *testing.T, port int) int {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	for fd := range min(int(limit.Cur), 20_000) {
		if peer, err := unix.Getpeername(fd); err == nil {
			if in, ok := peer.(*unix.SockaddrInet4); ok && in.Port == port {
				return fd
			}
		}
	}
	t.Fatal("no such connection")
	return 0
}
