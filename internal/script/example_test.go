package script_test

import (
	"fmt"
	"strings"

	"github.com/stackhouse-go/stackhouse/internal/script"
)

func ExamplePlay() {
	fmt.Print(script.Play("# Words are louder.\nhello\n\tstale\n", strings.ToUpper))
	// Output:
	// # Words are louder.
	// hello
	// 	HELLO
}
