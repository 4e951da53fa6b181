package secure_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

// broken is a connection that one of its ends must refuse.
type broken struct {
	name  string
	alert string // that the other end is told, in crypto/tls's words; "": it is told nothing
	// of the end that has stages, and of the other one, which is crypto/tls's
	ours, theirs func(c *tls.Config)
	client       bool // ours is a client
	// if not nil, what the other end sends instead: at once, or behind the handshake
	sends, later []byte
	err          string // of our end
}

// TestAlerts: what is refused, and what the other end is told of it.
func TestAlerts(t *testing.T) {
	ca, stranger := newCA(t), newCA(t)
	good := issue(t, ca, "a.test")
	past := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	}
	future := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	}
	serverOnly := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	clientOnly := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }
	version := func(least, most uint16) func(*tls.Config) {
		return func(c *tls.Config) { c.MinVersion, c.MaxVersion = least, most }
	}
	cert := func(cert tls.Certificate) func(*tls.Config) {
		return func(c *tls.Config) { c.Certificates = []tls.Certificate{cert} }
	}
	asks := func(c *tls.Config) { c.ClientAuth = tls.RequireAndVerifyClientCert }
	asksOld := func(c *tls.Config) { asks(c); c.MaxVersion = tls.VersionTLS12 }
	protocols := func(all ...string) func(*tls.Config) { return func(c *tls.Config) { c.NextProtos = all } }
	suites := func(id uint16) func(*tls.Config) {
		return func(c *tls.Config) { c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{id} }
	}
	curves := func(id tls.CurveID) func(*tls.Config) {
		return func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{id} }
	}
	refuses := func(c *tls.Config) {
		asks(c)
		c.VerifyConnection = func(tls.ConnectionState) error { return errors.New("not him") }
	}
	record := func(kind byte, body ...byte) []byte {
		return append([]byte{kind, 3, 3, byte(len(body) >> 8), byte(len(body))}, body...)
	}
	for _, b := range []broken{
		// servers
		{name: "old client", theirs: version(tls.VersionTLS10, tls.VersionTLS11), alert: "protocol version not supported"},
		{name: "new server", ours: version(tls.VersionTLS13, 0), theirs: version(0, tls.VersionTLS12), alert: "protocol version not supported"},
		{name: "no certificate", ours: asks, alert: "certificate required"},
		{name: "no certificate, 1.2", ours: asksOld, alert: "handshake failure"},
		{name: "client of a stranger", ours: asks, theirs: cert(issue(t, stranger, "x")), alert: "unknown certificate authority"},
		{name: "client of a stranger, 1.2", ours: asksOld, theirs: cert(issue(t, stranger, "x")), alert: "unknown certificate authority"},
		{name: "client of the past", ours: asks, theirs: cert(issue(t, ca, "x", past)), alert: "expired certificate"},
		{name: "client of the future", ours: asks, theirs: cert(issue(t, ca, "x", future)), alert: "expired certificate"},
		{name: "client with a server's certificate", ours: asks, theirs: cert(issue(t, ca, "x", serverOnly)), alert: "bad certificate"},
		{name: "verifier", ours: refuses, theirs: cert(good), alert: "bad certificate"},
		{name: "protocols", ours: protocols("a", "b"), theirs: protocols("c"), alert: "no application protocol"},
		{name: "unknown name", ours: func(c *tls.Config) { c.Certificates = nil; c.GetCertificate = nobody }, alert: "unrecognized name"},
		{name: "failing lookup", ours: func(c *tls.Config) { c.Certificates = nil; c.GetCertificate = fails }, alert: "internal error"},
		{name: "panicking lookup", ours: func(c *tls.Config) { c.Certificates = nil; c.GetCertificate = panics }, err: "panic in a handshake: lookup"},
		{name: "suites", ours: suites(tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256), theirs: suites(tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384), alert: "handshake failure"},
		{name: "curves", ours: curves(tls.CurveP256), theirs: curves(tls.CurveP384), alert: "handshake failure"},
		{name: "another protocol", sends: []byte("GET / HTTP/1.1\r\n\r\n"), err: "does not look like a TLS handshake"},
		{name: "SSL 2", sends: []byte{0x80, 46, 1, 0, 2, 0, 0, 0}, alert: "protocol version not supported"},
		{name: "long record", sends: []byte{22, 3, 1, 0x48, 1, 1}, alert: "record overflow"},
		{name: "empty hello", sends: record(22, 1, 0, 0, 0), alert: "error decoding message"},
		{name: "garbled hello", sends: record(22, 1, 0, 0, 4, 3, 3, 9, 9), alert: "error decoding message"},
		{name: "other message", sends: record(22, 2, 0, 0, 1, 0), alert: "error decoding message"},
		{name: "long hello", sends: append([]byte{22, 3, 1, 0x40, 0, 1, 1, 0, 0}, make([]byte, 20_000)...), err: secure.ErrHandshakeSize.Error()},
		{name: "alert", sends: record(21, 2, 40), err: "remote error: tls: handshake failure"},
		{name: "forged record", later: record(23, make([]byte, 64)...), alert: "bad record MAC"},
		{name: "forged record, 1.2", ours: version(0, tls.VersionTLS12), later: record(23, make([]byte, 64)...), alert: "bad record MAC"},
		{name: "long record later", later: []byte{23, 3, 3, 0x48, 1, 1}, alert: "record overflow"},
		{name: "plain record later", later: record(22, 1, 0, 0, 0), alert: "bad record MAC"},
		// clients, whom crypto/tls lets say no more than that the certificate is bad
		{client: true, name: "server of a stranger", theirs: cert(issue(t, stranger, "a.test")), alert: "bad certificate", err: "unknown authority"},
		{client: true, name: "server of the past", theirs: cert(issue(t, ca, "a.test", past)), alert: "bad certificate", err: "has expired"},
		{client: true, name: "server of another name", theirs: cert(issue(t, ca, "b.test")), alert: "bad certificate"},
		{client: true, name: "server with a client's certificate", theirs: cert(issue(t, ca, "a.test", clientOnly)), alert: "bad certificate"},
		{client: true, name: "old server", theirs: version(tls.VersionTLS10, tls.VersionTLS11), ours: version(tls.VersionTLS12, 0), err: "protocol version not supported"},
		{client: true, name: "no server", sends: []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), err: "does not look like a TLS handshake"},
	} {
		t.Run(b.name, func(t *testing.T) {
			ours := &tls.Config{Certificates: []tls.Certificate{good}, RootCAs: ca.Pool(), ClientCAs: ca.Pool()}
			theirs := ours.Clone()
			theirs.ServerName = "a.test"
			if !b.client {
				theirs.Certificates = nil
			}
			for f, c := range map[*func(*tls.Config)]*tls.Config{&b.ours: ours, &b.theirs: theirs} {
				if *f != nil {
					(*f)(c)
				}
			}
			by := secure.New(ours)
			e := newEnd("10.0.0.1:1", by.Server())
			d := &dialled{t: t}
			conn := tls.Client(standard{dialled: d}, theirs)
			if b.client {
				e = newEnd("10.0.0.1:1", by.Client("a.test"))
				conn = tls.Server(standard{dialled: d}, theirs)
			}
			d.end = e
			told := ""
			if b.sends != nil {
				told = alertTo(t, e, b.sends)
			} else if err := conn.Handshake(); err != nil {
				told = err.Error()
			} else {
				for !e.isOpen() && e.Err() == nil {
					e.wake(t)
				}
				if b.later != nil {
					e.receives(b.later, 0)
				}
				if _, err = conn.Read(make([]byte, 1)); err != nil {
					told = err.Error()
				}
			}
			for e.Err() == nil {
				e.wake(t)
			}
			if b.err != "" {
				require.ErrorContains(t, e.Err(), b.err)
			}
			if b.alert != "" {
				require.Contains(t, told, "tls: "+b.alert)
			} else {
				require.NotContains(t, told, "remote error: tls: ")
			}
			e.Close(1)
			until(t, func() bool { return by.Stats().Running == 0 })
		})
	}
}

func nobody(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }
func fails(*tls.ClientHelloInfo) (*tls.Certificate, error)  { return nil, errors.New("lookup") }
func panics(*tls.ClientHelloInfo) (*tls.Certificate, error) { panic("lookup") }

// alertTo gives e what isn't a handshake, and returns what the plain alert says that comes back.
func alertTo(t *testing.T, e *end, p []byte) string {
	e.receives(p, 0)
	for e.Err() == nil {
		e.wake(t)
	}
	sent := e.sent()
	if i := strings.Index(string(sent), "\x15\x03"); i >= 0 && len(sent) >= i+7 {
		return "tls: " + strings.TrimPrefix(tls.AlertError(sent[i+6]).Error(), "tls: ")
	}
	return ""
}
