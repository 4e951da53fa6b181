package channel_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// secret is a CA, and a server's certificate.
type secret struct {
	ca   *certs.CA
	cert tls.Certificate
}

func newSecret(t testing.TB) *secret {
	t.Helper()
	ca, err := certs.NewCA()
	require.NoError(t, err)
	s := &secret{ca: ca}
	s.cert = s.issue(t, "127.0.0.1", "a.test")
	return s
}

func (s *secret) issue(t testing.TB, names ...string) tls.Certificate {
	t.Helper()
	c, err := s.ca.Issue(names)
	require.NoError(t, err)
	return c
}

// server is the Config of one, which change may change.
func (s *secret) server(change ...func(*tls.Config)) *secure.TLS {
	c := &tls.Config{Certificates: []tls.Certificate{s.cert}}
	for _, f := range change {
		f(c)
	}
	return secure.New(c)
}

func (s *secret) client() *tls.Config { return &tls.Config{RootCAs: s.ca.Pool(), ServerName: "a.test"} }

// errCut is how a connection ends whose other end hasn't announced it: crypto/tls takes the end of
// the stream for an end in order.
var errCut = errors.New("no close_notify has come")

type uncut struct{ net.Conn }

func (c uncut) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = errCut
	}
	return n, err
}

// dialTLS connects to the world's server.
func (w *world) dialTLS(c *tls.Config) *client {
	w.Helper()
	conn, err := net.Dial(w.network, w.server.Addr())
	require.NoError(w, err)
	s := tls.Client(uncut{conn}, c)
	require.NoError(w, conn.SetDeadline(time.Now().Add(lostAfter)))
	w.Cleanup(func() { conn.Close() })
	return &client{s, w.TB, bufio.NewReader(s)}
}

// TestTLS: requests and results, short and long, until the client or the server ends.
func TestTLS(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		everywhere(t, func(t *testing.T, p place) {
			s := newSecret(t)
			by := s.server(func(c *tls.Config) { c.MaxVersion = version })
			w := openWorld(t, p, func(c *config) { c.TLS = by })
			c := w.dialTLS(s.client())
			c.send("a", "after 1 b", "big 100000", "c")
			c.expect("a", "b", big(100000), "c")
			c.halfClose()
			c.expectEnd()

			c = w.dialTLS(s.client())
			long := strings.Repeat("x", 100_000)
			c.send(long, "last z")
			c.expect(long, "z")
			c.expectEnd()
			require.EqualValues(t, 2, by.Stats().Done)
			require.Zero(t, w.server.Stats().StageFailures)
		})
	}
}

// TestTLSDrain: what had arrived is answered, and then close_notify comes; a handshake that isn't
// over keeps nobody.
func TestTLSDrain(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s := newSecret(t)
		w := openWorld(t, p, func(c *config) { c.TLS = s.server() })
		var all []*client
		for i := range 10 {
			c := w.dialTLS(s.client())
			c.send("a", fmt.Sprint("hold ", i, " b"))
			c.expect("a")
			all = append(all, c)
		}
		silent := w.dial()
		for w.server.Stats().Conns < 11 {
			time.Sleep(time.Millisecond)
		}
		w.await("the asks", func() bool { return w.keeper.holding.Load() == 10 })
		drained := begin(func() error { return w.server.Drain(w.ctx) })
		silent.expectEnd()
		for i, c := range all {
			w.letGo(i)
			c.expect("b")
			c.expectEnd() // which is errCut without close_notify
		}
		require.NoError(t, <-drained)
	})
}

// TestTLSWithoutCertificate: nobody can be served by it.
func TestTLSWithoutCertificate(t *testing.T) {
	w := openWorld(t, lone, nil)
	_, err := channel.Listen(w.ctx, config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec, TLS: secure.New(&tls.Config{})}, serve, w.fronts...)
	require.ErrorContains(t, err, "no certificate")
}

// TestTLSFailuresAreLogged: a handshake that fails is no secret, and a panic is a failure.
func TestTLSFailuresAreLogged(t *testing.T) {
	s := newSecret(t)
	for _, c := range []struct {
		verify     func(tls.ConnectionState) error
		level, why string
	}{
		{func(tls.ConnectionState) error { return errors.New("not today") }, "INFO", "not today"},
		{func(tls.ConnectionState) error { panic("a verifier's") }, "ERROR", "panic in a handshake: a verifier's"},
	} {
		var lines log
		sys, err := house.New(house.Config{Workers: 1, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), lostAfter)
		require.NoError(t, sys.Start(ctx))
		by := s.server(func(to *tls.Config) { to.VerifyConnection = c.verify })
		server, err := channel.Listen(ctx, config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec, TLS: by}, serve, core.Spawn(sys, func() *front { return &front{} }))
		require.NoError(t, err)
		conn, err := tls.Dial("tcp", server.Addr(), s.client())
		if err == nil { // by 1.3 the client is done first
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		require.Error(t, err)
		for !strings.Contains(lines.text(), c.why) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		require.Regexp(t, "level="+c.level+` .*connection of \\"127\.0\.0\.1:[0-9]+\\": .*`+c.why, lines.text())
		require.NoError(t, sys.Shutdown(ctx))
		cancel()
	}
}

// log is what a system logs.
type log struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(p)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

// TestTLSFails: what becomes of a handshake that fails, and of a connection that is cut.
func TestTLSFails(t *testing.T) {
	s := newSecret(t)
	by := s.server(func(c *tls.Config) { c.ClientCAs, c.ClientAuth = s.ca.Pool(), tls.RequireAndVerifyClientCert })
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.TLS = by })
	c := w.dialTLS(s.client()) // has no certificate
	c.Conn.(*tls.Conn).Handshake()
	_, err := c.r.ReadByte()
	require.ErrorContains(t, err, "certificate required")

	plain := w.dial()
	plain.send("what is this?")
	_, err = io.ReadAll(plain.r)
	require.NoError(t, err)

	known := s.client()
	known.Certificates = []tls.Certificate{s.issue(t, "somebody")}
	c = w.dialTLS(known)
	c.send("a")
	c.expect("a")
	c.Conn.(*tls.Conn).NetConn().(uncut).Conn.(*net.TCPConn).CloseWrite() // without close_notify
	_, err = io.ReadAll(c.r)
	require.ErrorIs(t, err, errCut)
	w.await("all gone", func() bool { return w.server.Stats().Conns == 0 })
	require.EqualValues(t, 3, w.server.Stats().StageFailures)
	require.Equal(t, secure.Stats{Done: 1, Failed: 2}, by.Stats())
}

// TestTLSClient: a Client of a server, both by this package.
func TestTLSClient(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			s := newSecret(t)
			w := openWorld(t, place{network: "tcp", workers: workers}, func(c *config) { c.TLS = s.server() })
			by := secure.New(&tls.Config{RootCAs: s.ca.Pool()})
			dial := func(by *secure.TLS) (*asking, error) {
				ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
				defer cancel()
				return channel.Dial(ctx, w.system, clientConfig{Network: "tcp", Address: w.server.Addr(), Codec: newLineClient, TLS: by})
			}
			c, err := dial(by)
			require.NoError(t, err)
			for _, line := range []string{"a", big(50_000), "after 1 b"} {
				text, err := get(w.ctx, c.Port(), line)
				require.NoError(t, err)
				require.Equal(t, strings.TrimPrefix(line, "after 1 "), text)
			}
			require.NoError(t, c.Close(w.ctx))
			require.EqualValues(t, workers, by.Stats().Done)

			_, err = dial(secure.New(&tls.Config{})) // believes nobody
			require.ErrorIs(t, err, core.ErrNotSent)
			var unknown x509.UnknownAuthorityError
			require.True(t, errors.As(err, &unknown), err)
		})
	}
}

// TestTLSDrainUnderLoad: what clients have sent is answered, or wasn't taken in, and close_notify
// comes behind the last result of each.
func TestTLSDrainUnderLoad(t *testing.T) {
	for range 5 {
		drainsTLS(t)
	}
}

// TestLongTLSDrainUnderLoad is the same, a hundred times.
func TestLongTLSDrainUnderLoad(t *testing.T) {
	long(t)
	for range 100 {
		drainsTLS(t)
	}
}

func drainsTLS(t *testing.T) {
	s := newSecret(t)
	by := s.server()
	t.Run("drain", func(t *testing.T) {
		w := openWorld(t, place{network: "tcp", workers: 2}, func(c *config) { c.TLS = by })
		var answered atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			c := w.dialTLS(s.client())
			c.send("a") // behind it the handshake is over at the server, too
			c.expect("a")
			group.Go(func() {
				defer c.Close()
				for i := 0; ; i++ {
					line := fmt.Sprint("x", i, "\n")
					_, broken := io.WriteString(c, line) // what came before is read all the same
					switch got, err := c.r.ReadString('\n'); {
					case err == nil && got == line && broken == nil:
						answered.Add(1)
					case got == "" && err == io.EOF: // without close_notify it is errCut
						return
					default:
						t.Errorf("%q, %v; want %q", got, err, line)
						return
					}
				}
			})
		}
		w.await("some load", func() bool { return answered.Load() > 500 })
		require.NoError(t, w.server.Drain(w.ctx))
		group.Wait()
		require.Zero(t, w.server.Stats().StageFailures)
	})
	require.Zero(t, by.Stats().Failed)
}

// TestTLSAllAtOnce: a client whose last words of the handshake, request and end come together.
func TestTLSAllAtOnce(t *testing.T) {
	s := newSecret(t)
	w := openWorld(t, place{network: "tcp", workers: 1}, func(c *config) { c.TLS = s.server() })
	for range 200 {
		c := w.dialTLS(s.client())
		c.send("a")
		c.halfClose()
		require.NoError(t, c.Conn.(*tls.Conn).NetConn().(uncut).Conn.(*net.TCPConn).CloseWrite())
		c.expect("a")
		c.expectEnd()
	}
	require.Zero(t, w.server.Stats().StageFailures)
}
