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

// TestG4PostIsNeverLost: a post comes, however polling and waiting fall; and none comes to another
// descriptor in the place of one that was removed.
func TestG4PostIsNeverLost(t *testing.T) {
	for _, polls := range []bool{false, true} {
		f := newFixture(t, batchMax)
		a, _ := f.pair()
		acks := make(chan struct{}, 1)
		got := 0
		h := handlerFunc(func(r Ready) {
			if r&Posted != 0 {
				got++
				acks <- struct{}{}
			}
		})
		token := f.add(a, h)
		rounds := fewer(2000)
		var g sync.WaitGroup
		g.Go(func() {
			for range rounds {
				f.p.Post(token)
				<-acks
			}
		})
		for got < rounds {
			before := got
			if polls {
				f.poll()
			}
			if got == before {
				start := time.Now()
				f.wait(lostAfter)
				require.Less(t, time.Since(start), lostAfter, "a post is lost")
			}
		}
		g.Wait()

		require.NoError(t, f.p.Remove(token, a))
		f.p.Post(token)
		other := f.add(a, h)
		f.p.Post(token)
		require.NotEqual(t, token, other)
		f.poll()
		require.Equal(t, rounds, got, "it was removed")
		require.NoError(t, f.p.Close())
		f.p.Post(other)
	}
}

// TestPanicLosesNoPost: a handler that panics loses its own post only.
func TestPanicLosesNoPost(t *testing.T) {
	f := newFixture(t, batchMax)
	a, b := f.pair()
	first, got := true, 0
	h := handlerFunc(func(r Ready) {
		if r&Posted == 0 {
			return
		}
		if got++; first {
			first = false
			panic("handler")
		}
	})
	for _, fd := range []int{a, b} {
		f.p.Post(f.add(fd, h))
	}
	require.Panics(t, func() { f.poll() })
	f.poll()
	require.Equal(t, 2, got)
}

type handlerFunc func(r Ready)

func (f handlerFunc) Ready(r Ready) { f(r) }
