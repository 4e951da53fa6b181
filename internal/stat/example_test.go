package stat_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/stat"
)

func ExampleGroup() {
	const (
		asks = iota
		notices
	)
	var g stat.Group // a field of the worker
	g.Add(asks, 1)
	g.Add(notices, 3)
	fmt.Println("before:", g.Load(asks), g.Load(notices))
	g.Publish() // at the end of a turn
	fmt.Println("after:", g.Load(asks), g.Load(notices))
	// Output:
	// before: 0 0
	// after: 1 3
}

func ExampleHistogram() {
	var workers [2]stat.Histogram
	for i := range int64(1000) {
		w := &workers[i%2]
		w.Record((i + 1) * 1000) // 1 µs to 1 ms
	}
	var one, all stat.Snapshot
	for i := range workers {
		workers[i].Publish()      // the worker does this
		workers[i].Snapshot(&one) // and any goroutine that
		all.Merge(&one)
	}
	fmt.Println("count", all.Count(), "mean", all.Mean(), "max", all.Max())
	fmt.Println("p50", all.Quantile(0.5), "p99", all.Quantile(0.99))
	// Output:
	// count 1000 mean 500500 max 1000000
	// p50 507903 p99 999423
}
