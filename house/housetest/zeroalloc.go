package housetest

import (
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// Slow reports whether this program runs many times slower than normal, because of the race
// detector or the build tag invariants: tests that repeat something a million times do less then.
const Slow = invariant.Race || invariant.Enabled

const tries = 20

// ZeroAlloc fails t if the process allocates while f does n operations: of twenty tries, one must
// count no malloc at all. Before them come a collection, so that the runtime's own periodic one is
// far, and a run of f, which fills the pools and those caches of the runtime that a collection
// empties. On a busy machine one try isn't always enough, as a pool grows until it has as many
// objects as were ever in use at once; but what operations allocate comes again in every try. The
// settings of the collector stay. Averages such as testing.AllocsPerRun are no evidence: they are
// divisions of integers.
func ZeroAlloc(t testing.TB, n int, f func(n int)) {
	t.Helper()
	runtime.GC()
	f(n)
	least := ^uint64(0)
	for range tries {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f(n)
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
		if least == 0 {
			return
		}
	}
	t.Errorf("%d mallocs in %d operations, want 0", least, n)
}
