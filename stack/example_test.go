package stack_test

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Guard lets nobody in.
type Guard struct{}

func (g *Guard) ask(s *stack.AskStack[string, bool]) stack.Yield { return s.Return(false) }

// A handler is known by its first step.
func ExampleNewAsk() {
	fmt.Println(stack.NewAsk((*Guard).ask).Name())
	// Output: stack_test.(*Guard).ask
}

// What the asker of a stack that panicked gets is ErrPanic, and the panic's value
// if that is an error.
func ExamplePanicError() {
	lost := errors.New("keys lost")
	var err error = &stack.PanicError{Actor: "main.Guard#7", Step: "main.(*Guard).ask", Value: lost}
	fmt.Println(errors.Is(err, stack.ErrPanic), errors.Is(err, lost))
	fmt.Println(err)
	// Output:
	// true true
	// stackhouse: actor panicked: main.Guard#7 in main.(*Guard).ask: keys lost
}
