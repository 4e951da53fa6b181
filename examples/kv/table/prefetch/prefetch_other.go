//go:build !amd64 && !arm64

package prefetch

import "unsafe"

// Write fetches the line at p, to be written.
func Write(p unsafe.Pointer) {}
