package prefetch_test

import (
	"fmt"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/prefetch"
)

func Example() {
	var far struct{ words [64]uint64 }
	prefetch.Read(unsafe.Pointer(&far.words[8]))
	prefetch.Write(unsafe.Pointer(&far.words[16])) // both are on their way
	prefetch.Write(nil)                            // no address is a wrong one
	fmt.Println(far.words[8] + far.words[16])
	// Output: 0
}
