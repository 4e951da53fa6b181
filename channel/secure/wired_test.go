package secure_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/internal/certs"
	"github.com/stackhouse-go/stackhouse/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCA makes a CA, and issue a certificate of it.
func newCA(t testing.TB) *certs.CA {
	t.Helper()
	ca, err := certs.NewCA()
	require.NoError(t, err)
	return ca
}

func issue(t testing.TB, ca *certs.CA, name string, change ...func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	c, err := ca.Issue([]string{name}, change...)
	require.NoError(t, err)
	return c
}

// shard is the pool of the worker that all ends of a test have.
var shard pool.Shard

// end is a connection around stages, which a test moves.
type end struct {
	*stage.Pipeline
	addr string
	now  int64

	up   []byte // for the codec
	down []byte // for the socket

	wakes chan struct{}
}

// newEnd returns the end whose other end has addr.
func newEnd(addr string, stages ...stage.Stage) *end {
	e := &end{addr: addr, now: 1, wakes: make(chan struct{}, 1)}
	e.Pipeline = stage.New(e, stages...)
	e.Open(e.now)
	return e
}

func (e *end) Up(p []byte)            { e.up = append(e.up, p...) }
func (e *end) Down(p []byte)          { e.down = append(e.down, p...) }
func (e *end) Bytes(n int) pool.Bytes { return shard.Bytes(n) }
func (e *end) RemoteAddr() string     { return e.addr }
func (e *end) SetRemoteAddr(string)   {}
func (e *end) Waker() func() {
	return func() {
		select {
		case e.wakes <- struct{}{}:
		default:
		}
	}
}

// sent returns what is for the socket.
func (e *end) sent() []byte {
	p := e.down
	e.down = nil
	return p
}

// wake waits until the end is woken, and wakes its stages.
func (e *end) wake(t testing.TB) {
	t.Helper()
	select {
	case <-e.wakes:
		e.Wake(e.now)
	case <-time.After(10 * time.Second):
		t.Fatal("nobody wakes the connection")
	}
}

// isOpen reports whether the handshake is over.
func (e *end) isOpen() bool { return !e.HoldsOpening() && e.Err() == nil }

// receives gives the end p in pieces of n bytes; 0: at once.
func (e *end) receives(p []byte, n int) {
	if n == 0 {
		n = max(1, len(p))
	}
	for ; len(p) > 0; p = p[min(n, len(p)):] {
		e.Receive(e.now, bytes.Clone(p[:min(n, len(p))]))
	}
}

// meet moves bytes between two ends, in pieces of n, until both are open or one has failed.
func meet(t testing.TB, a, b *end, n int) {
	t.Helper()
	until := time.Now().Add(10 * time.Second)
	for !(a.isOpen() && b.isOpen()) && (a.Err() == nil || len(a.down) > 0) && (b.Err() == nil || len(b.down) > 0) {
		if time.Now().After(until) {
			t.Fatal("the handshake doesn't end")
		}
		move(a, b, n)
		select {
		case <-a.wakes:
			a.Wake(a.now)
		case <-b.wakes:
			b.Wake(b.now)
		case <-time.After(time.Millisecond):
		}
	}
	move(a, b, n)
}

// move moves what is on the way.
func move(a, b *end, n int) {
	for len(a.down)+len(b.down) > 0 {
		b.receives(a.sent(), n)
		a.receives(b.sent(), n)
	}
}

// dialled is what crypto/tls knows as its connection: the other end of one that has stages. It
// moves the stages when it reads or writes.
type dialled struct {
	t    testing.TB
	end  *end
	in   []byte
	step int // bytes of a piece; 0: all at once
	eof  bool
}

func (d *dialled) Read(p []byte) (int, error) {
	for len(d.in) == 0 {
		if d.in = d.end.sent(); len(d.in) > 0 {
			break
		}
		if d.end.Err() != nil || d.eof {
			return 0, io.EOF
		}
		d.end.wake(d.t)
	}
	n := copy(p, d.in)
	d.in = d.in[n:]
	return n, nil
}

func (d *dialled) Write(p []byte) (int, error) {
	d.end.receives(p, d.step)
	return len(p), nil
}

// standard is a dialled as a net.Conn.
type standard struct {
	*dialled
	net.Conn
}

func (s standard) Read(p []byte) (int, error)       { return s.dialled.Read(p) }
func (s standard) Write(p []byte) (int, error)      { return s.dialled.Write(p) }
func (s standard) Close() error                     { return nil }
func (s standard) SetWriteDeadline(time.Time) error { return nil }
