package flags

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var all = []Word{Rung, Urged, Stopped, Stays, Moving, Held, Alone, Sorted, Singles, Noted, Awaited}

// No flag touches another one, nor the number.
func TestFlags(t *testing.T) {
	for _, flag := range all {
		var f Shared
		require.EqualValues(t, 5, f.Add(5)>>countShift)
		require.True(t, f.Set(flag))
		require.False(t, f.Set(flag), "it is set")
		for _, other := range all {
			require.Equal(t, other == flag, f.Has(other))
		}
		require.True(t, f.Has(flag|all[0]))
		require.Equal(t, 5, f.Now().Calls())
		f.Clear(flag)
		require.False(t, f.Has(flag))
		require.Equal(t, 5, f.Now().Calls())
	}
}

func TestNumber(t *testing.T) {
	var f Shared
	for _, flag := range all {
		f.Set(flag)
	}
	require.Equal(t, 4*MailboxTop-1, f.Add(4*MailboxTop-1).Calls())
	require.Zero(t, f.Add(1-4*MailboxTop).Calls())
	for _, flag := range all {
		require.True(t, f.Has(flag))
	}
}

// If several goroutines set a flag at once, Set returns true to one of them.
func TestOneSets(t *testing.T) {
	for range 1000 {
		var f Shared
		var both sync.WaitGroup
		first := [2]bool{}
		for i := range first {
			both.Go(func() {
				first[i] = f.Set(Rung)
				f.Add(1)
			})
		}
		both.Wait()
		require.NotEqual(t, first[0], first[1])
		require.Equal(t, 2, f.Now().Calls())
	}
}
