package order_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/order"
)

// One of each sender in turn.
func ExampleFair() {
	type call struct {
		next  *call
		asker uint64
		text  string
	}
	f := order.NewFair(
		func(c *call) **call { return &c.next },
		func(c *call) order.From { return order.From{Asker: c.asker} },
	)
	for _, c := range []call{{nil, 1, "a"}, {nil, 1, "b"}, {nil, 1, "c"}, {nil, 2, "x"}} {
		f.Push(&c)
	}
	for f.Len() > 0 {
		fmt.Print(f.Pop().text, " ")
	}
	// Output: a x b c
}
