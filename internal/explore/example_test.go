package explore_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/explore"
)

// Two threads count by a load and a store. What one adds between the two of the other is
// lost; the explorer finds the shortest way to it.
func Example() {
	res := explore.Explore(explore.Config{}, func(r *explore.Run) {
		count := 0
		add := func() {
			r.Point("load")
			n := count
			r.Point("store")
			count = n + 1
		}
		r.Go("one", add)
		r.Go("two", add)
		r.After(func() {
			if count != 2 {
				r.Fail("counted %d", count)
			}
		})
	})
	fmt.Println(res.Failure.Why, "by", res.Failure.Preemptions, "preemption")
	for _, point := range res.Failure.Schedule {
		fmt.Println(point)
	}
	// Output:
	// counted 1 by 1 preemption
	// one: load
	// one: store
	// two: load
	// two: store
}
