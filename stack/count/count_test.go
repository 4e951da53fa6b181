package count

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/internal/stat"
)

// TestGroupHoldsAll: a group has room for all counters.
func TestGroupHoldsAll(t *testing.T) {
	require.LessOrEqual(t, number, stat.GroupMax)
	var g stat.Group
	for i := range number {
		g.Add(i, uint64(i+1))
	}
	g.Publish()
	for i := range number {
		require.EqualValues(t, i+1, g.Load(i))
	}
}
