package ear_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/stack/ear"
)

// A listener with room for two events misses the third.
func Example() {
	l := ear.New(2, func(*ear.Listener[string]) { fmt.Println("gone") })
	for _, event := range []string{"one", "two", "three"} {
		ear.Tell(l, event)
	}
	fmt.Println(<-l.C(), <-l.C(), l.Dropped())
	l.Close()
	// Output:
	// one two 1
	// gone
}
