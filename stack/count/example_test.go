package count_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/stat"
	"github.com/stackhouse-go/stackhouse/stack/count"
)

// A worker counts all the time, and publishes its counts now and then.
func Example() {
	var worker stat.Group
	worker.Add(count.Visits, 1)
	worker.Add(count.Messages, 3)
	worker.Publish()
	fmt.Println(worker.Load(count.Messages), "messages in", worker.Load(count.Visits), "visit")
	// Output: 3 messages in 1 visit
}
