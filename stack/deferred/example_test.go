package deferred_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/deferred"
)

func ExampleQueue() {
	flush := deferred.Work{Run: func(*deferred.Work) { fmt.Println("written once") }}
	var q deferred.Queue
	q.Add(&flush)
	q.Add(&flush)
	q.Run()
	// Output: written once
}
