package pace_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/pace"
)

// Messages of a microsecond each, in turns of 80 µs: the clock is read for ten of them at most.
func ExamplePace() {
	var p pace.Pace
	p.Pass(0, 0)
	for handled, now := uint64(1), int64(1000); handled <= 30; handled, now = handled+1, now+1000 {
		if handled >= p.Next {
			p.Measure(now, handled, 80_000)
			fmt.Print(handled, " ")
		}
	}
	// Output: 1 3 7 15 25
}
