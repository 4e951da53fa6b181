package release_test

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack/release"
)

// Counted bytes are released by the message that carries them.
func ExampleHolds() {
	fmt.Println(release.Holds[pool.Bytes](), release.Holds[[]byte]())
	// Output: true false
}
