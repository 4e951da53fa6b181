//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// keep writes a certificate and its key.
func keep(t *testing.T, ca *certs.CA, files secure.Files, name string) {
	c, err := ca.Issue([]string{name})
	require.NoError(t, err)
	cert, key, err := certs.PEM(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.Cert, cert, 0o600))
	require.NoError(t, os.WriteFile(files.Key, key, 0o600))
}

// TestTLSPort: a client that has a certificate is served, beside plain ones, and counted; one that
// has none isn't. SIGHUP has the files read again, if they can be read.
func TestTLSPort(t *testing.T) {
	ca, err := certs.NewCA()
	require.NoError(t, err)
	dir := t.TempDir()
	files := secure.Files{Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), CA: filepath.Join(dir, "ca")}
	require.NoError(t, os.WriteFile(files.CA, ca.PEM(), 0o600))
	keep(t, ca, files, "first.test")
	o := options{network: "tcp", address: "127.0.0.1:0", workers: 2, tlsPort: "0", files: files, drain: time.Second}
	require.NoError(t, o.validate(nil))
	ctx, cancel := context.WithCancel(t.Context())
	s, err := start(ctx, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.system.Shutdown(context.Background())) }()
	heard := make(chan os.Signal, 1) // a signal that nobody hears ends the process
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	reloads := make(chan struct{})
	go func() {
		defer close(reloads)
		s.reload(ctx, files)
	}()
	defer func() {
		cancel()
		<-reloads
	}()

	client := &tls.Config{RootCAs: ca.Pool(), ServerName: "first.test"}
	asks := func() (string, error) {
		c, err := tls.Dial("tcp", s.secured.Addr(), client)
		if err != nil {
			return "", err
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err = c.Write([]byte("PING\r\n")); err != nil {
			return "", err
		}
		if n := s.secured.Stats().Conns; n < 1 {
			t.Errorf("%d connections", n)
		}
		return bufio.NewReader(c).ReadString('\n')
	}
	_, err = asks()
	require.ErrorContains(t, err, "certificate required")
	own, err := ca.Issue([]string{"client"})
	require.NoError(t, err)
	client.Certificates = []tls.Certificate{own}
	got, err := asks()
	require.NoError(t, err)
	require.Equal(t, "+PONG\r\n", got)
	told := lines{&bytebufferpool.ByteBuffer{}}
	s.tellStats(&told)
	require.Contains(t, told.String(), "total_connections_received:2\r\n")

	keep(t, ca, files, "second.test")
	client.ServerName = "second.test"
	signals := func() error { return syscall.Kill(os.Getpid(), syscall.SIGHUP) }
	require.Eventually(t, func() bool { require.NoError(t, signals()); _, err := asks(); return err == nil }, 10*time.Second, 20*time.Millisecond)
	require.NoError(t, os.WriteFile(files.Key, []byte("torn"), 0o600))
	require.NoError(t, signals())
	time.Sleep(50 * time.Millisecond)
	_, err = asks()
	require.NoError(t, err)
}
