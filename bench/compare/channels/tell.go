package channels

import "github.com/stackhouse-go/stackhouse/bench/compare/measure"

// tell has goroutines send and this one receive.
func tell(producers int) measure.Make {
	return func() (*measure.Work, error) {
		return &measure.Work{Do: func(n int) (int, error) {
			c := make(chan uint64, capacity)
			for p := range producers {
				go func() {
					for i := p + 1; i <= n; i += producers {
						c <- uint64(i)
					}
				}()
			}
			sum := uint64(0)
			for range n {
				sum += <-c
			}
			return n, measure.Right(sum, measure.Sum(n))
		}}, nil
	}
}

// fanout has this goroutine send each number to a thousand others.
func fanout() (*measure.Work, error) {
	return &measure.Work{Do: func(n int) (int, error) {
		var receivers [1000]chan uint64
		rounds := max(1, n/len(receivers))
		tally := measure.NewTally(len(receivers))
		for i := range receivers {
			c := make(chan uint64, capacity)
			receivers[i] = c
			go func() {
				sum := uint64(0)
				for v := range c {
					sum += v
				}
				tally.Report(sum)
			}()
		}
		for i := range rounds {
			for _, c := range receivers {
				c <- uint64(i + 1)
			}
		}
		for _, c := range receivers {
			close(c)
		}
		return rounds * len(receivers), tally.Wait(uint64(len(receivers)) * measure.Sum(rounds))
	}}, nil
}
