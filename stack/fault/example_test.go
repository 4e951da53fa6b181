package fault_test

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// What the asker of a stack that panicked gets is ErrPanic, and the panic's value
// if that is an error.
func ExamplePanicError() {
	lost := errors.New("keys lost")
	var err error = &fault.PanicError{Actor: "main.Guard#7", Step: "main.(*Guard).ask", Value: lost}
	fmt.Println(errors.Is(err, fault.ErrPanic), errors.Is(err, lost))
	fmt.Println(err)
	// Output:
	// true true
	// stackhouse: actor panicked: main.Guard#7 in main.(*Guard).ask: keys lost
}
