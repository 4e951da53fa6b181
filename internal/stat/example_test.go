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
