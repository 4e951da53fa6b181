package netio

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWakeBeforeWait(t *testing.T) {
	f := newFixture(t, batchMax)
	for range 3 { // also between two Waits, though nobody reads the counter
		f.p.Wake()
		require.Equal(t, 0, f.wait(-1))
	}
	f.p.Wake()
	f.p.Wake()
	require.Equal(t, 0, f.wait(-1))
	start := time.Now()
	require.Equal(t, 0, f.wait(time.Millisecond))
	require.GreaterOrEqual(t, time.Since(start), time.Millisecond, "two wakes are one edge until taken")
}

func TestPollTakesWake(t *testing.T) {
	f := newFixture(t, batchMax)
	f.p.Wake()
	require.Equal(t, 0, f.poll())
	start := time.Now()
	require.Equal(t, 0, f.wait(time.Millisecond))
	require.GreaterOrEqual(t, time.Since(start), time.Millisecond)
	f.p.Wake()
	require.Equal(t, 0, f.wait(-1))
}

// The worker keeps the rule: it looks at its queue after polling and before waiting.
// Each sender awaits the answer to its last wake, so one lost wake stops everything.
func TestG4WakeIsNeverLost(t *testing.T) {
	for _, batch := range batches {
		for _, polls := range []bool{false, true} {
			f := newFixture(t, batch)
			const senders = 3
			rounds := fewer(2000)
			var queue atomic.Int64
			var g sync.WaitGroup
			acks := make(chan struct{}, senders)
			for range senders {
				g.Go(func() {
					for range rounds {
						queue.Add(1)
						f.p.Wake()
						<-acks
					}
				})
			}
			// Sockets that are ready too must not displace the wake.
			a, b := f.pair()
			f.add(a, new(recorder))
			for got := 0; got < senders*rounds; {
				if polls {
					f.poll()
				}
				n := int(queue.Swap(0))
				if n == 0 {
					start := time.Now()
					f.wait(lostAfter)
					require.Less(t, time.Since(start), lostAfter, "a wake is lost")
				}
				if got += n; got%8 == 0 {
					Write(b, []byte{1})
				}
				for range n {
					acks <- struct{}{}
				}
			}
			g.Wait()
			require.NoError(t, f.p.Close())
		}
	}
}
