//go:build !portable

package cluster

import (
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestLinksAllocateNothing: no malloc for a million notices, nor for a million asks, at either end.
func TestLinksAllocateNothing(t *testing.T) {
	n := 1_000_000
	if housetest.Slow {
		n = 10_000
	}
	here, _, far := pours(t)
	by := tapPour.At(core.Spawn(here.sys.Workers()[1], func() *tap { return &tap{} }))
	t.Run("notices", func(t *testing.T) {
		housetest.ZeroAlloc(t, n, func(n int) { pour(t, by, far, n/50, 50) })
	})
	t.Run("asks", func(t *testing.T) {
		housetest.ZeroAlloc(t, n, func(n int) { pour(t, by, far, n, 0) })
	})
}
