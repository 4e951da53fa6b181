//go:build amd64 || arm64

package self

// ID returns a number that no other goroutine alive has; never 0.
//
//go:noescape
func ID() uintptr
