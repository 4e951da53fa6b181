package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestQuitWhileTheClientSends: all replies before QUIT arrive, and its own, then the end, though
// the client goes on sending.
func TestQuitWhileTheClientSends(t *testing.T) {
	rounds := 1000
	if housetest.Slow {
		rounds = 100
	}
	const long = 200_000
	w := openWorld(t, 2, options{})
	value := strings.Repeat("v", long)
	require.Equal(t, "+OK", w.dial().do("SET", "long", value))
	want := fmt.Sprintf("$%d\r\n%s\r\n$1\r\n1\r\n+OK\r\n", long, value)
	require.Equal(t, "+OK", w.dial().do("SET", "short", "1"))
	more := []byte(strings.Repeat("PING\r\n", 1000))
	var group sync.WaitGroup
	for sender := range 4 {
		group.Go(func() {
			for i := range rounds / 4 {
				c := w.dial()
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					if _, err := c.Write(encoded("GET long", "GET short", "QUIT")); err != nil {
						t.Errorf("round %d: %v", i, err)
					}
					for n := []int{0, 10_000, 600_000, 3_000_000}[(i+sender)%4]; n > 0; n -= len(more) {
						if _, err := c.Write(more); err != nil {
							return
						}
					}
				}()
				got, err := io.ReadAll(c)
				if string(got) != want || err != nil {
					t.Errorf("round %d: %d bytes, want %d; %v", i, len(got), len(want), err)
				}
				c.Close()
				<-sent
			}
		})
	}
	group.Wait()
}

// TestG22BadRequestsStopNothing: commands of which a store or a front panics, ten a second for
// half a minute and one a second for five, are answered by errors; all others, on the same
// connection and on another, as ever.
func TestG22BadRequestsStopNothing(t *testing.T) {
	inStore, inFront := lookup([]byte("strlen")), lookup([]byte("echo"))
	do, run := inStore.do, inFront.run
	inStore.do = func(*store, *storeStack) resp.Reply { panic("planted") }
	inFront.run = func(*front, *command) core.Yield { panic("planted") }
	log := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		inStore.do, inFront.run = do, run
		slog.SetDefault(log)
	})
	each(t, func(t *testing.T, workers int) {
		w := openWorld(t, workers, virtual())
		bad, good := w.dial(), w.dial()
		require.Equal(t, "+OK", good.do("SET", "kept", "1"))
		const failed = "-ERR internal error"
		for _, pace := range []struct {
			every time.Duration
			n     int
		}{{100 * time.Millisecond, 300}, {time.Second, 300}} {
			for i := range pace.n {
				bad.answers([][2]string{{"STRLEN kept", failed}, {"ECHO x", failed}, {"GET kept", "$1 1"}}...)
				require.Equal(t, "$1 1", good.do("GET", "kept"), i)
				w.pass(pace.every)
			}
		}
	})
}

// TestKillByTheLastType: of several filters of a kind the last one holds.
func TestKillByTheLastType(t *testing.T) {
	c := openWorld(t, 2, options{}).dial()
	require.Equal(t, ":0", c.do("CLIENT", "KILL", "TYPE", "normal", "TYPE", "pubsub", "SKIPME", "no"))
	require.Equal(t, ":1", c.do("CLIENT", "KILL", "TYPE", "pubsub", "TYPE", "normal", "SKIPME", "no"))
	_, err := c.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
}
