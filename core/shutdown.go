package core

import "github.com/stackhouse-go/stackhouse/stack"

// Shutdown begins the shutdown of the system that runs s, and returns at once: the step goes on,
// and its actor is stopped like all others. Callers of house.System.Shutdown get the outcome.
func Shutdown(s Running) { stack.Of(s).Engine().Driver.Shutdown() }
