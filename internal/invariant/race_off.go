//go:build !race

package invariant

import "unsafe"

// Race reports whether the race detector is on.
const Race = false

// Recycled does nothing without the race detector.
func Recycled(unsafe.Pointer, uintptr) {}

// ReadBytes does nothing without the race detector.
func ReadBytes([]byte) {}

// WroteBytes does nothing without the race detector.
func WroteBytes([]byte) {}
