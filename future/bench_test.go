package future

import (
	"strconv"
	"testing"

	"github.com/stackhouse-go/stackhouse/pool"
)

// One operation is one promise inserted under the next id and the oldest taken,
// while n wait: the table of a house with n asks outstanding.
func BenchmarkInsertTake(b *testing.B) {
	for _, n := range []int{1, 17, 1_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var s pool.Shard
			var t Table
			ring := make([]Promise, n)
			id := uint64(0)
			for i := range ring {
				id++
				ring[i].ID = id
				t.Insert(&ring[i], &s)
			}
			b.ReportAllocs()
			for b.Loop() {
				p := t.Take(id-uint64(n)+1, &s)
				id++
				p.ID = id
				t.Insert(p, &s)
			}
		})
	}
}
