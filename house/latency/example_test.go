package latency_test

import (
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/house/latency"
)

func ExampleHistogram() {
	var workers [2]latency.Histogram
	for i := range 1000 {
		w := &workers[i%2]
		w.Record(time.Duration(i+1) * time.Microsecond)
	}
	var one, all latency.Snapshot
	for i := range workers {
		workers[i].Publish()      // the worker does this
		workers[i].Snapshot(&one) // and any goroutine that
		all.Merge(&one)
	}
	fmt.Println("count", all.Count(), "mean", all.Mean(), "max", all.Max())
	fmt.Println("p50", all.Quantile(0.5), "p99", all.Quantile(0.99))
	// Output:
	// count 1000 mean 500.5µs max 1ms
	// p50 507.903µs p99 999.423µs
}
