package core

import "github.com/stackhouse-go/stackhouse/stack"

// Shutdown begins the end of the whole system that runs s, and returns at once: the step goes on,
// and its actor is stopped like the others. Whoever calls house.System.Shutdown gets the outcome.
func Shutdown(s Running) { stack.Of(s).Engine().Driver.Shutdown() }
