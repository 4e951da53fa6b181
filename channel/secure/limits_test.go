package secure_test

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

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
