//go:build !portable

package netio

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A ring in progress keeps the eventfd open; the last one out closes it.
func TestCloseDuringWake(t *testing.T) {
	f := newFixture(t, batchMax)
	fd := f.p.bell.fd
	open := func() bool {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		return err == nil
	}
	require.True(t, f.p.bell.enter())
	require.NoError(t, f.p.Close())
	require.True(t, open())
	require.False(t, f.p.bell.enter())
	f.p.bell.exit()
	require.True(t, open())
	f.p.bell.exit()
	require.False(t, open())
	f.p.Wake() // must not close it a second time, by now it may be another's
	require.Equal(t, uint32(bellClosed|bellGone), f.p.bell.users.Load())
}

// Wakes that come too late never reach a descriptor with the eventfd's number.
func TestLateWakesHitNobody(t *testing.T) {
	checkDescriptors(t)
	for range fewer(300) {
		p, err := open(1)
		require.NoError(t, err)
		var g sync.WaitGroup
		var closed atomic.Bool
		for range 2 {
			g.Go(func() {
				for late := 0; late < 5; {
					p.Wake()
					if closed.Load() {
						late++
					}
				}
			})
		}
		require.NoError(t, p.Close())
		var fds [2]int
		for i := range fds {
			fds[i], err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
			require.NoError(t, err)
		}
		closed.Store(true)
		g.Wait()
		for _, fd := range fds {
			_, err := Read(fd, make([]byte, 8))
			require.Equal(t, ErrAgain, err, "somebody wrote into it")
			require.NoError(t, Close(fd))
		}
	}
}
