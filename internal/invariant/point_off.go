//go:build !explore

package invariant

// Point is a scheduling point: another worker may act here. Without the tag
// "explore" it compiles to nothing.
func Point(where string) {}
