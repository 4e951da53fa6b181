package channels

import "github.com/stackhouse-go/stackhouse/bench/compare/measure"

// mailbox is the capacity of the channel of a goroutine that idles.
const mailbox = 16

// spawn makes goroutines, each with a channel, and sends each its number.
func spawn() (*measure.Work, error) {
	var all []chan uint64
	return &measure.Work{
		Idle: true,
		Do: func(n int) (int, error) {
			tally := measure.NewTally(n)
			for i := range n {
				c := make(chan uint64, mailbox)
				go func() {
					for v := range c {
						tally.Report(v)
					}
				}()
				c <- uint64(i + 1)
				all = append(all, c)
			}
			return n, tally.Wait(measure.Sum(n))
		},
		Close: func() error {
			for _, c := range all {
				close(c)
			}
			return nil
		},
	}, nil
}

// skynet grows trees of goroutines; each branch has a channel for its children's
// sums.
func skynet() (*measure.Work, error) {
	return &measure.Work{Do: func(n int) (int, error) {
		trees, leaves := measure.Trees(n)
		for range trees {
			sum := make(chan uint64, 1)
			go grow(sum, 0, leaves)
			if err := measure.Right(<-sum, measure.LeafSum(leaves)); err != nil {
				return 0, err
			}
		}
		return trees * leaves, nil
	}}, nil
}

func grow(parent chan<- uint64, first, size int) {
	if size == 1 {
		parent <- uint64(first)
		return
	}
	sums := make(chan uint64, measure.Degree)
	for range measure.Degree {
		go grow(sums, first, size/measure.Degree)
		first += size / measure.Degree
	}
	sum := uint64(0)
	for range measure.Degree {
		sum += <-sums
	}
	parent <- sum
}
