package core

import "time"

// Tick is the answer of Timer.
type Tick struct{}

// Timer answers after the duration that it is asked for: never early, and late by as long as the
// worker is busy. A timer is cancelled by the end of the stack that asked. The default deadline of
// asks doesn't apply to it; the deadline that its stack inherited does, and ends it with
// ErrTimeout.
var Timer = Port[time.Duration, Tick]{route: &route{timer: true}}
