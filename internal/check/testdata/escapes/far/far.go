// Package far instantiates what stands in another package.
package far

import "check.test/escapes"

// Call is not marked: what is inlined here is its own matter.
func Call(n int) *int {
	escapes.BadGeneric("text")
	return escapes.BadFar(n)
}
