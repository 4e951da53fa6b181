//go:build !portable

package house_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// TestNapLent: while a worker naps others run its turns, and show what it has counted, which it
// doesn't touch meanwhile.
func TestNapLent(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1})
	require.NoError(t, err)
	sys.KeepBusy()
	require.NoError(t, sys.Start(t.Context()))
	a := onIdle.At(core.Spawn(sys, func() *idler { return &idler{} }))
	for range 20_000 {
		_, err := core.Ask(context.Background(), a, struct{}{})
		require.NoError(t, err)
	}
	stats := sys.Stats()
	require.Positive(t, stats.Naps)
	require.Positive(t, stats.Borrowed)
	require.NoError(t, sys.Shutdown(context.Background()))
}
