//go:build linux && !portable

package house_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// lender offloads one function after the other, in several lanes at once.
type lender struct{ pool core.OffloadPool }

func (l *lender) offloads(s *loadLane) core.Yield {
	s.begin()
	if err := s.collect(1, 1); err != nil {
		return s.Throw(err)
	}
	if s.left == 0 {
		return s.Return(s.sum)
	}
	core.OffloadTo(s, &s.f[0], l.pool, uint64(s.left), addOne)
	return core.Suspend(s, (*lender).offloads)
}

func addOne(_ context.Context, n uint64) (uint64, error) { return n + 1, nil }

var onLender = core.Handle((*lender).offloads)

// waitTogether has a thousand goroutines wait at the same time. The runtime keeps what a
// goroutine needs to wait for each P, and whoever sleeps on one P and wakes on another carries it
// over.
func waitTogether() {
	var here, gone sync.WaitGroup
	open := make(chan struct{})
	for range 1000 {
		here.Add(1)
		gone.Go(func() { here.Done(); <-open })
	}
	here.Wait()
	close(open)
	gone.Wait()
}

// TestZeroAllocOffload: 100,000 functions, with a goroutine at hand and queued.
func TestZeroAllocOffload(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector makes it long, and finds nothing here that it doesn't elsewhere")
	}
	for _, lanes := range []int{1, 8} {
		sys := started(t, house.Config{Workers: 2, AskTimeout: 10 * time.Minute})
		pool, err := sys.NewOffloadPool(house.OffloadConfig{
			Name: "disk", Goroutines: 2, Timeout: time.Minute,
			Breaker: core.NewBreaker(core.BreakerConfig{Ratio: 0.5}),
		})
		require.NoError(t, err)
		p := onLender.At(core.Spawn(sys, func() *lender { return &lender{pool} }))
		var once sync.Once
		housetest.ZeroAlloc(t, 100_000, func(n int) {
			once.Do(waitTogether) // behind the collection, which empties what it fills
			var calls [8]core.Pending[uint64]
			for i := range lanes {
				calls[i] = core.Begin(p, n/lanes)
			}
			for i := range lanes {
				if got, err := calls[i].Get(); err != nil || got != uint64(n/lanes) {
					t.Errorf("%d of %d, %v", got, n/lanes, err)
				}
			}
		})
		require.Zero(t, pool.Stats().Done%100_000)
	}
}
