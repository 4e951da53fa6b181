package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/examples/remote/api"
	"github.com/stackhouse-go/stackhouse/internal/certs"
)

// TestRemote: a counter is asked by another node, and by nobody who has another authority's word.
func TestRemote(t *testing.T) {
	dir, other := folder(t, "store", "shop"), folder(t, "shop")
	ctx, stop := context.WithCancel(t.Context())
	at, done := make(chan string, 1), make(chan error, 1)
	store, err := identity(dir, "store")
	require.NoError(t, err)
	go func() {
		done <- serve(ctx, cluster.Config{Name: "store", Listen: "127.0.0.1:0", TLS: store}, func(address string) { at <- address })
	}()
	address := <-at
	for _, c := range []struct {
		dir   string
		calls int
	}{{dir, 5}, {other, 0}, {dir, 5}} {
		shop, err := identity(c.dir, "shop")
		require.NoError(t, err)
		n := 0
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err = ask(short, cluster.Config{Name: "shop", Peers: map[string]string{"store": address}, TLS: shop}, "store", 5,
			func(api.Sum, time.Duration) { n++ })
		cancel()
		require.Equal(t, c.calls > 0, err == nil, "%v", err)
		require.Equal(t, c.calls, n)
	}
	stop()
	require.NoError(t, <-done)
}

// folder has an authority, and certificates by it for names.
func folder(t *testing.T, names ...string) string {
	dir := t.TempDir()
	ca, err := certs.NewCA()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.pem"), ca.PEM(), 0o600))
	for _, name := range names {
		c, err := ca.Issue([]string{name})
		require.NoError(t, err)
		cert, key, err := certs.PEM(c)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".pem"), cert, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".key"), key, 0o600))
	}
	return dir
}
