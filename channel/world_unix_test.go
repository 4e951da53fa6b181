//go:build unix

package channel_test

import (
	"syscall"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// arrived waits until there is a result to read, and leaves it unread.
func (c *client) arrived() {
	c.t.Helper()
	raw, err := c.Conn.(syscall.Conn).SyscallConn()
	require.NoError(c.t, err)
	require.NoError(c.t, raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	}))
}
