package channels

import (
	"time"

	"github.com/stackhouse-go/stackhouse/bench/compare/measure"
)

// token goes around; each hop takes one off.
type token struct{ left, sum uint64 }

// ring has 503 goroutines, each with an unbuffered channel, pass a token on.
func ring() (*measure.Work, error) {
	var nodes [503]chan token
	for i := range nodes {
		nodes[i] = make(chan token)
	}
	last := make(chan uint64)
	for i, c := range nodes {
		next := nodes[(i+1)%len(nodes)]
		go func() {
			for t := range c {
				t.sum += t.left
				t.left--
				if t.left == 0 {
					last <- t.sum
				} else {
					next <- t
				}
			}
		}()
	}
	return &measure.Work{
		Do: func(n int) (int, error) {
			nodes[0] <- token{left: uint64(n)}
			return n, measure.Right(<-last, measure.Sum(n))
		},
		Close: func() error {
			for _, c := range nodes {
				close(c)
			}
			return nil
		},
	}, nil
}

// timers arms the Go runtime's timers, each with a function that reports.
func timers() (*measure.Work, error) {
	return &measure.Work{Do: func(n int) (int, error) {
		tally := measure.NewTally(n)
		for i := range n {
			time.AfterFunc(measure.Soon(i), func() { tally.Report(uint64(i + 1)) })
		}
		return n, tally.Wait(measure.Sum(n))
	}}, nil
}
