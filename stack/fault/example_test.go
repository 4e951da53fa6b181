package fault_test

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/fault"
)

// The asker of a stack that panicked gets an error that is ErrPanic and, if the panic's
// value is an error, that error too.
func ExamplePanicError() {
	lost := errors.New("keys lost")
	var err error = &fault.PanicError{Actor: "main.Guard#7", Step: "main.(*Guard).ask", Value: lost}
	fmt.Println(errors.Is(err, fault.ErrPanic), errors.Is(err, lost))
	fmt.Println(err)
	// Output:
	// true true
	// stackhouse: actor panicked: main.Guard#7 in main.(*Guard).ask: keys lost
}
