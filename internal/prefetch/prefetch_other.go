//go:build !amd64 && !arm64

package prefetch

import "unsafe"

// Read fetches the line at p, to be read.
func Read(p unsafe.Pointer) {}

// Write fetches the line at p, to be written.
func Write(p unsafe.Pointer) {}
