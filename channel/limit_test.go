package channel_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

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
	w := openWorld(t, place{"tcp", 2}, nil)
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
	if each > 1280 && !invariant.Race {
		t.Errorf("an idle connection takes %.0f bytes of heap, want at most 1,280", each)
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
		unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}) // no TIME_WAIT
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

func TestConnsMax(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, func(c *config) { c.ConnsMax = 3 })
		for range 3 {
			var all []*client
			for range 3 {
				c := w.dial()
				c.send("a")
				c.expect("a")
				all = append(all, c)
			}
			for range 5 {
				w.dial().expectEnd()
			}
			for _, c := range all {
				c.send("b")
				c.expect("b")
				c.Close()
			}
			w.await("room", func() bool { return w.server.Stats().Conns == 0 })
		}
		require.Equal(t, uint64(9), w.server.Stats().Accepted)
	})
}

// TestAcceptAtDescriptorLimit: a server without descriptors serves whom it has, does
// not burn the processor, and accepts again when it has some.
func TestAcceptAtDescriptorLimit(t *testing.T) {
	if os.Getenv("CHANNEL_CHILD") != "" {
		serveFewDescriptors(t)
		return
	}
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) { descriptorLimit(t, network) })
	}
}

// serveFewDescriptors serves with room for 10 connections until the input ends.
func serveFewDescriptors(t *testing.T) {
	w := openWorld(t, place{os.Getenv("CHANNEL_CHILD"), 2}, nil)
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few := limit
	few.Cur = uint64(descriptors(t) - 1 + 10) // the list's own is gone
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	fmt.Println("serving", w.server.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var used unix.Rusage
		unix.Getrusage(unix.RUSAGE_SELF, &used)
		fmt.Println("used", time.Duration(used.Utime.Nano()+used.Stime.Nano()).Microseconds())
	}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
}

func descriptorLimit(t *testing.T, network string) {
	ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestAcceptAtDescriptorLimit$")
	child.Env = append(os.Environ(), "CHANNEL_CHILD="+network)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewReader(out)
	answer := func(word string) string {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		rest, ok := strings.CutPrefix(line, word+" ")
		require.True(t, ok, line)
		return strings.TrimSpace(rest)
	}
	address := answer("serving")
	var all, served, waiting []*client
	for range 30 {
		conn, err := net.Dial(network, address)
		require.NoError(t, err)
		defer conn.Close()
		c := &client{conn, t, bufio.NewReader(conn)}
		c.send("a")
		all = append(all, c)
	}
	for len(served) < 5 {
		require.NoError(t, ctx.Err(), "the server serves nobody")
		served, waiting = nil, nil
		for _, c := range all {
			c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if _, err := c.r.Peek(1); err == nil {
				served = append(served, c)
			} else {
				waiting = append(waiting, c)
			}
			c.SetReadDeadline(time.Now().Add(lostAfter))
		}
	}
	require.NotEmpty(t, waiting)
	use := func() time.Duration {
		fmt.Fprintln(in, "use")
		var us int64
		fmt.Sscan(answer("used"), &us)
		return time.Duration(us) * time.Microsecond
	}
	before, began := use(), time.Now()
	waiting[0].SetReadDeadline(began.Add(500 * time.Millisecond))
	_, err = waiting[0].r.Peek(1)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	waiting[0].SetReadDeadline(time.Now().Add(lostAfter))
	if used, took := use()-before, time.Since(began); used > took/4 {
		t.Errorf("the server used %v in %v at its descriptor limit", used, took)
	}
	for _, c := range served {
		c.send("b")
		c.expect("a", "b")
		c.Close()
	}
	var group sync.WaitGroup
	for _, c := range waiting { // there is room for some, in any order, then for others
		group.Go(func() {
			if got, err := c.r.ReadString('\n'); got != "a\n" {
				t.Errorf("%q, %v behind the descriptor limit", got, err)
			}
			c.Close()
		})
	}
	group.Wait()
	in.Close()
	require.NoError(t, child.Wait())
}
