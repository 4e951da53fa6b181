package secure_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

// versions runs f by each version of the protocol.
func versions(t *testing.T, f func(t *testing.T, version uint16)) {
	for _, v := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(v), func(t *testing.T) { f(t, v) })
	}
}

// pair returns a client and a server of a version.
func pair(t *testing.T, version uint16) (client, server *end, by *secure.TLS) {
	ca := newCA(t)
	by = secure.New(&tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, RootCAs: ca.Pool(), MaxVersion: version})
	return newEnd("127.0.0.1:1", by.Client("a.test")), newEnd("127.0.0.1:2", by.Server()), by
}

// TestBothEnds: what one end sends comes to the other, however it is cut on the way, and the end of
// each is told from a connection that is lost.
func TestBothEnds(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		for _, n := range []int{0, 1, 2, 5, 17, 1000} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				c, s, by := pair(t, version)
				require.True(t, c.HoldsSending() && s.HoldsSending())
				meet(t, c, s, n)
				require.NoError(t, c.Err())
				require.NoError(t, s.Err())
				require.True(t, c.isOpen() && s.isOpen())
				require.False(t, c.HoldsSending() || s.HoldsSending() || c.HoldsReading() || s.HoldsReading())
				for _, size := range []int{1, 64, 1000, 20_000, 100_000} {
					text := strings.Repeat("x", size)
					for _, way := range [][2]*end{{c, s}, {s, c}} {
						require.NoError(t, way[0].Send(1, []byte(text)))
						move(c, s, n)
						require.Equal(t, text, string(way[1].up))
						way[1].up = nil
					}
				}
				require.NoError(t, c.SendEnd(1))
				move(c, s, n)
				require.True(t, s.Ended())
				require.NoError(t, s.Send(1, []byte("still")))
				move(c, s, n)
				require.Equal(t, "still", string(c.up))
				require.NoError(t, s.ReceiveEnd(1))
				require.ErrorIs(t, c.ReceiveEnd(1), secure.ErrTruncated)
				c.Close(1)
				s.Close(1)
				// A handshake counts as running for as long as its goroutine does, which outlives the wake-up.
				until(t, func() bool { return by.Stats().Running == 0 })
				require.Equal(t, secure.Stats{Done: 2}, by.Stats())
			})
		}
	})
}

// TestAgainstStandard: a client of crypto/tls, as it is.
func TestAgainstStandard(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		ca := newCA(t)
		by := secure.New(&tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, MaxVersion: version})
		for _, step := range []int{0, 1, 3} {
			s := newEnd("127.0.0.1:2", by.Server())
			d := &dialled{t: t, end: s, step: step}
			c := tls.Client(standard{dialled: d}, &tls.Config{RootCAs: ca.Pool(), ServerName: "a.test"})
			require.NoError(t, c.Handshake())
			for !s.isOpen() {
				s.wake(t)
			}
			_, err := c.Write([]byte("hello"))
			require.NoError(t, err)
			require.Equal(t, "hello", string(s.up))
			require.NoError(t, s.Send(1, []byte("answer")))
			got := make([]byte, 6)
			_, err = io.ReadFull(c, got)
			require.NoError(t, err)
			require.Equal(t, "answer", string(got))
			require.NoError(t, s.SendEnd(1))
			_, err = c.Read(got)
			require.Equal(t, io.EOF, err)
			s.Close(1)
		}
	})
}

// TestResumption: a client that has a ticket resumes its session, until the server goes by another
// config.
func TestResumption(t *testing.T) {
	versions(t, func(t *testing.T, version uint16) {
		ca := newCA(t)
		server := &tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, MaxVersion: version}
		to := secure.New(server)
		by := secure.New(&tls.Config{RootCAs: ca.Pool(), ClientSessionCache: tls.NewLRUClientSessionCache(1)})
		for i, resumes := range []bool{false, true, true, false, true} {
			if i == 3 {
				to.Set(&tls.Config{Certificates: server.Certificates, MaxVersion: version})
			}
			c, s := newEnd("127.0.0.1:1", by.Client("a.test")), newEnd("127.0.0.1:2", to.Server())
			meet(t, c, s, 0)
			require.NoError(t, s.Send(1, []byte("x"))) // a ticket comes before it
			move(c, s, 0)
			require.Equal(t, "x", string(c.up))
			for _, e := range []*end{c, s} {
				require.Equal(t, resumes, e.Session().(*tls.Conn).ConnectionState().DidResume, "connection %d", i)
				e.Close(1)
			}
		}
	})
}

// TestNames: a client's server has the name of the host that it dials, whichever that is.
func TestNames(t *testing.T) {
	ca := newCA(t)
	config := &tls.Config{RootCAs: ca.Pool()}
	by := secure.New(config)
	for _, c := range []struct{ dials, is string }{{"a.test", "a.test"}, {"b.test", "b.test"}, {"b.test", "a.test"}, {"a.test", "a.test"}} {
		to := secure.New(&tls.Config{Certificates: []tls.Certificate{issue(t, ca, c.is)}})
		client, server := newEnd("127.0.0.1:1", by.Client(c.dials)), newEnd("127.0.0.1:2", to.Server())
		meet(t, client, server, 0)
		require.Equal(t, c.dials == c.is, client.isOpen(), "%v", c)
		client.Close(1)
		server.Close(1)
	}
	require.Empty(t, config.ServerName)
}

// TestNothingIsReadMeanwhile: while a handshake is at work, and doesn't wait for its other end.
func TestNothingIsReadMeanwhile(t *testing.T) {
	cert := issue(t, newCA(t), "a.test")
	goes := make(chan struct{})
	by := secure.New(&tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		<-goes
		return &cert, nil
	}})
	s := newEnd("127.0.0.1:2", by.Server())
	text := hello()
	s.receives(text[:len(text)-1], 0)
	require.False(t, s.HoldsReading())
	s.receives(text[len(text)-1:], 0)
	require.True(t, s.HoldsReading())
	close(goes)
	until(t, func() bool { return answered([]*end{s}) == 1 && !s.HoldsReading() })
	s.receives([]byte{22, 3, 3}, 0) // the goroutine may have more to do now
	require.True(t, s.HoldsReading())
	s.Close(1)
	until(t, func() bool { return by.Stats().Running == 0 })
}
