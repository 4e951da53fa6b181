package pool

import (
	"math"
	"runtime"
	"testing"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// noMallocs requires n operations to allocate nothing at all, after a first few.
// Others may allocate meanwhile, so the least of three tries counts.
func noMallocs(t *testing.T, n int, f func(i int)) {
	t.Helper()
	for i := range 1000 {
		f(i)
	}
	least := uint64(math.MaxUint64)
	for try := 0; try < 3 && least > 0; try++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			f(i)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least != 0 {
		t.Errorf("%d mallocs in %d operations", least, n)
	}
}

func TestNoMallocs(t *testing.T) {
	var home, away Shard
	var g Guests
	var c Carrier
	payload := make([]byte, 200)
	n := 1_000_000
	if invariant.Race || invariant.Enabled { // each is slow
		n = 20_000
	}
	for _, x := range []struct {
		name string
		op   func(i int)
	}{
		{"take and put", func(int) { home.Put(home.Take(middleKind)) }},
		{"put abroad", func(i int) {
			away.Put(home.Take(plainKind))
			if i%10 == 0 {
				away.Flush()
			}
		}},
		{"send", func(int) { Send(home.Take(plainKind)) }},
		{"bytes", func(i int) {
			b := home.Bytes(1 + i%1000)
			part, _ := b.Slice(0, 1).Part(b.B()[:1])
			part.Retain()
			b.Release()
			part.Grow(2).Release()
		}},
		{"copy", func(i int) { home.Copy(payload[:i%200]).Release() }},
		{"long bytes", func(i int) { home.Bytes(SlabMax + 1 + i%1000).Release() }},
		{"carrier", func(i int) {
			c.Carry(&home, 1+i%100)
			c.Carry(&away, 1)
			c.Release()
		}},
		{"guests", func(int) {
			g.Put(g.Take(plainKind))
			g.Bytes(5).Release()
		}},
		{"trim", func(int) { home.Trim() }},
	} {
		t.Run(x.name, func(t *testing.T) { noMallocs(t, n, x.op) })
	}
}
