package lost_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// Two handlers miss three notices.
func ExampleTally() {
	type handler struct{ name string }
	greet, part := &handler{"greet"}, &handler{"part"}
	var t lost.Tally[handler]
	t.Add(greet, lost.Full, 1)
	t.Add(part, lost.Stopped, 1)
	t.Add(greet, lost.Full, 1)
	t.Each(func(by *handler, why lost.Reason, n uint64) { fmt.Println(by.name, why, n) })
	// Output:
	// greet mailbox full 2
	// part stopped 1
}
