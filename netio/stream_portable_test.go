//go:build !linux || portable

package netio

import (
	"bytes"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// look calls f with the stream's lock held.
func (s *stream) look(f func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f()
}

// await returns when what goroutines do has made ready true.
func (f *fixture) await(what string, ready func() bool) {
	f.Helper()
	for start := time.Now(); !ready(); runtime.Gosched() {
		require.Less(f, time.Since(start), lostAfter, "never came: "+what)
	}
}

// fill writes to a until nothing more goes between it and b, which doesn't read, and
// returns how much went.
func (f *fixture) fill(a, b int) (n int) {
	f.Helper()
	f.throttle(a, b)
	from, to := f.stream(a), f.stream(b)
	piece := make([]byte, 4<<10)
	for start := time.Now(); ; {
		k, err := Write(a, piece)
		n += k
		if err == nil {
			start = time.Now()
			continue
		}
		require.Equal(f, ErrAgain, err)
		full := from.look(func() bool { return from.out.free() == 0 }) && to.look(func() bool { return !to.reading })
		if full && time.Since(start) > 20*time.Millisecond { // and the system takes no more
			return n
		}
		require.Less(f, time.Since(start), lostAfter)
		runtime.Gosched()
	}
}

// Whoever doesn't read is sent no more than the buffers hold, and gets all of it later.
func TestBuffersAreBounded(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	sent := f.fill(a, b)
	to := f.stream(b)
	require.True(t, to.look(func() bool { return to.in.size == ringMax && len(to.in.buf) == ringMax }))
	require.NoError(t, Shutdown(a, true))
	h := new(recorder)
	f.add(b, h)
	got, buf := 0, make([]byte, 10_000)
	f.until(func() bool {
		for {
			n, err := Read(b, buf)
			got += n
			if err != nil {
				require.True(t, err == io.EOF || err == ErrAgain, "%v", err)
				return err == io.EOF
			}
		}
	})
	require.Equal(t, sent, got)
}

// Close sends what was written, and the poller's Close waits for it.
func TestCloseSendsWhatWasWritten(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	tok := f.add(a, new(recorder))
	sent := f.fill(a, b)
	require.NoError(t, f.p.Remove(tok, a))
	require.NoError(t, Close(a))
	_, err := Write(a, []byte("x"))
	require.Error(t, err, "the descriptor is gone")
	f.p.mu.Lock()
	require.Equal(t, 1, f.p.sending)
	f.p.mu.Unlock()
	closed := make(chan error, 1)
	go func() { closed <- f.p.Close() }()
	buf := make([]byte, 10_000)
	for got := 0; ; {
		n, err := Read(b, buf)
		got += n
		if err == io.EOF {
			require.Equal(t, sent, got)
			break
		}
		require.True(t, err == nil || err == ErrAgain, "%v", err)
		if err != nil {
			runtime.Gosched()
		}
	}
	require.NoError(t, <-closed)
}

// A peer that takes nothing does not hold a closed stream for ever.
func TestCloseGivesUp(t *testing.T) {
	f := newFixture(t, batchMax)
	conn, fd := f.raw()
	require.NoError(t, conn.SetReadBuffer(4<<10))
	tok := f.add(fd, new(recorder))
	s := f.stream(fd)
	s.look(func() bool { s.sendTimeout = time.Millisecond; return true })
	require.NoError(t, s.conn.(*net.TCPConn).SetWriteBuffer(4<<10))
	piece := make([]byte, 4<<10)
	for start := time.Now(); time.Since(start) < 20*time.Millisecond; {
		if n, _ := Write(fd, piece); n > 0 {
			start = time.Now()
		}
		runtime.Gosched()
	}
	require.NoError(t, f.p.Remove(tok, fd))
	require.NoError(t, Close(fd))
	require.NoError(t, f.p.Close())
	f.await("the reader's end", func() bool { return s.look(func() bool { return !s.reading }) })
}

// What nobody reads does not make the close a reset, which would overtake the last bytes.
func TestCloseWithUnreadBytes(t *testing.T) {
	f := newFixture(t, batchMax)
	conn, fd := f.raw()
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write(make([]byte, 1<<20))
		written <- err
	}()
	s := f.stream(fd)
	f.await("a full ring", func() bool { return s.look(func() bool { return s.in.size == ringMax && !s.reading }) })
	f.write(fd, "bye")
	require.NoError(t, Close(fd))
	require.NoError(t, <-written)
	text, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, "bye", string(text))
}

// A client that goes on sending is not read for ever.
func TestCloseWithEndlessInput(t *testing.T) {
	f := newFixture(t, batchMax)
	conn, fd := f.raw()
	require.NoError(t, Close(fd))
	piece := make([]byte, 64<<10)
	for n := 0; ; n += len(piece) {
		if _, err := conn.Write(piece); err != nil {
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			require.GreaterOrEqual(t, n, discardMax/2)
			return
		}
		require.Less(t, n, 100<<20)
	}
}

func TestCloseWithSilentPeer(t *testing.T) {
	f := newFixture(t, batchMax)
	_, fd := f.raw()
	s := f.stream(fd)
	s.look(func() bool { s.discardTimeout = time.Millisecond; return true })
	require.NoError(t, Close(fd))
	f.await("the reader's end", func() bool { return s.look(func() bool { return !s.reading }) })
}

func TestCloseDuringConnect(t *testing.T) {
	f := newFixture(t, batchMax)
	fd, err := Connect("tcp", "192.0.2.1:9") // nobody's: RFC 5737
	require.NoError(t, err)
	tok := f.add(fd, new(recorder))
	require.Empty(t, LocalAddr(fd))
	require.NoError(t, f.p.Remove(tok, fd))
	require.NoError(t, Close(fd))
	require.Error(t, ConnectError(fd))
}

// A write that fails is told by an event, and by the next write.
func TestWriteToNobody(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	h := new(recorder)
	f.add(a, h)
	require.NoError(t, abortive(b))
	require.NoError(t, Close(b))
	f.until(func() bool {
		_, err := Write(a, []byte("x"))
		return err != nil
	})
	require.Error(t, ConnectError(a))
	f.until(func() bool { return h.last()&Closed != 0 })
	// the kernel tells the first of a read and a write that the peer has broken off, and the other
	// that the stream has ended
	_, err := Read(a, make([]byte, 1))
	require.Contains(t, []error{ConnectError(a), io.EOF}, err)
}

// The bytes of many writes and reads at once, from goroutines beside the poller, stay in order.
func TestStreamKeepsOrder(t *testing.T) {
	f := newFixture(t, batchMax)
	conn, fd := f.raw()
	var want bytes.Buffer
	for i := range 200_000 {
		want.WriteByte(byte(i * 7 >> 3))
	}
	text := want.Bytes()
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(conn)
		got <- b
	}()
	go conn.Write(text)
	h := new(recorder)
	f.add(fd, h)
	var in []byte
	out, buf := text, make([]byte, 999)
	f.until(func() bool {
		for {
			n, readErr := Read(fd, buf)
			in = append(in, buf[:n]...)
			k, writeErr := Write(fd, out[:min(len(out), 777)])
			out = out[k:]
			if len(out) == 0 && len(in) == len(text) {
				return true
			}
			if readErr != nil && (writeErr != nil || len(out) == 0) {
				return false
			}
		}
	})
	require.NoError(t, Shutdown(fd, true))
	require.True(t, bytes.Equal(text, in))
	require.True(t, bytes.Equal(text, <-got))
}
