package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

// TestWrite: servers and clients can load what is written.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	require.NoError(t, write(dir, []string{"localhost"}, []string{"ann", "bob"}))
	for _, who := range []string{"server", "ann", "bob"} {
		at := filepath.Join(dir, who)
		c, err := secure.Files{Cert: at + ".pem", Key: at + ".key", CA: filepath.Join(dir, "ca.pem")}.Load()
		require.NoError(t, err)
		require.Len(t, c.Certificates, 1)
		require.NotNil(t, c.ClientCAs)
	}
}
