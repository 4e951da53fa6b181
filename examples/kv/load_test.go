package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// TestShutdownUnderLoad: what SIGTERM does. Each command was answered, or it was not
// taken in and the connection ended between two replies.
func TestShutdownUnderLoad(t *testing.T) {
	each(t, func(t *testing.T, workers int) { shutdownUnderLoad(t, workers) })
}

// TestLongShutdownUnderLoad repeats it for two minutes.
func TestLongShutdownUnderLoad(t *testing.T) {
	if os.Getenv("STACKHOUSE_LONG") == "" {
		t.Skip("set STACKHOUSE_LONG=1: this takes two minutes")
	}
	for began := time.Now(); time.Since(began) < 2*time.Minute && !t.Failed(); {
		each(t, func(t *testing.T, workers int) { shutdownUnderLoad(t, workers) })
	}
}

func shutdownUnderLoad(t *testing.T, workers int) {
	const (
		clients = 10
		depth   = 20
	)
	w := openWorld(t, workers, options{})
	var answered atomic.Int64
	var group sync.WaitGroup
	for i := range clients {
		c := w.dial()
		group.Go(func() {
			for round := 0; ; round++ {
				var text []byte
				for j := range depth {
					key := fmt.Sprintf("c%d.%d", i, j)
					text = resp.AppendCommand(text, "SET", key, fmt.Sprint(round))
					text = resp.AppendCommand(text, "MGET", key, key)
				}
				if _, err := c.Write(text); err != nil {
					gone(t, err)
					return
				}
				for j := range 2 * depth {
					reply, err := c.next()
					if err != nil {
						gone(t, err)
						if len(c.in) > 0 {
							t.Errorf("the connection ended within a reply: %q", c.in)
						}
						return
					}
					v := fmt.Sprint(round)
					want := [...]string{"+OK", fmt.Sprintf("*2 $%d %s $%d %s", len(v), v, len(v), v)}[j%2]
					if got := flat(reply); got != want {
						t.Errorf("client %d: %q, want %q", i, got, want)
						return
					}
					answered.Add(1)
				}
			}
		})
	}
	for began := time.Now(); answered.Load() < 5000; runtime.Gosched() {
		require.Less(t, time.Since(began), lostAfter)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
	defer cancel()
	require.NoError(t, w.system.Shutdown(ctx))
	group.Wait()
}

// gone requires that err is how a connection ends that the server has closed.
func gone(t *testing.T, err error) {
	if err.Error() != "EOF" && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the connection ended by %v", err)
	}
}

// TestCommandsAllocateNothing: a million GETs and a million SETs through sockets, with
// workers that park and are woken. The client is in the process too.
func TestCommandsAllocateNothing(t *testing.T) {
	n := 1_000_000
	if invariant.Race || invariant.Enabled {
		n = 20_000
	}
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, options{spin: 1}) // park as soon as there is nothing to do
		l := newLoad(t, w)
		defer l.close()
		for began := time.Now(); w.system.Stats().Parks < uint64(10*workers); {
			require.Less(t, time.Since(began), lostAfter, "the workers don't park")
			l.run(2*loadDepth, 1)
		}
		l.run(n/10, 4*loadConns) // so that the pools hold more than ever is out at once later on
		housetest.ZeroAlloc(t, 2*n, func(n int) { l.run(n, loadConns) })
	})
}

const (
	loadConns = 8
	loadDepth = 32 // pairs of a SET and a GET in one write
)

// load is raw blocking connections, each with a pipeline of its own: a client that
// needs no heap.
type load struct {
	t         *testing.T
	fds       []int
	text      [][]byte
	want, got []byte
}

func newLoad(t *testing.T, w *world) *load {
	l := &load{t: t}
	value := strings.Repeat("v", 32)
	a, err := net.ResolveTCPAddr("tcp4", w.server.Addr())
	require.NoError(t, err)
	for i := range 4 * loadConns {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		sa := &syscall.SockaddrInet4{Port: a.Port}
		copy(sa.Addr[:], a.IP.To4())
		require.NoError(t, syscall.Connect(fd, sa))
		l.fds = append(l.fds, fd)
		var text []byte
		for j := range loadDepth {
			key := fmt.Sprintf("key:%04d", i*loadDepth+j)
			text = resp.AppendCommand(text, "SET", key, value)
			text = resp.AppendCommand(text, "GET", key)
		}
		l.text = append(l.text, text)
	}
	for range loadDepth {
		l.want = append(l.want, "+OK\r\n"...)
		l.want = resp.AppendBulkString(l.want, value)
	}
	l.got = make([]byte, len(l.want))
	return l
}

func (l *load) close() {
	for _, fd := range l.fds {
		syscall.Close(fd)
	}
}

// run sends n commands over the first conns connections: a pipeline on each, then
// the replies of all.
func (l *load) run(n, conns int) {
	for done := 0; done < n; done += 2 * loadDepth * conns {
		for i, fd := range l.fds[:conns] {
			for text := l.text[i]; len(text) > 0; {
				k, err := syscall.Write(fd, text)
				if err != nil && err != syscall.EINTR {
					l.t.Fatal(err)
				}
				text = text[max(0, k):]
			}
		}
		for _, fd := range l.fds[:conns] {
			for rest := l.got; len(rest) > 0; {
				k, err := syscall.Read(fd, rest)
				if k == 0 || err != nil && err != syscall.EINTR {
					l.t.Fatal("the connection ended", err)
				}
				rest = rest[max(0, k):]
			}
			if string(l.got) != string(l.want) {
				require.Equal(l.t, string(l.want), string(l.got))
			}
		}
	}
}
