package invariant_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// A costly check stands behind the constant: without the build tag the compiler
// removes it.
func Example() {
	sorted := []int{1, 2, 3}
	if invariant.Enabled {
		for i := 1; i < len(sorted); i++ {
			if sorted[i-1] > sorted[i] {
				panic("not sorted")
			}
		}
	}
	invariant.Point("example") // an explorer may switch to another worker here
	fmt.Println(sorted)
	// Output: [1 2 3]
}
