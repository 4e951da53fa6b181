package rendezvous_test

import (
	"context"
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/rendezvous"
)

// A goroutine waits for a worker's answer. Another time it gives up, and the worker frees.
func ExampleCell() {
	var c rendezvous.Cell
	c.Make()
	answer := ""
	go func() {
		answer = "42"
		c.Finish()
	}()
	fmt.Println(c.Block(context.Background(), 0), answer)

	c.Reset()
	fmt.Println(c.Block(context.Background(), 1), c.Leave())
	fmt.Println("the worker frees:", !c.Finish())
	// Output:
	// <nil> 42
	// stackhouse: deadline exceeded true
	// the worker frees: true
}
