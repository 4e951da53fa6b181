package housetest

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// ZeroAlloc fails t if the process allocates while f does n operations: the
// total of mallocs, least of three tries, must be 0. A warm-up run of f comes
// first, to fill the pools. The collector is off meanwhile, because after each
// collection the runtime refills caches of its own. Averages are no evidence:
// they divide integers.
func ZeroAlloc(t testing.TB, n int, f func(n int)) {
	t.Helper()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f(n)
	least := ^uint64(0)
	for range 3 {
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
