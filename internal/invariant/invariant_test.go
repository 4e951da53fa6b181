package invariant

import (
	"testing"
	"unsafe"
)

// TestAnnotations calls what the race detector is told with the sizes that occur:
// none, one byte, many. A wrong address would crash a race build.
func TestAnnotations(t *testing.T) {
	for _, n := range []int{0, 1, 4096} {
		b := make([]byte, n)
		ReadBytes(b)
		WroteBytes(b)
		Recycled(unsafe.Pointer(unsafe.SliceData(b)), uintptr(n))
	}
}
