package prefetch_test

import (
	"fmt"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/examples/kv/table/prefetch"
)

func Example() {
	var far struct{ words [64]uint64 }
	prefetch.Write(unsafe.Pointer(&far.words[16])) // on its way
	prefetch.Of(&far.words[32])                    // the same
	prefetch.Write(nil)                            // no address is a wrong one
	fmt.Println(far.words[16])
	// Output: 0
}
