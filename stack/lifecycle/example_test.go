package lifecycle_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/lifecycle"
)

// An actor without hooks stops at once. The numbers are the effects, which the caller must do.
func ExampleMachine() {
	m := lifecycle.New(0)
	m.Stop()
	for e := m.Next(); e != lifecycle.None; e = m.Next() {
		fmt.Print(e == lifecycle.Bury, " ")
	}
	fmt.Println(m.Phase() == lifecycle.Gone)
	// Output: false false false true true
}
