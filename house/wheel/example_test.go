package wheel_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/house/wheel"
)

func Example() {
	const ms = 1_000_000
	var w wheel.Wheel
	w.Init(0)

	var soon, late, never future.Node
	w.Arm(&late, 30*ms)
	w.Arm(&soon, 10*ms)
	w.Arm(&never, 20*ms)
	w.Cancel(&never) // what it waited for has happened

	for {
		at, ok := w.Next()
		if !ok {
			break
		}
		// A worker would serve its network until then.
		for n := w.Advance(at); n != nil; n = n.Next {
			fmt.Println("due at", n.When/ms, "ms, now", at/ms, "ms")
		}
	}
	// Output:
	// due at 10 ms, now 10 ms
	// due at 30 ms, now 30 ms
}
