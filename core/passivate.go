package core

import (
	"time"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Passivation says when an actor stops by itself. Then queued messages are handled, as by
// Address.Drain; PostStop runs; children stop; and the name is free, so that the next look-up or
// spawn by that name makes a fresh actor. Messages that come in between get ErrStopped. Save what
// the next actor needs in PostStop.
type Passivation struct {
	// Idle is how long no message of the actor has begun, counted from the end of the visit in
	// which the last one began, or from the start. If messages wait or are in progress at that
	// time, it counts anew from then. The actor never stops early. 0: no limit.
	Idle time.Duration
	// Messages is the number of messages after which it stops, all instances counted together; the
	// last ones may still be in progress. A batch counts as its messages; a stashed message counts
	// each time it begins. 0: no limit.
	Messages int
}

// check panics if p makes no sense.
func (p Passivation) check() {
	if p.Idle < 0 || p.Messages < 0 {
		panic("core: an actor passivates by less than nothing")
	}
}

// KeepActive pauses the passivation of the actor that runs s, or resumes it. When it is resumed,
// the idle time counts anew, and the actor stops if it has had its Messages. A restart ends the
// pause. It does nothing for actors that don't passivate. Only a step of s may call it.
func KeepActive(s Running, keep bool) { stack.Of(s).KeepActive(keep) }
