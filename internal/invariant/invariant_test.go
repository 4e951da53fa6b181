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

// TestSolo has two inside at once.
func TestSolo(t *testing.T) {
	var s Solo
	s.Enter("two")
	s.Exit("two")
	s.Enter("two")
	defer func() {
		if v := recover(); Enabled && v != "two" || !Enabled && v != nil {
			t.Errorf("%v", v)
		}
	}()
	s.Enter("two")
}
