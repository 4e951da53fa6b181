package future_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/pool"
)

func ExampleTable() {
	var shard pool.Shard   // the worker's
	var waits future.Table // of one house

	// Two asks begin. The promises are fields of the stacks that wait.
	a, b := future.Promise{ID: 1}, future.Promise{ID: 2}
	waits.Insert(&a, &shard)
	waits.Insert(&b, &shard)

	// An answer comes home, and then a second time.
	fmt.Println(waits.Take(1, &shard) == &a, waits.Len(), "left")
	fmt.Println(waits.Take(1, &shard) == nil, waits.Len(), "left")

	// The actor stops: what still waits is found without its id.
	from := 0
	for p := waits.Any(&from); p != nil; p = waits.Any(&from) {
		fmt.Println("taking back ask", p.ID)
		waits.Take(p.ID, &shard)
	}
	waits.Close(&shard)
	fmt.Println(shard.Outstanding(), "arrays outstanding")
	// Output:
	// true 1 left
	// true 1 left
	// taking back ask 2
	// 0 arrays outstanding
}

func ExampleQueue() {
	var due future.Queue // of one house
	a, b, c := future.Promise{ID: 1}, future.Promise{ID: 2}, future.Promise{ID: 3}
	for _, p := range []*future.Promise{&a, &b, &c} {
		due.Push(&p.Node) // a wheel found it due
	}
	due.Remove(&b.Node) // its answer came before its turn to expire
	for !due.Empty() {
		fmt.Println("ask", future.PromiseOf(due.Pop()).ID, "expires")
	}
	// Output:
	// ask 1 expires
	// ask 3 expires
}
