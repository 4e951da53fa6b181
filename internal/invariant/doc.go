// Package invariant switches costly checks on and off.
//
// Enabled is a constant: with the build tag "invariants" it is true and the
// checks behind it run; without, the compiler removes them. The tags switch
// checks, never algorithms: the code that is tested is the code that ships.
//
// Point marks a place where another worker may act in between, Await one where the caller
// waits for another. They do nothing in normal builds, and let an explorer (internal/explore)
// drive the real code through every interleaving.
package invariant
