package self_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/self"
)

func Example() {
	me := self.ID()
	other := make(chan uintptr)
	go func() { other <- self.ID() }()
	fmt.Println(me == self.ID(), me == <-other)
	// Output: true false
}
