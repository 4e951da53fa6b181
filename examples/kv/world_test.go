package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
)

// lostAfter is how long a test waits for what must happen before it fails.
const lostAfter = 30 * time.Second

func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close() // package net has opened what it keeps open
	}
	goleak.VerifyTestMain(m)
}

// world is a service on a port that the system picked. When its test ends it is
// shut down, and nothing may be left.
type world struct {
	testing.TB
	*service
	clock atomic.Int64                    // the system's, if it is virtual
	naps  []core.Port[struct{}, struct{}] // of each worker
}

// napper answers once the timers that were due when it was asked have fired, and what they
// resumed has run.
type napper struct{}

type napStack struct {
	core.AskStack[struct{}, struct{}]
	tick core.Future[core.Tick]
}

var napperNap = core.Handle((*napper).nap)

func (n *napper) nap(s *napStack) core.Yield {
	core.Timer.Ask(s, &s.tick, 0)
	return core.Suspend(s, (*napper).wake)
}

func (n *napper) wake(s *napStack) core.Yield { return s.Return(struct{}{}) }

func openWorld(t testing.TB, workers int, o options) *world {
	t.Helper()
	before := descriptors(t)
	o.network, o.address, o.workers = "tcp", "127.0.0.1:0", workers
	w := &world{TB: t}
	if o.spin < 0 {
		w.clock.Store(1)
		o.clock = w.clock.Load
	}
	var err error
	w.service, err = start(context.Background(), o)
	require.NoError(t, err)
	for _, at := range w.system.Workers() {
		w.naps = append(w.naps, napperNap.At(core.Spawn(at, func() *napper { return &napper{} })))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
		defer cancel()
		require.NoError(t, w.system.Shutdown(ctx))
		require.Zero(t, w.system.Outstanding(), "pooled objects are still out")
		for began := time.Now(); descriptors(t) > before; runtime.Gosched() {
			require.Less(t, time.Since(began), lostAfter, "descriptors")
		}
	})
	return w
}

// virtual are options with a clock that stands still until pass: a worker without
// work must not spin then, for that would last for ever.
func virtual() options { return options{spin: -1, wall: 1_700_000_000_000} }

// pass advances a virtual clock and returns when every worker has seen it: the
// commands that follow are later, and the sweeps that were due are done.
func (w *world) pass(d time.Duration) {
	w.Helper()
	w.clock.Add(int64(d))
	for _, p := range w.naps {
		_, err := core.Ask(context.Background(), p, struct{}{})
		require.NoError(w, err)
	}
}

// descriptors counts what is open, where the system tells.
func descriptors(t testing.TB) int {
	if runtime.GOOS != "linux" {
		return 0
	}
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

// client is one connection of a test.
type client struct {
	net.Conn
	t   testing.TB
	in  []byte // received, not consumed
	buf []byte
}

func (w *world) dial() *client {
	w.Helper()
	conn, err := net.Dial("tcp", w.server.Addr())
	require.NoError(w, err)
	require.NoError(w, conn.SetDeadline(time.Now().Add(lostAfter)))
	w.Cleanup(func() { conn.Close() })
	return &client{Conn: conn, t: w.TB, buf: make([]byte, 64<<10)}
}

// do sends a command and returns the reply.
func (c *client) do(words ...string) string {
	c.t.Helper()
	c.send(resp.AppendCommand(nil, words...))
	return c.reply()
}

func (c *client) send(text []byte) {
	c.t.Helper()
	_, err := c.Write(text)
	require.NoError(c.t, err)
}

// next returns the next reply's bytes.
func (c *client) next() ([]byte, error) {
	for {
		var v resp.Value
		n, err := resp.DecodeReply(c.in, &v, resp.Limits{})
		if err != nil {
			return nil, err
		}
		if n > 0 {
			reply := c.in[:n:n]
			c.in = c.in[n:]
			return reply, nil
		}
		if n, err = c.Read(c.buf); err != nil {
			return nil, err
		}
		c.in = append(c.in, c.buf[:n]...)
	}
}

// reply returns the next reply as one line: line ends within are blanks.
func (c *client) reply() string {
	c.t.Helper()
	reply, err := c.next()
	require.NoError(c.t, err)
	return flat(reply)
}

var breaks = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ")

func flat(reply []byte) string { return breaks.Replace(string(reply[:len(reply)-2])) }

// expectEnd requires that the server sends no more and ends the connection in order.
func (c *client) expectEnd() {
	c.t.Helper()
	n, err := bufio.NewReader(c).WriteTo(discard{})
	require.NoError(c.t, err)
	require.Zero(c.t, n+int64(len(c.in)))
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// each runs f on one and on two workers, and so with one and with two stores.
func each(t *testing.T, f func(t *testing.T, workers int)) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) { f(t, workers) })
	}
}
