package flags_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/flags"
)

func ExampleShared() {
	var f flags.Shared
	f.Add(3)
	fmt.Println(f.Set(flags.Held), f.Set(flags.Held), f.Has(flags.Held|flags.Stopped), f.Now().Calls())
	// Output: true false true 3
}
