package mutex

import (
	"sync"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// Workloads has what there is, by name.
var Workloads = map[string]measure.Make{
	"tell-1-1":     tell(1),
	"tell-8-1":     tell(8),
	"fanout-1000":  fanout,
	"ask-in-actor": ask(measure.OfCheap),
	"ask-guest":    ask(measure.OfCheap),
	"ask-64-1":     askers,
}

// counter is the struct.
type counter struct {
	mu    sync.Mutex
	sum   uint64
	asked uint64
}

func (c *counter) add(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum += n
}

// next answers a number with the next one.
func (c *counter) next(n uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return n + 1
}

// tell has goroutines add numbers.
func tell(producers int) measure.Make {
	return func() (*measure.Work, error) {
		return &measure.Work{Do: func(n int) (int, error) {
			c := new(counter)
			var all sync.WaitGroup
			for p := range producers {
				all.Go(func() {
					for i := p + 1; i <= n; i += producers {
						c.add(uint64(i))
					}
				})
			}
			all.Wait()
			return n, measure.Right(c.sum, measure.Sum(n))
		}}, nil
	}
}

// fanout adds each number to a thousand counters.
func fanout() (*measure.Work, error) {
	return &measure.Work{Do: func(n int) (int, error) {
		receivers := make([]counter, 1000)
		rounds := max(1, n/len(receivers))
		for i := range rounds {
			for j := range receivers {
				receivers[j].add(uint64(i + 1))
			}
		}
		sum := uint64(0)
		for j := range receivers {
			sum += receivers[j].sum
		}
		return rounds * len(receivers), measure.Right(sum, uint64(len(receivers))*measure.Sum(rounds))
	}}, nil
}

// ask has this goroutine ask.
func ask(every uint64) measure.Make {
	return func() (*measure.Work, error) {
		c := new(counter)
		latencies := measure.NewLatencies(every)
		return &measure.Work{Latencies: latencies, Do: func(n int) (int, error) {
			sum := uint64(0)
			for i := range uint64(n) {
				from := latencies.Begin(i)
				sum += c.next(i)
				latencies.End(from)
			}
			return n, measure.Right(sum, measure.Sum(n))
		}}, nil
	}
}

// askers has 64 goroutines ask.
func askers() (*measure.Work, error) {
	const askers = 64
	return &measure.Work{Do: func(n int) (int, error) {
		c := new(counter)
		share := max(1, n/askers)
		tally := measure.NewTally(askers)
		for range askers {
			go func() {
				sum := uint64(0)
				for i := range uint64(share) {
					sum += c.next(i)
				}
				tally.Report(sum)
			}()
		}
		return askers * share, tally.Wait(askers * measure.Sum(share))
	}}, nil
}
