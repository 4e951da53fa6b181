//go:build !linux || portable

package netio

import (
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// checkDescriptors requires that the test leaves no handle, and that the goroutines
// behind those that it closed come to their ends.
func checkDescriptors(t *testing.T) {
	t.Helper()
	handlesBefore, before := openHandles(), descriptors()
	t.Cleanup(func() {
		require.Equal(t, handlesBefore, openHandles(), "handles leaked")
		for start := time.Now(); descriptors() != before; runtime.Gosched() {
			require.Less(t, time.Since(start), lostAfter, "descriptors leaked")
		}
	})
}

func openHandles() int {
	handles.mu.RLock()
	defer handles.mu.RUnlock()
	return len(handles.open)
}

// descriptors counts what is open, where the system tells.
func descriptors() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// pair is a connected pair of sockets, closed with the test.
func (f *fixture) pair() (a, b int) {
	f.Helper()
	return f.tcpPair()
}

// stream is what fd stands for.
func (f *fixture) stream(fd int) *stream {
	f.Helper()
	s, err := streamOf(fd)
	require.NoError(f, err)
	return s
}

// abortive makes the close of fd a reset.
func abortive(fd int) error {
	s, err := streamOf(fd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.(*net.TCPConn).SetLinger(0)
		s.conn.Close()
	}
	return nil
}

// fetched lets the poller have events that nobody sent.
func (f *fixture) fetched(all []told) {
	f.p.at, f.p.end = 0, len(all)
	for i, e := range all {
		f.p.events[i] = event(e)
	}
}

// throttle makes the buffers between a and b small.
func (f *fixture) throttle(a, b int) {
	require.NoError(f, f.stream(a).conn.(*net.TCPConn).SetWriteBuffer(32<<10))
	require.NoError(f, f.stream(b).conn.(*net.TCPConn).SetReadBuffer(32<<10))
}
