//go:build race

package invariant

import (
	"runtime"
	"unsafe"
)

// Race reports whether the race detector is on.
const Race = true

// Recycled tells the race detector that n bytes at p are written by whoever
// recycles them, so that a former holder's unsynchronised access is reported.
func Recycled(p unsafe.Pointer, n uintptr) { runtime.RaceWriteRange(p, int(n)) }

// ReadBytes tells the race detector of a read that it can't see (a raw system call).
func ReadBytes(b []byte) {
	if len(b) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&b[0]), len(b))
	}
}

// WroteBytes tells the race detector of a write that it can't see (a raw system call).
func WroteBytes(b []byte) {
	if len(b) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&b[0]), len(b))
	}
}
