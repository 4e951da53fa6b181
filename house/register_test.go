package house

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack"
)

func newHouse() *stack.House {
	h, _ := stack.NewHouse(func() *int { return new(int) })
	return h
}

// A register holds what a map of houses does, in no more slots than there ever were at once.
func TestRegister(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var r register
		var list []*stack.House
		most := 0
		for range 8000 {
			if rnd.IntN(4000) > len(list) {
				h := newHouse()
				r.add(h, nil)
				list = append(list, h)
			} else {
				i := rnd.IntN(len(list))
				r.remove(list[i])
				list = slices.Delete(list, i, i+1)
			}
			most = max(most, len(list))
		}
		require.Equal(t, len(list), r.count(), "seed %d", seed)
		require.Equal(t, most, r.used, "seed %d", seed)
		want := map[*stack.House]bool{}
		for _, h := range list {
			want[h] = true
		}
		for _, h := range r.last(math.MaxInt) {
			require.True(t, want[h], "seed %d", seed)
			delete(want, h)
		}
		require.Empty(t, want, "seed %d", seed)
	}
}

func TestRegisterLast(t *testing.T) {
	var r register
	var all []*stack.House
	for range chunkSize + 3 {
		h := newHouse()
		r.add(h, nil)
		all = append(all, h)
	}
	slices.Reverse(all)
	require.Equal(t, all[:5], r.last(5))
	require.Equal(t, all, r.last(math.MaxInt))
	require.Empty(t, new(register).last(3))
}
