package turns_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/turns"
)

func Example() {
	me := turns.Begin()
	fmt.Println(turns.Running())
	me.End()
	fmt.Println(turns.Running())
	// Output:
	// true
	// false
}
