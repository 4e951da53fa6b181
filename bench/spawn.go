package main

import (
	"context"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// spawn makes actors that nobody needs. One in a thousand is asked in the end, so
// that the others can be believed to live.
func spawn(o options) (result, error) {
	var witnesses []core.Address[echo]
	res, err := withSystem(o, func(sys *house.System) load {
		latencies := new(latency.Histogram)
		newEcho := func() *echo { return &echo{} }
		base := sys.Actors()
		return load{
			drivers:   1,
			latencies: []*latency.Histogram{latencies},
			meter:     live,
			start: func(r *round) {
				n := uint64(o.actors)
				if r.warm {
					n /= 10
				}
				for i := range n {
					from := sent(i)
					at := core.Spawn(sys, newEcho)
					if from != 0 {
						latencies.Record(time.Duration(now() - from))
					}
					if i%1000 == 0 {
						witnesses = append(witnesses, at)
					}
				}
				r.leave(n)
			},
			check: func(done uint64) error {
				if n := uint64(sys.Actors() - base); n != done {
					return fmt.Errorf("%d actors were spawned and %d live", done, n)
				}
				for i, at := range witnesses {
					if _, err := ask(context.Background(), echoAnswer.At(at), uint64(i)); err != nil {
						return err
					}
				}
				return nil
			},
		}
	})
	res.shares = true
	return res, err
}
