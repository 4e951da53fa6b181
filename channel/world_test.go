package channel_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// lostAfter is how long a test waits for what must happen before it fails. Some tests have a server
// take some 100,000 turns, which last half a minute with the race detector beside other tests.
const lostAfter = 2 * time.Minute

func TestMain(m *testing.M) {
	openNetwork()
	goleak.VerifyTestMain(m)
}

// openNetwork has package net open what it keeps open for ever.
func openNetwork() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		l.Close()
	}
}

type (
	config = channel.Config[request, reply]
	server = channel.Server[request, reply]
)

// world is a system with a server, and with a keeper that isn't on the fronts' worker if
// there is another. When its test ends it is shut down, and nothing may be left.
type world struct {
	testing.TB
	place
	ctx     context.Context // of everything that a test waits for
	system  *house.System
	server  *server
	fronts  []core.Address[front]
	keeper  *keeper
	holds   core.Port[hold, struct{}]
	opens   core.Port[int, struct{}]
	freed   atomic.Int64 // asks of the keeper that went home
	gate    chan struct{}
	blocked atomic.Int64 // steps that are, or were, before the gate
	parts   atomic.Int64 // that were offered
	failed  failures
	clock   atomic.Int64 // the system's, if it is virtual
}

// place is where a test listens, on how many workers, and what its fronts are given.
type place struct {
	network string
	workers int
	props   core.Props
}

// everywhere runs f over each kind of socket, on one and on two workers.
func everywhere(t *testing.T, f func(t *testing.T, p place)) {
	t.Helper()
	for _, network := range []string{"tcp", "unix"} {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s-%d", network, workers), func(t *testing.T) { f(t, place{network: network, workers: workers}) })
		}
	}
}

// virtual makes the system's clock stand still until pass.
func virtual(w *world, c *house.Config) {
	w.clock.Store(1)
	c.Clock = w.clock.Load
	c.Spin = -1 // it would last for ever
}

// pass advances a virtual clock and returns when every worker has fired the timers
// that came due.
func (w *world) pass(d time.Duration) {
	w.Helper()
	w.clock.Add(int64(d))
	for range 3 { // a timer's turn, that of the connection that it woke, the end of that
		for _, at := range w.fronts {
			_, err := core.Ask(w.ctx, frontNap.At(at), struct{}{})
			require.NoError(w, err)
		}
	}
}

// openWorld starts a world whose server has the settings that set leaves.
func openWorld(t testing.TB, p place, set func(*config), more ...func(*world, *house.Config)) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
	w := &world{TB: t, ctx: ctx, place: p, gate: make(chan struct{})}
	w.failed.logger = slog.New(&w.failed)
	before := descriptors(t)
	hc := house.Config{Workers: p.workers, AskTimeout: time.Hour, Logger: w.failed.logger}
	for _, f := range more {
		f(w, &hc)
	}
	var err error
	w.system, err = house.New(hc)
	require.NoError(t, err)
	require.NoError(t, w.system.Start(ctx))
	workers := w.system.Workers()
	w.keeper = &keeper{open: map[int]bool{}, freed: &w.freed}
	at := core.Spawn(workers[len(workers)-1], func() *keeper { return w.keeper })
	w.holds, w.opens = keeperHold.At(at), keeperOpen.At(at)
	for _, on := range workers {
		at, err := core.SpawnWith(on, func() *front { return &front{keeper: w.holds, gate: w.gate, blocked: &w.blocked, parts: &w.parts} }, p.props)
		require.NoError(t, err)
		w.fronts = append(w.fronts, at)
	}
	t.Cleanup(func() {
		defer cancel()
		w.end(before)
	})
	c := config{Network: p.network, Address: address(t, p.network), Codec: newLineCodec}
	if set != nil {
		set(&c)
	}
	w.server, err = channel.Listen(ctx, c, serve, w.fronts...)
	require.NoError(t, err)
	return w
}

var sockets int

// address is a free one: a port, or a name that leaves no file, or one whose file goes
// with the test.
func address(t testing.TB, network string) string {
	if network != "unix" {
		return "127.0.0.1:0"
	}
	sockets++
	name := fmt.Sprintf("stackhouse-channel-%d-%d", os.Getpid(), sockets)
	if runtime.GOOS == "linux" {
		return "@" + name
	}
	name = filepath.Join(os.TempDir(), name)
	t.Cleanup(func() { os.Remove(name) })
	return name
}

// end shuts the world down and looks what it left.
func (w *world) end(before int) {
	ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
	defer cancel()
	if err := w.system.Shutdown(ctx); err != nil {
		w.Errorf("shutdown: %v", err)
		return
	}
	if n := w.system.Outstanding(); n != 0 {
		w.Errorf("%d pooled objects are still out", n)
	}
	if w.server != nil {
		if n := w.server.Stats().Conns; n != 0 {
			w.Errorf("the server still counts %d connections", n)
		}
	}
	w.await("the descriptors closed", func() bool { return descriptors(w) <= before })
}

// descriptors counts what is open, where the system tells.
func descriptors(t testing.TB) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

// await returns when ready is true.
func (w *world) await(what string, ready func() bool) {
	w.Helper()
	for start := time.Now(); !ready(); {
		require.Less(w, time.Since(start), lostAfter, "never came: "+what)
		runtime.Gosched()
	}
}

// peek returns the most that a marked connection holds.
func (w *world) peek() (most channel.Held) {
	w.Helper()
	for _, at := range w.fronts {
		h, err := core.Ask(w.ctx, frontPeek.At(at), struct{}{})
		require.NoError(w, err)
		most = most.Max(h)
	}
	return most
}

// letGo has the keeper answer what it holds under key.
func (w *world) letGo(key int) {
	w.Helper()
	_, err := core.Ask(w.ctx, w.opens, key)
	require.NoError(w, err)
}

// failures collects what actors failed of.
type failures struct {
	logger *slog.Logger
	n      atomic.Int64
	last   atomic.Value
}

func (f *failures) Enabled(context.Context, slog.Level) bool { return true }
func (f *failures) WithAttrs([]slog.Attr) slog.Handler       { return f }
func (f *failures) WithGroup(string) slog.Handler            { return f }
func (f *failures) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			f.last.Store(a.Value.String())
		}
		return true
	})
	f.n.Add(1)
	return nil
}

// client is one connection of a test.
type client struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

// dial connects; the connection is closed with the test.
func (w *world) dial() *client {
	w.Helper()
	return dialTo(w.TB, w.network, w.server.Addr())
}

func dialTo(t testing.TB, network, address string) *client {
	t.Helper()
	conn, err := net.Dial(network, address)
	require.NoError(t, err)
	return dialed(t, conn)
}

// dialed is the client of a connection, which is closed with the test.
func dialed(t testing.TB, conn net.Conn) *client {
	require.NoError(t, conn.SetDeadline(time.Now().Add(lostAfter)))
	t.Cleanup(func() { conn.Close() })
	return &client{conn, t, bufio.NewReader(conn)}
}

// send writes lines.
func (c *client) send(lines ...string) {
	c.t.Helper()
	_, err := io.WriteString(c, strings.Join(lines, "\n")+"\n")
	require.NoError(c.t, err)
}

// expect reads results and compares them.
func (c *client) expect(lines ...string) {
	c.t.Helper()
	for i, want := range lines {
		got, err := c.r.ReadString('\n')
		require.NoError(c.t, err, "result %d of %d, want %q", i, len(lines), want)
		require.Equal(c.t, want+"\n", got, "result %d of %d", i, len(lines))
	}
}

// expectEnd requires that the server sends no more and ends the connection in order. The client
// ends it, too.
func (c *client) expectEnd() {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	require.NoError(c.t, err)
	require.Empty(c.t, string(rest))
	c.Close()
}

// halfClose ends the client's side.
func (c *client) halfClose() {
	c.t.Helper()
	require.NoError(c.t, c.Conn.(interface{ CloseWrite() error }).CloseWrite())
}

// reset breaks the connection: a Unix socket is, if a result is unread.
func (c *client) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

// isBroken reports whether err says that a connection was broken. The numbers are Windows'.
func isBroken(err error) bool {
	return oneOf(err, syscall.ECONNRESET, syscall.EPIPE, syscall.Errno(10053), syscall.Errno(10054))
}

// isRefused reports whether err says that nobody listens.
func isRefused(err error) bool { return oneOf(err, syscall.ECONNREFUSED, syscall.Errno(10061)) }

func oneOf(err error, all ...syscall.Errno) bool {
	return slices.ContainsFunc(all, func(e syscall.Errno) bool { return errors.Is(err, e) })
}
