package core

import (
	"time"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Passivation is when an actor stops by itself: what was queued is handled, as by Address.Drain,
// PostStop runs, its children stop, and its name is free, so that who looks it up or spawns it
// gets a fresh one. What comes in between gets ErrStopped. What is on behalf of whoever comes
// again belongs into PostStop.
type Passivation struct {
	// Idle is for how long no message of the actor has begun, counted from the end of the visit
	// in which the last one did, or from the start. If one waits or is in progress when that has
	// passed, it counts anew from there. Never early. 0: for ever.
	Idle time.Duration
	// Messages is after how many messages, of all its instances together. They may be in progress
	// yet. A batch counts as what it holds, and one that is stashed again when it begins again.
	// 0: any number.
	Messages int
}

// check panics if it makes no sense.
func (p Passivation) check() {
	if p.Idle < 0 || p.Messages < 0 {
		panic("core: an actor passivates by less than nothing")
	}
}

// KeepActive pauses passivation of the actor that runs s, or resumes it: then the idle time
// begins anew, and if there have been messages enough the actor stops. A fresh instance, after a
// restart, begins with passivation. For who doesn't passivate it does nothing.
func KeepActive(s Running, keep bool) { stack.Of(s).KeepActive(keep) }
