package channels

import "github.com/stackhouse-go/stackhouse/bench/compare/measure"

// capacity is that of a channel that notes are sent to.
const capacity = 1024

// Workloads has what there is, by name.
var Workloads = map[string]measure.Make{
	"tell-1-1":     tell(1),
	"tell-8-1":     tell(8),
	"tell-actor":   tell(1),
	"tell-cross":   tell(1),
	"fanout-1000":  fanout,
	"pingpong-1":   roundTrip(measure.OfDear),
	"pingpong-64":  pairs,
	"ask-in-actor": roundTrip(measure.OfCheap),
	"ask-cross":    askers,
	"ask-cross-1":  roundTrip(measure.OfDear),
	"ask-guest":    roundTrip(measure.OfDear),
	"ask-64-1":     askers,
	"spawn":        spawn,
	"skynet":       skynet,
	"ring503":      ring,
	"timers":       timers,
}
