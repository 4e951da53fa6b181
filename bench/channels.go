package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/stackhouse-go/stackhouse/house/latency"
)

// procs is what the Go runtime chose, before a system raised it.
var procs = runtime.GOMAXPROCS(0)

// channels is the baseline: the same notes without actors.
func channels(o options) (result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	latencies := new(latency.Histogram)
	received := uint64(0)
	return load{
		drivers:   2,
		latencies: []*latency.Histogram{latencies},
		start: func(r *round) {
			c := make(chan note, 1024)
			go produce(r, c)
			go func() {
				for n := range c {
					received += n.N
					if n.Sent != 0 {
						latencies.Record(time.Duration(now() - n.Sent))
					}
				}
				r.leave(0)
			}()
		},
		check: func(done uint64) error {
			if received != done {
				return fmt.Errorf("%d were sent and %d received", done, received)
			}
			return nil
		},
	}.measure(o)
}

// produce sends until the round is over.
func produce(r *round, c chan<- note) {
	ops := uint64(0)
	for {
		at := sent(ops)
		if at != 0 && r.over(at) {
			break
		}
		c <- note{1, at}
		ops++
	}
	close(c)
	r.leave(ops)
}
