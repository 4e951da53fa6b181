package prefetch

import "unsafe"

// Of is Write for a pointer of any type.
func Of[T any](p *T) { Write(unsafe.Pointer(p)) }
