//go:build !portable

package channel_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// A read may end early though more has arrived: at urgent data, and behind a message with
// descriptors. What is behind that is read too.
func TestShortReadIsNoEnd(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		w := openWorld(t, place{network: network, workers: 1}, nil)
		for range 50 {
			c := w.dial()
			c.send("a")
			c.expect("a")
			other := w.dial()
			other.send("block") // so that all has arrived when it is read
			w.await("the block", func() bool { return w.blocked.Load() == 1 })
			c.send("b")
			if network == "tcp" {
				oob(t, c, func(fd int) error { return unix.Sendto(fd, []byte("!"), unix.MSG_OOB, nil) })
			} else {
				oob(t, c, func(fd int) error { return unix.Sendmsg(fd, []byte("c\n"), unix.UnixRights(1), nil, 0) })
			}
			c.send("d")
			time.Sleep(time.Millisecond)
			w.gate <- struct{}{}
			w.blocked.Store(0)
			other.expect("block")
			if network == "tcp" {
				c.expect("b", "d")
			} else {
				c.expect("b", "c", "d")
			}
			c.Close()
			other.Close()
		}
	}
}

func oob(t *testing.T, c *client, f func(fd int) error) {
	raw, err := c.Conn.(interface {
		SyscallConn() (syscall.RawConn, error)
	}).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = f(int(fd)) }))
	require.NoError(t, err)
}

// What a client has sent takes memory in proportion: requests that wait don't hold the buffer of a
// read, nor does one byte.
func TestInputTakesLittle(t *testing.T) {
	if invariant.Race {
		t.Skip("the heap of a race run is another")
	}
	w := openWorld(t, place{network: "tcp", workers: 1}, nil)
	w.dial()
	w.await("a connection", func() bool { return w.server.Stats().Conns == 1 })
	const conns = 200
	var all []int
	before := heap()
	for range conns {
		fd := dialRaw(t, w.server.Addr())
		defer unix.Close(fd)
		writeAll(t, fd, []byte("x"))
		all = append(all, fd)
	}
	w.await("all connections", func() bool { return w.server.Stats().Conns == conns+1 })
	time.Sleep(20 * time.Millisecond)
	each := (heap() - before) / conns
	t.Logf("a byte each: %d bytes of heap a connection", each)
	require.LessOrEqual(t, each, int64(4+4<<10))

	// Requests of a client that sends them one by one.
	line := "hold 1 " + strings.Repeat("y", 1016) + "\n"
	for _, fd := range all {
		writeAll(t, fd, []byte("\n"))
	}
	const requests = 3
	for i := range requests {
		for k, fd := range all {
			writeAll(t, fd, []byte(line))
			if k%50 == 49 {
				w.await("the requests", func() bool { return w.keeper.holding.Load() == int64(i*conns+k+1) })
			}
		}
	}
	each = (heap() - before) / conns
	t.Logf("%d requests of %d bytes each: %d bytes of heap a connection", requests, len(line), each)
	require.LessOrEqual(t, each, int64(4*requests*len(line)+4<<10))
	w.letGo(1)
	want := []byte("x\n" + strings.Repeat(strings.TrimPrefix(line, "hold 1 "), requests))
	for _, fd := range all {
		got := make([]byte, len(want))
		readAll(t, fd, got)
		require.Equal(t, string(want), string(got))
	}
}

// How long a handshake and a first answer take while one worker of four is busy with steps of a
// second.
func TestNewConnectionsBesideSlowSteps(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	for _, network := range []string{"tcp", "unix"} {
		w := openWorld(t, place{network: network, workers: 4}, nil)
		stop := make(chan struct{})
		slow := w.dial()
		by := slow.servedBy()
		done := begin(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
					slow.send("sleep 1000")
					slow.expect("sleep 1000")
				}
			}
		})
		var took []time.Duration
		for began := time.Now(); time.Since(began) < 3*time.Second; {
			from := time.Now()
			conn, err := net.Dial(network, w.server.Addr())
			require.NoError(t, err)
			fmt.Fprint(conn, "a\n")
			_, err = conn.Read(make([]byte, 10))
			require.NoError(t, err)
			took = append(took, time.Since(from))
			conn.Close()
			time.Sleep(time.Millisecond)
		}
		close(stop)
		require.NoError(t, <-done)
		slices.Sort(took)
		p99 := took[len(took)*99/100]
		t.Logf("%s: worker %d is slow; of %d connections p50 %v, p99 %v, longest %v", network, by, len(took), took[len(took)/2], p99, took[len(took)-1])
		require.LessOrEqual(t, p99, 50*time.Millisecond)
	}
}
