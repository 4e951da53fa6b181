package command_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/command"
)

func ExampleVerb() {
	fmt.Println(command.Stop, command.GivenUp)
	// Output: stop given up
}
