package latency

import (
	"math/rand"
	"testing"
	"time"
)

// latencies returns durations such as a server sees: 10 µs and an exponential tail.
func latencies() []time.Duration {
	r := rand.New(rand.NewSource(1))
	all := make([]time.Duration, 4096)
	for i := range all {
		all[i] = 10_000 + time.Duration(20_000*r.ExpFloat64())
	}
	return all
}

// One operation is one Record.
func BenchmarkRecord(b *testing.B) {
	var h Histogram
	all := latencies()
	for i := range b.N {
		h.Record(all[i%len(all)])
	}
}

// One operation is one Record; each thousandth is followed by a Publish.
func BenchmarkRecordPublish(b *testing.B) {
	var h Histogram
	all := latencies()
	for i := range b.N {
		h.Record(all[i%len(all)])
		if i%1000 == 0 {
			h.Publish()
		}
	}
}

// One operation is one Record followed by a Publish: the idle worker's turn.
func BenchmarkRecordPublishEach(b *testing.B) {
	var h Histogram
	all := latencies()
	for i := range b.N {
		h.Record(all[i%len(all)])
		h.Publish()
	}
}

// One operation is a snapshot and its 99th percentile.
func BenchmarkSnapshotQuantile(b *testing.B) {
	var h Histogram
	var s Snapshot
	for _, d := range latencies() {
		h.Record(d)
	}
	h.Publish()
	for range b.N {
		h.Snapshot(&s)
		s.Quantile(0.99)
	}
}
