//go:build !portable

// The portable poller allocates: goroutines and buffers stand behind each connection.

package channel_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// idleConnections is how many there are; a race run has fewer.
func idleConnections() int {
	if invariant.Race {
		return 1_000
	}
	return 10_000
}

// TestIdleConnections: 10,000 cost little, and those that are at work don't
// notice. The clients are a process of their own: both would need more descriptors
// than one may have.
func TestIdleConnections(t *testing.T) {
	if addr := os.Getenv("CHANNEL_IDLE_CLIENTS"); addr != "" {
		idleClients(t, addr)
		return
	}
	n := idleConnections()
	w := openWorld(t, place{network: "tcp", workers: 2}, nil)
	warm := w.dial()
	warm.send("a")
	warm.expect("a")
	before := heap()

	child := exec.Command(os.Args[0], "-test.run=^TestIdleConnections$")
	child.Env = append(os.Environ(), "CHANNEL_IDLE_CLIENTS="+w.server.Addr())
	leave, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	child.Stderr = os.Stderr
	require.NoError(t, child.Start())
	word, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", word)
	require.EqualValues(t, n+1, w.server.Stats().Conns)

	each := float64(heap()-before) / float64(n)
	t.Logf("%d idle connections, %.0f bytes of heap each", n, each)
	if each > 832 && !invariant.Race {
		t.Errorf("an idle connection takes %.0f bytes of heap, want at most 832", each)
	}
	for range 100 {
		warm.send("b")
		warm.expect("b")
	}
	leave.Close()
	require.NoError(t, child.Wait())
	w.await("all connections gone", func() bool { return w.server.Stats().Conns == 1 })
}

// idleClients opens the connections, has each at work once, and keeps them until
// its input ends.
func idleClients(t *testing.T, addr string) {
	var clients []int
	line := []byte("hello\n")
	got := make([]byte, len(line))
	for range idleConnections() {
		fd := dialRaw(t, addr)
		writeAll(t, fd, line)
		readAll(t, fd, got)
		require.Equal(t, "hello\n", string(got))
		clients = append(clients, fd)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	for _, fd := range clients {
		// no TIME_WAIT
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		unix.Close(fd)
	}
}

// heap is the bytes in use behind a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
