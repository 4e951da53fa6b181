//go:build !explore

package invariant

import "sync"

// Point is a scheduling point: another worker may act here. Without the tag
// "explore" it compiles to nothing.
func Point(where string) {}

// Await is a scheduling point before something that blocks until ready holds of x. Without the
// tag "explore" it compiles to nothing.
func Await[X any](where string, x X, ready func(X) bool) {}

// Lock is mu.Lock(), for sections that have scheduling points in them.
func Lock(mu *sync.Mutex) { mu.Lock() }

// Self returns id, the identity of the calling goroutine: an explorer's threads have others, the
// same in each run.
func Self(id uintptr) uintptr { return id }
