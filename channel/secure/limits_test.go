package secure_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// TestCanServe: a server needs a certificate, or somebody who has one.
func TestCanServe(t *testing.T) {
	cert := issue(t, newCA(t), "a.test")
	require.Error(t, (&secure.TLS{}).CanServe())
	require.ErrorContains(t, secure.New(&tls.Config{}).CanServe(), "no certificate")
	for _, c := range []*tls.Config{
		{Certificates: []tls.Certificate{cert}},
		{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }},
		{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, nil }},
	} {
		require.NoError(t, secure.New(c).CanServe())
	}
}

// TestLimits: those that are set hold.
func TestLimits(t *testing.T) {
	ca := newCA(t)
	config := &tls.Config{Certificates: []tls.Certificate{issue(t, ca, "a.test")}, RootCAs: ca.Pool()}
	by := secure.NewWith(config, secure.Limits{Running: 3, RunningOfOne: 2, Time: time.Second, Size: 3000})
	all := greeters(t, by, one, 3)
	require.Equal(t, secure.Stats{Running: 2, Waiting: 1}, by.Stats())
	all = append(all, greeters(t, by, each, 2)...)
	require.Equal(t, secure.Stats{Running: 3, Waiting: 2}, by.Stats())
	for _, e := range all {
		e.Tick(1 + int64(time.Second))
		require.ErrorIs(t, e.Err(), secure.ErrHandshakeTime)
	}
	closeAll(all)
	until(t, func() bool { return by.Stats().Running+by.Stats().Waiting == 0 })

	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, ca.Pool()
	for range 10 { // a long chain
		config.Certificates[0].Certificate = append(config.Certificates[0].Certificate, ca.Cert.Raw)
	}
	c, s := newEnd("127.0.0.1:1", secure.New(config).Client("a.test")), newEnd("10.0.0.1:1", by.Server())
	meet(t, c, s, 0)
	require.ErrorIs(t, s.Err(), secure.ErrHandshakeSize)
	closeAll([]*end{c, s})
}

// TestFiles: what is missing, or doesn't fit, is named.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	ca := newCA(t)
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	var certFiles, keys []string
	for _, name := range []string{"a", "b"} {
		cert, key, err := certs.PEM(issue(t, ca, name))
		require.NoError(t, err)
		certFiles, keys = append(certFiles, write(name+".pem", cert)), append(keys, write(name+".key", key))
	}
	authority := write("ca.pem", ca.PEM())
	for _, c := range []struct {
		files secure.Files
		why   string // "": none
	}{
		{secure.Files{}, ""},
		{secure.Files{Cert: certFiles[0], Key: keys[0]}, ""},
		{secure.Files{Cert: certFiles[0], Key: keys[0], CA: authority}, ""},
		{secure.Files{CA: authority}, ""},
		{secure.Files{Cert: certFiles[0]}, "needs a key"},
		{secure.Files{Key: keys[0]}, "needs a key"},
		{secure.Files{Cert: certFiles[0], Key: keys[1]}, keys[1]},
		{secure.Files{CA: keys[0]}, "no certificate in " + keys[0]},
		{secure.Files{CA: dir + "/none"}, "none"},
	} {
		config, err := c.files.Load()
		if c.why != "" {
			require.ErrorContains(t, err, c.why)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.files.Cert != "", len(config.Certificates) == 1)
		require.Equal(t, c.files.CA != "", config.ClientAuth == tls.RequireAndVerifyClientCert && config.RootCAs != nil && config.ClientCAs != nil)
	}
}
