package core

import "github.com/stackhouse-go/stackhouse/stack"

// Now returns the clock of the worker that runs s, in nanoseconds since an
// arbitrary moment of the process: read once a turn, monotonic, virtual in
// simulations. It never goes back within an actor's life on one worker.
func Now(s Running) int64 { return stack.Of(s).Engine().Now }
