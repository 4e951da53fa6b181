package command_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/command"
)

func ExampleVerb() {
	fmt.Println(command.Stop, command.GivenUp, command.Drain)
	// Output: stop given up drain
}
