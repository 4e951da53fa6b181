//go:build !portable

package house_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// TestStartUndoesItself: if there are descriptors for one worker but not for the other, Start
// fails and has opened nothing; it works when there are more.
func TestStartUndoesItself(t *testing.T) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	restore := func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) }
	defer restore()
	sys := newSystem(t, house.Config{Workers: 2})
	_, p := spawn(sys)
	c := core.Begin(p, reply(3))
	held := fillDescriptors(t)
	files := descriptors(t)
	few := limit
	few.Cur = held + 3 // a poller has two
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	err := sys.Start(t.Context())
	restore()
	require.ErrorIs(t, err, unix.EMFILE)
	require.Equal(t, files, descriptors(t))
	require.NoError(t, sys.Start(t.Context()))
	n, err := c.Get()
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.NoError(t, shutdown(sys))
	require.Equal(t, files, descriptors(t))
}

// fillDescriptors opens files until no number is free below one that it returns.
func fillDescriptors(t *testing.T) (free uint64) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, d := range all {
		n, err := strconv.ParseUint(d.Name(), 10, 64)
		require.NoError(t, err)
		free = max(free, n+1)
	}
	for {
		f, err := os.Open(os.DevNull)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		if n := uint64(f.Fd()); n >= free {
			return n + 1
		}
	}
}
