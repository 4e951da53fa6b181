package housetest

import (
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// Slow reports whether this program runs many times slower than it would, with the race detector
// or the build tag invariants: tests that repeat something a million times do less then.
const Slow = invariant.Race || invariant.Enabled

const tries = 20

// ZeroAlloc fails t if the process allocates while f does n operations: the
// total of mallocs, least of twenty tries, must be 0. A collection comes first, so
// that the runtime's own periodic one is far, then a warm-up run of f, which fills
// the pools and what the runtime caches and a collection empties. On a busy machine
// one run is not always enough: a pool grows until it has what the worst timing so
// far had in use. What operations allocate comes again in every try. The collector
// stays as it is set. Averages are no evidence: they divide integers.
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
