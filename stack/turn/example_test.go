package turn_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/turn"
)

// A worker parks, a guest borrows its turn, and the worker wants it back.
func ExampleState() {
	var s turn.State
	s.Park()
	fmt.Println("borrowed:", s.Borrow())
	fmt.Println("the worker has its turn:", s.Unpark())
	if !s.GiveBack(false) {
		fmt.Println("the borrower wakes the worker")
	}
	fmt.Println("the worker has its turn:", s.Unpark())
	// Output:
	// borrowed: true
	// the worker has its turn: false
	// the borrower wakes the worker
	// the worker has its turn: true
}
