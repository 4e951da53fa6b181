package stackhouse

import (
	"context"
	"time"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// Workloads has what there is, by name.
var Workloads = map[string]measure.Make{
	"tell-1-1":     tell(1),
	"tell-8-1":     tell(8),
	"tell-actor":   tellActor,
	"tell-cross":   tellCross,
	"fanout-1000":  fanout,
	"pingpong-1":   pingpong,
	"pingpong-64":  pairs,
	"ask-in-actor": ask(0, measure.OfCheap),
	"ask-cross":    askCross,
	"ask-cross-1":  ask(1, measure.OfDear),
	"ask-guest":    askGuest,
	"ask-64-1":     askers,
	"spawn":        spawn,
	"skynet":       skynet,
	"ring503":      ring,
	"timers":       timers,
}

// start starts a system.
func start() (*house.System, error) {
	sys, err := house.New(house.Config{})
	if err != nil {
		return nil, err
	}
	return sys, sys.Start(context.Background())
}

// stop returns a function that shuts a system down.
func stop(sys *house.System) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return sys.Shutdown(ctx)
	}
}

// order tells an actor to do its part of a workload.
type order struct {
	N     int
	Tally *measure.Tally
}

// carryOut returns a work that gives one actor an order and waits for one report,
// which must be the sum of n numbers.
func carryOut(sys *house.System, to core.NoticePort[order]) *measure.Work {
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		tally := measure.NewTally(1)
		if err := core.Notice(to, order{n, tally}); err != nil {
			return 0, err
		}
		return n, tally.Wait(measure.Sum(n))
	}}
}

// carryOutAll shares n out: each actor gets an order and reports the sum of its numbers.
func carryOutAll(sys *house.System, to []core.NoticePort[order]) *measure.Work {
	return &measure.Work{Close: stop(sys), Do: func(n int) (int, error) {
		share := max(1, n/len(to))
		tally := measure.NewTally(len(to))
		for _, p := range to {
			if err := core.Notice(p, order{share, tally}); err != nil {
				return 0, err
			}
		}
		return len(to) * share, tally.Wait(uint64(len(to)) * measure.Sum(share))
	}}
}
