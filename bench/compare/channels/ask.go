package channels

import "github.com/stackhouse-go/stackhouse/bench/compare/measure"

// roundTrip has this goroutine ask another over one unbuffered channel and be
// answered over a second.
func roundTrip(every uint64) measure.Make {
	return func() (*measure.Work, error) {
		ask, answer := make(chan uint64), make(chan uint64)
		go echo(ask, answer)
		latencies := measure.NewLatencies(every)
		return &measure.Work{
			Latencies: latencies,
			Do: func(n int) (int, error) {
				sum := uint64(0)
				for i := range uint64(n) {
					from := latencies.Begin(i)
					ask <- i
					sum += <-answer
					latencies.End(from)
				}
				return n, measure.Right(sum, measure.Sum(n))
			},
			Close: func() error { close(ask); return nil },
		}, nil
	}
}

// echo answers numbers with the next one.
func echo(ask <-chan uint64, answer chan<- uint64) {
	for i := range ask {
		answer <- i + 1
	}
}

// pairs has 64 goroutines ask one each; an operation is a message, half a round trip.
func pairs() (*measure.Work, error) {
	const pairs = 64
	return &measure.Work{Do: func(n int) (int, error) {
		trips := max(1, n/2/pairs)
		tally := measure.NewTally(pairs)
		for range pairs {
			ask, answer := make(chan uint64), make(chan uint64)
			go echo(ask, answer)
			go func() {
				sum := uint64(0)
				for i := range uint64(trips) {
					ask <- i
					sum += <-answer
				}
				close(ask)
				tally.Report(sum)
			}()
		}
		return 2 * pairs * trips, tally.Wait(pairs * measure.Sum(trips))
	}}, nil
}

// question is one of many askers', each with a channel for its answers.
type question struct {
	n      uint64
	answer chan<- uint64
}

// askers has 64 goroutines ask one, over a channel that they share.
func askers() (*measure.Work, error) {
	const askers = 64
	ask := make(chan question)
	go func() {
		for q := range ask {
			q.answer <- q.n + 1
		}
	}()
	return &measure.Work{
		Do: func(n int) (int, error) {
			share := max(1, n/askers)
			tally := measure.NewTally(askers)
			for range askers {
				go func() {
					answer := make(chan uint64)
					sum := uint64(0)
					for i := range uint64(share) {
						ask <- question{i, answer}
						sum += <-answer
					}
					tally.Report(sum)
				}()
			}
			return askers * share, tally.Wait(askers * measure.Sum(share))
		},
		Close: func() error { close(ask); return nil },
	}, nil
}
