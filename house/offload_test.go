package house_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// meet waits until so many run at the same time.
func meet(_ context.Context, m *meeting) (int, error) {
	m.here <- struct{}{}
	<-m.all
	return 1, nil
}

type meeting struct{ here, all chan struct{} }

// meets has n functions meet in the pool.
func meets(t testing.TB, sys *house.System, pool *house.OffloadPool, n int) {
	t.Helper()
	m := &meeting{make(chan struct{}), make(chan struct{})}
	_, p := spawn(sys)
	var calls []core.Pending[int]
	for range n {
		calls = append(calls, core.Begin(p, func(s *task) core.Yield {
			core.OffloadTo(s, &s.f, pool, m, meet)
			return s.wait(func(s *task) core.Yield {
				n, _ := s.f.Get()
				return s.Return(n)
			})
		}))
	}
	for range n {
		<-m.here
	}
	close(m.all)
	for _, c := range calls {
		if n, err := c.Get(); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
}

// TestOffloadGoroutines: they start when they are needed, stay a while, and end but for two if
// nobody needs them. The test's own check finds those that are left behind.
func TestOffloadGoroutines(t *testing.T) {
	sys := started(t, house.Config{Workers: 1})
	pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: "disk", Goroutines: 10})
	require.NoError(t, err)
	goroutines := func() int { return pool.Stats().Goroutines }
	require.Zero(t, goroutines())
	meets(t, sys, pool, 10)
	require.Equal(t, 10, goroutines())
	sys.TrimOffloads(10)
	require.Equal(t, 10, goroutines(), "they were just needed")
	meets(t, sys, pool, 4)
	require.Equal(t, 10, goroutines())
	sys.TrimOffloads(4)
	require.Equal(t, 4, goroutines(), "six weren't")
	meets(t, sys, pool, 10)
	require.Equal(t, 10, goroutines())
	sys.TrimOffloads(10)
	sys.TrimOffloads(2)
	require.Equal(t, 2, goroutines())
	sys.TrimOffloads(2)
	meets(t, sys, pool, 2)
	require.Equal(t, 2, goroutines())
}

// TestTrimLosesNothing: jobs that come while a goroutine is told to end, and find none idle, don't
// wait for each other's ends.
func TestTrimLosesNothing(t *testing.T) {
	sys := started(t, house.Config{Workers: 1})
	pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: "disk", Goroutines: 3})
	require.NoError(t, err)
	for range 200 {
		meets(t, sys, pool, 3)
		sys.TrimOffloads(3) // they were just needed
		sys.TrimOffloads(3) // one wasn't, and may not have ended yet
	}
}

// TestOffloadIsDueAtItsTime: a turn of a Manual system moves what is due just then, and nothing
// that is due a nanosecond later. A caller who sleeps as long as NextWake says comes at that time,
// and would turn in vain.
func TestOffloadIsDueAtItsTime(t *testing.T) {
	now, ran := int64(1000), false
	sys := started(t, house.Config{Workers: 1, Manual: true, Clock: func() int64 { return now },
		OffloadTime: func() time.Duration { return 10 }})
	_, p := spawn(sys)
	call := core.Begin(p, func(s *task) core.Yield {
		core.Offload(s, &s.f, 1, func(context.Context, int) (int, error) { ran = true; return 1, nil })
		return s.wait(func(s *task) core.Yield { return s.Return(1) })
	})
	w := sys.Workers()[0]
	for _, c := range []struct {
		now       int64
		ran, home bool
	}{
		{1000, false, false}, // it begins
		{1009, false, false},
		{1010, true, false},
		{1019, true, false},
		{1020, true, true},
	} {
		now = c.now
		w.Turn()
		require.Equal(t, c.ran, ran, "at %d: it has run", now)
		require.Equal(t, c.home, sys.OffloadStats()[0].Done == 1, "at %d: it has gone home", now)
		require.True(t, c.home || w.NextWake() > 0, "at %d: something is due still", now)
	}
	for w.Turn() {
	}
	n, err := call.Get()
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
