package move_test

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/move"
)

func ExampleOf() {
	from, to := "here", ""
	move.Of(reflect.TypeFor[string]())(unsafe.Pointer(&to), unsafe.Pointer(&from))
	fmt.Printf("%q %q\n", from, to)
	// Output: "" "here"
}
