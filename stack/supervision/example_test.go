package supervision_test

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/fault"
	"github.com/stackhouse-go/stackhouse/stack/supervision"
)

// Two restarts a second; a third would stop the actor.
func ExampleTries() {
	s := supervision.Strategy{Restarts: 2, Window: 1e9}
	var t supervision.Tries
	for _, at := range []int64{0, 100e6, 200e6} {
		delay, yes := t.Again(&s, at, 1)
		fmt.Println(delay, yes)
	}
	fmt.Println(s.Directive(errors.New("lost")), s.Directive(&fault.StartError{}))
	// Output:
	// 0 true
	// 0 true
	// 0 false
	// restart stop
}
