// Package unmarked has nothing for the escape gate to look at.
package unmarked

// F is hot, but nobody says so.
func F() {}
