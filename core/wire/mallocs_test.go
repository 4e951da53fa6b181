package wire

import (
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// slow reports whether this program runs many times slower than normal.
const slow = invariant.Race || invariant.Enabled

// zeroAlloc fails unless f, which does n operations, makes no malloc in one of several runs: others
// may make some meanwhile.
func zeroAlloc(t *testing.T, n int, f func(n int)) {
	t.Helper()
	f(n)
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f(n)
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least > 0 {
		t.Errorf("%d mallocs in %d operations", least, n)
	}
}
