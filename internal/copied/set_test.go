package copied

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSetAgainstModel: a set is a list without doubles, slices read from it never change, and an
// empty one holds nothing.
func TestSetAgainstModel(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		var s Set[int]
		var want []int
		type read struct{ all, then []int }
		var reads []read
		for range 200 {
			x := r.IntN(12)
			switch r.IntN(4) {
			case 0:
				s.Add(x, func(int) bool { return false })
				if !slices.Contains(want, x) {
					want = append(want, x)
				}
			case 1:
				s.Add(x, func(y int) bool { return y == x })
			case 2:
				s.Remove(x)
				want = slices.DeleteFunc(want, func(y int) bool { return y == x })
			default:
				s.Keep(func(y int) bool { return y%12 <= x+2 })
				want = slices.DeleteFunc(want, func(y int) bool { return y%12 > x+2 })
			}
			require.True(t, slices.Equal(want, s.All()), "seed %d: %v is %v", seed, want, s.All())
			require.Equal(t, len(want) == 0, s.Empty(), "seed %d", seed)
			require.Equal(t, s.Empty(), s.All() == nil, "seed %d", seed)
			reads = append(reads, read{s.All(), slices.Clone(s.All())})
		}
		for _, r := range reads {
			require.Equal(t, r.then, r.all, "seed %d", seed)
		}
	}
}

// TestSetChangesNothing: a set isn't copied to add a value that it has, or to remove another.
func TestSetChangesNothing(t *testing.T) {
	var s Set[int]
	no, yes := func(int) bool { return false }, func(int) bool { return true }
	s.Add(1, no)
	before := s.now.Load()
	s.Add(1, no)
	s.Add(2, yes)
	s.Remove(3)
	s.Keep(yes)
	require.Same(t, before, s.now.Load())
}

// TestSetAddsToOneBase: if two goroutines add to the same values at once, the slower one doesn't
// write into the slice that the quicker one has made, which others read.
func TestSetAddsToOneBase(t *testing.T) {
	no := func(int) bool { return false }
	for n := range 20 { // at some lengths append leaves spare capacity
		var s Set[int]
		want := make([]int, 0, n+2)
		for x := range n {
			s.Add(x, no)
			want = append(want, x)
		}
		var read []int
		s.Add(-1, func(int) bool {
			s.Add(-2, no) // after the outer Add has read the values, and before it adds
			read = s.All()
			return false
		})
		require.Equal(t, append(want, -2, -1), s.All())
		require.Equal(t, append(want, -2), read)
	}
}

// TestSetAtOnce: no addition or removal of several goroutines at once is lost.
func TestSetAtOnce(t *testing.T) {
	const workers, each = 8, 200
	var s Set[int]
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range each {
				s.Add(w*each+i, func(int) bool { return false })
				if i%2 == 1 {
					s.Remove(w*each + i)
				}
			}
		})
	}
	all.Wait()
	got := slices.Sorted(slices.Values(s.All()))
	require.Len(t, got, workers*each/2)
	for i, x := range got {
		require.Equal(t, 2*i, x)
	}
}
