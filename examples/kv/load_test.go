package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// TestG11ShutdownUnderLoad: what SIGTERM does. Each command was answered, or it was not
// taken in and the connection ended between two replies.
func TestG11ShutdownUnderLoad(t *testing.T) {
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
	for _, how := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE, windowsAborted, windowsReset} {
		if errors.Is(err, how) {
			return
		}
	}
	t.Errorf("the connection ended by %v", err)
}

// Windows has numbers of its own for them, which no other system uses.
const windowsAborted, windowsReset = syscall.Errno(10053), syscall.Errno(10054)
