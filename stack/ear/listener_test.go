package ear

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListener: a listener has room for at least one event, events for which it has no room are
// counted, and no publisher waits.
func TestListener(t *testing.T) {
	for room, want := range map[int]int{-1: 1, 0: 1, 1: 1, 3: 3} {
		l := New(room, func(*Listener[int]) { t.Error("it wasn't closed") })
		for n := range 5 {
			Tell(l, n)
		}
		require.Len(t, l.C(), want)
		require.EqualValues(t, 5-want, l.Dropped())
		for n := range want {
			require.Equal(t, n, <-l.C())
		}
		Tell(l, 7)
		require.Equal(t, 7, <-l.C())
	}
}

// TestListenerLeaves: each Close calls leave with this listener; a late publisher may still tell.
func TestListenerLeaves(t *testing.T) {
	var left []*Listener[int]
	l := New(1, func(l *Listener[int]) { left = append(left, l) })
	l.Close()
	l.Close()
	require.Len(t, left, 2)
	require.Same(t, l, left[0])
	Tell(l, 1)
	require.Equal(t, 1, <-l.C())
}

// TestListenerOfMany: each event of several goroutines arrives, or is counted.
func TestListenerOfMany(t *testing.T) {
	const tellers, each = 4, 1000
	l := New(100, func(*Listener[int]) {})
	var all sync.WaitGroup
	for range tellers {
		all.Go(func() {
			for n := range each {
				Tell(l, n)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, tellers*each, len(l.C())+int(l.Dropped()))
}
