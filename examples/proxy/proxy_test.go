package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// lostAfter is how long a test waits for what must happen before it fails.
const lostAfter = 30 * time.Second

func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close() // package net has opened what it keeps open
	}
	goleak.VerifyTestMain(m)
}

// world is a proxy that is served until the end of the test, and the server behind it.
type world struct {
	testing.TB
	*channel.Server[[]byte, []byte]
	behind *net.TCPListener
}

func newWorld(t testing.TB) *world {
	behind, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { behind.Close() })
	require.NoError(t, behind.(*net.TCPListener).SetDeadline(time.Now().Add(lostAfter)))
	sys, err := house.New(house.Config{Workers: 2, Logger: housetest.Log(t)})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lostAfter)
		defer cancel()
		require.NoError(t, sys.Shutdown(ctx))
		require.Zero(t, sys.Outstanding(), "pooled objects are still out")
	})
	return &world{t, serve(t.Context(), sys, "127.0.0.1:0", behind.Addr().String()), behind.(*net.TCPListener)}
}

// keep closes a connection of the test at its end.
func (w *world) keep(conn net.Conn, err error) *net.TCPConn {
	w.Helper()
	require.NoError(w, err)
	w.Cleanup(func() { conn.Close() })
	require.NoError(w, conn.SetDeadline(time.Now().Add(lostAfter)))
	return conn.(*net.TCPConn)
}

// dial returns both ends of what the proxy connects. The client has said "hello", and the server
// has heard it.
func (w *world) dial() (client, server *net.TCPConn) {
	w.Helper()
	client = w.keep(net.Dial("tcp", w.Addr()))
	_, err := client.Write([]byte("hello"))
	require.NoError(w, err)
	server = w.keep(w.behind.Accept())
	hello := make([]byte, 5)
	_, err = io.ReadFull(server, hello)
	require.NoError(w, err)
	require.Equal(w, "hello", string(hello))
	return client, server
}

// until returns when f does not return false any more.
func (w *world) until(f func() bool) {
	w.Helper()
	for began := time.Now(); !f(); runtime.Gosched() {
		require.Less(w, time.Since(began), lostAfter)
	}
}

// over waits until the proxy has no connection of clients.
func (w *world) over() { w.until(func() bool { return w.Stats().Conns == 0 }) }

// draw returns n random bytes.
func draw(rng *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	return text
}

// send writes a text in pieces, and then calls behind.
func send(to io.Writer, text []byte, seed uint64, behind func() error) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for len(text) > 0 {
		n := min(len(text), 1+rng.IntN(50_000))
		if _, err := to.Write(text[:n]); err != nil {
			return // the reader says what is missing
		}
		text = text[n:]
	}
	behind()
}

// TestBothWays: bytes go both ways at once, and all that a server sends arrives before its end.
func TestBothWays(t *testing.T) {
	w := newWorld(t)
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		up, down := draw(rng, rng.IntN(2_000_000)), draw(rng, rng.IntN(2_000_000))
		client, server := w.dial()
		go send(client, up, seed, func() error { return nil })
		got := make([]byte, len(up))
		read := make(chan error)
		go func() {
			_, err := io.ReadFull(server, got)
			read <- err
		}()
		half := make([]byte, len(down)/2)
		go send(server, down[:len(half)], seed, func() error { return nil })
		_, err := io.ReadFull(client, half)
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, <-read, "seed %d", seed)
		go send(server, down[len(half):], seed, server.Close)
		rest, err := io.ReadAll(client)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, bytes.Equal(up, got), "seed %d: %d bytes up", seed, len(up))
		require.True(t, bytes.Equal(down, append(half, rest...)), "seed %d: %d bytes down, want %d", seed, len(half)+len(rest), len(down))
		client.Close()
	}
	w.over()
}

// TestClientEnds: all that a client has sent arrives before its end.
func TestClientEnds(t *testing.T) {
	w := newWorld(t)
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		up := draw(rng, rng.IntN(8_000_000))
		client, server := w.dial()
		end := client.Close
		if seed%2 == 0 {
			end = client.CloseWrite
		}
		go send(client, up, seed, end)
		got, err := io.ReadAll(server)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, bytes.Equal(up, got), "seed %d: %d bytes, want %d", seed, len(got), len(up))
		server.Close()
	}
	w.over()
}

// TestEndsOfOneSide: who has ended its side gets all that the other end says then.
func TestEndsOfOneSide(t *testing.T) {
	w := newWorld(t)
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		ends, goesOn := w.dial()
		if seed%2 == 1 {
			ends, goesOn = goesOn, ends
		}
		first, last := draw(rng, rng.IntN(2_000_000)), draw(rng, rng.IntN(2_000_000))
		go send(ends, first, seed, ends.CloseWrite)
		got, err := io.ReadAll(goesOn)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, bytes.Equal(first, got), "seed %d: %d bytes, want %d", seed, len(got), len(first))
		go send(goesOn, last, seed, goesOn.Close)
		got, err = io.ReadAll(ends)
		require.NoError(t, err, "seed %d", seed)
		require.True(t, bytes.Equal(last, got), "seed %d: %d bytes behind the end, want %d", seed, len(got), len(last))
		ends.Close()
	}
	client := w.keep(net.Dial("tcp", w.Addr()))
	require.NoError(t, client.CloseWrite()) // before it says anything
	_, err := client.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
	client.Close()
	w.over()
}

// TestSlowEnds: who doesn't read holds the other one up, and nothing is lost or grows.
func TestSlowEnds(t *testing.T) {
	w := newWorld(t)
	for i := range 2 {
		from, to := w.dial()
		if i == 1 {
			from, to = to, from
		}
		text := draw(rand.New(rand.NewPCG(1, 1)), 1_000_000)
		sent := 0
		for { // until nothing moves for a while
			require.NoError(t, from.SetWriteDeadline(time.Now().Add(time.Second/2)))
			n, err := from.Write(text[sent%len(text):])
			if sent += n; err != nil {
				break
			}
			require.Less(t, sent, 64_000_000, "%d: somebody keeps it", i)
		}
		require.NoError(t, from.SetWriteDeadline(time.Now().Add(lostAfter)))
		require.NoError(t, from.CloseWrite())
		got, err := io.ReadAll(to)
		require.NoError(t, err)
		require.Len(t, got, sent)
		for at := 0; at < len(got); at += len(text) {
			require.True(t, bytes.HasPrefix(text, got[at:min(len(got), at+len(text))]), "%d: %d", i, at)
		}
		to.Close()
	}
	w.over()
}

// TestNoServer: a client of a server that doesn't listen is closed.
func TestNoServer(t *testing.T) {
	w := newWorld(t)
	w.behind.Close()
	client := w.keep(net.Dial("tcp", w.Addr()))
	_, err := client.Write([]byte("hello"))
	require.NoError(t, err)
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	require.Empty(t, got)
	client.Close()
	w.over()
}

// TestResets: a connection that breaks takes the other one with it.
func TestResets(t *testing.T) {
	w := newWorld(t)
	for i := range 2 {
		breaks, other := w.dial()
		if i == 1 {
			breaks, other = other, breaks
		}
		require.NoError(t, breaks.SetLinger(0))
		require.NoError(t, breaks.Close())
		_, err := other.Read(make([]byte, 1))
		require.Equal(t, io.EOF, err)
		other.Close()
	}
	w.over()
}
