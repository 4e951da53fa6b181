package stack_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Guard lets nobody in.
type Guard struct{}

func (g *Guard) ask(s *core.AskStack[string, bool]) core.Yield { return s.Return(false) }

// A handler is known by its first step.
func ExampleNewAsk() {
	fmt.Println(stack.NewAsk[string, bool](stack.EntryOf((*Guard).ask)).Name())
	// Output: stack_test.(*Guard).ask
}
