package channel_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestG24AcceptAtDescriptorLimit: a server without descriptors serves whom it has, does
// not burn the processor, and accepts again when it has some.
func TestG24AcceptAtDescriptorLimit(t *testing.T) {
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
	w := openWorld(t, place{network: os.Getenv("CHANNEL_CHILD"), workers: 2}, nil)
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
	require.NotZero(t, w.server.Stats().AcceptFailures)
	require.Contains(t, w.failed.last.Load(), "channel: accept on "+w.server.Addr(), "it is told")
}

func descriptorLimit(t *testing.T, network string) {
	ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestG24AcceptAtDescriptorLimit$")
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
	for same := 0; same < 3; { // who is served may be slow to answer
		require.NoError(t, ctx.Err(), "the server serves nobody, or ever others")
		before := len(served)
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
		if same++; len(served) != before || before < 5 {
			same = 0
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
