package idleness_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/idleness"
)

// An actor that stops when it has been idle for 10 ns gets a call at 6 ns.
func ExampleState() {
	s := idleness.New(10, 0)
	fmt.Println(s.Next(0))
	s.Begun(1)
	s.Ended(6)
	fmt.Println(s.Idle(10), s.Next(10), s.Idle(16))
	// Output:
	// 10
	// false 16 true
}
