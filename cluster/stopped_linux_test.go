package cluster

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// child is a node in a process of its own: the test binary, at the test that began it.
type child struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	in      io.Closer // it ends once this is closed
}

// isChild reports whether this process is to be a child.
func isChild() bool { return os.Getenv("CLUSTER_CHILD") != "" }

// serveAsChild is what a child does.
func serveAsChild(t *testing.T, c Config) {
	c.Name, c.Listen = "there", "127.0.0.1:0"
	there := newPlace(t, c)
	_, err := core.SpawnWith(there.sys, func() *ledger { return &ledger{} }, core.Props{Name: "ledger", Mailbox: core.Unbounded()})
	require.NoError(t, err)
	fmt.Println("listens", there.node.Addr())
	io.Copy(io.Discard, os.Stdin)
}

func newChild(t *testing.T) *child { return newChildOf(t, os.Args[0]) }

// newChildOf makes a child of another test binary.
func newChildOf(t *testing.T, binary string) *child {
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(binary, "-test.run=^"+name+"$")
	cmd.Env = append(os.Environ(), "CLUSTER_CHILD=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	c := &child{t: t, cmd: cmd, in: in}
	_, err = fmt.Sscanf(line, "listens %s\n", &c.address)
	require.NoError(t, err, line)
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Signal(syscall.SIGCONT)
		require.NoError(t, cmd.Wait())
	})
	return c
}

func (c *child) signals(s syscall.Signal) { require.NoError(c.t, c.cmd.Process.Signal(s)) }

// heap is what is in use behind a collection, bytes.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

// TestG7StoppedPeer: what a node keeps for a peer whose process doesn't run is the window and a
// mailbox; who goes on hears at once that it is full. Once the peer runs again all comes that was
// accepted.
func TestG7StoppedPeer(t *testing.T) {
	stoppedPeer(t, 400*time.Millisecond, session.Timing{Silence: 1e8, Reset: 3e8})
}

// TestLongStoppedPeer is the same for longer than it takes until connections are closed, with the
// latencies of another peer.
func TestLongStoppedPeer(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG")
	}
	stoppedPeer(t, 10*time.Second, session.Timing{})
}

func stoppedPeer(t *testing.T, stopped time.Duration, timing session.Timing) {
	if isChild() {
		serveAsChild(t, Config{Timing: timing})
		return
	}
	const mailbox, size = 1024, 200
	there := newChild(t)
	other := newPlace(t, Config{Name: "other", Listen: "127.0.0.1:0"})
	_, err := core.SpawnWith(other.sys, func() *ledger { return &ledger{} }, core.Props{Name: "ledger"})
	require.NoError(t, err)
	here := newPlace(t, Config{Name: "here", Peers: map[string]string{"there": there.address, "other": other.node.Addr()}, Mailbox: mailbox, Timing: timing})
	far, err := here.node.Lookup(t.Context(), "there", "/user/ledger")
	require.NoError(t, err)
	beside, err := here.node.Lookup(t.Context(), "other", "/user/ledger")
	require.NoError(t, err)
	n := 0
	for ; n < 100; n++ {
		require.NoError(t, core.NoticeWait(t.Context(), tells.At(far), padded(n, size)))
	}
	_, err = core.Ask(t.Context(), count.At(far), struct{}{})
	require.NoError(t, err)
	p99 := latency(t, beside, stopped)

	before := heap()
	there.signals(syscall.SIGSTOP)
	full := 0
	for ; full < 1000; n++ {
		began := time.Now()
		if err = core.Notice(tells.At(far), padded(n, size)); err != nil {
			require.Equal(t, core.ErrMailboxFull, err)
			require.Less(t, time.Since(began), time.Second)
			full++
			n--
		}
	}
	during := latency(t, beside, stopped)
	grown := heap() - before
	credits := session.Window + mailbox*(size+callSize)
	t.Logf("%d bytes for credits of %d; p99 of another peer %v, and before %v", grown, credits, during, p99)
	if !housetest.Slow {
		require.Less(t, grown, credits*11/10)
	}
	if os.Getenv("STACKHOUSE_LONG") != "" {
		require.Less(t, during, p99*3/2+50*time.Microsecond)
	}
	there.signals(syscall.SIGCONT)
	require.Eventually(t, func() bool {
		rep, err := core.Ask(t.Context(), count.At(far), struct{}{})
		return err == nil && (rep.Sum == n || rep.Sum < 0)
	}, 20*time.Second, 10*time.Millisecond)
	rep, err := core.Ask(t.Context(), count.At(far), struct{}{})
	require.NoError(t, err)
	require.Equal(t, n, rep.Sum)
}

// latency asks for some time, and returns what all but one in a hundred asks take at most.
func latency(t *testing.T, far core.AnyAddress, d time.Duration) time.Duration {
	var took []time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); {
		began := time.Now()
		_, err := core.Ask(t.Context(), add.At(far), addReq{1})
		require.NoError(t, err)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
