package protoactor

import (
	"log/slog"
	"os"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// Workloads has what there is, by name.
var Workloads = map[string]measure.Make{
	"tell-1-1":     tell(1),
	"tell-8-1":     tell(8),
	"tell-actor":   tellActor,
	"tell-cross":   tellActor,
	"fanout-1000":  fanout,
	"pingpong-1":   pingpong,
	"pingpong-64":  pairs,
	"ask-in-actor": ask(measure.OfCheap),
	"ask-cross":    askMany,
	"ask-cross-1":  ask(measure.OfDear),
	"ask-guest":    askGuest,
	"ask-64-1":     askers,
	"spawn":        spawn,
	"skynet":       skynet,
	"ring503":      ring,
	"timers":       timers,
}

// askTimeout is the deadline of an ask: as long as Stackhouse's default.
const askTimeout = 5 * time.Second

// start starts a system.
func start() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}))
}

// stop returns a function that ends a system.
func stop(sys *actor.ActorSystem) func() error {
	return func() error { sys.Shutdown(); return nil }
}

// props says how an actor is made.
func props(make func() actor.Actor) *actor.Props { return actor.PropsFromProducer(make) }

// order tells an actor to do its part of a workload.
type order struct {
	n     int
	tally *measure.Tally
}

// note is a number that is told.
type note struct{ n uint64 }

// again is what an actor tells itself.
type again struct{}

// carryOut returns a work that gives one actor an order and waits for one report,
// which must be the sum of n numbers.
func carryOut(sys *actor.ActorSystem, to *actor.PID) *measure.Work {
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		tally := measure.NewTally(1)
		sys.Root.Send(to, &order{n, tally})
		return n, tally.Wait(measure.Sum(n))
	}}
}

// carryOutAll shares n out: each actor gets an order and reports the sum of its numbers.
func carryOutAll(sys *actor.ActorSystem, to []*actor.PID) *measure.Work {
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		share := max(1, n/len(to))
		tally := measure.NewTally(len(to))
		for _, pid := range to {
			sys.Root.Send(pid, &order{share, tally})
		}
		return len(to) * share, tally.Wait(uint64(len(to)) * measure.Sum(share))
	}}
}
