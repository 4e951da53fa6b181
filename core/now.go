package core

import "github.com/stackhouse-go/stackhouse/stack"

// Now returns the clock of the worker that runs s: nanoseconds since an arbitrary moment of the
// process. It is monotonic, and virtual in simulations. It is read at least once a turn, not for
// each step, so it may be some steps old. It never goes back within an actor's life on one worker.
func Now(s Running) int64 { return stack.Of(s).Engine().Now }
