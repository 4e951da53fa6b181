package house

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/stack"
)

func newHouse() *stack.House {
	h, _ := stack.NewHouse(func() *int { return new(int) })
	return h
}

// newFactory returns another one at each call, as it closes over i.
func newFactory(i int) stack.Factory {
	_, f := stack.NewHouse(func() *int { return &i })
	return f
}

// A register holds what a map of houses does, in no more chunks than the most there ever were at
// once need: whether actors share their factory, mostly share it, or each has its own.
func TestRegister(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		factories := make([]stack.Factory, 1+40*(seed%3)*(seed%3))
		for i := range factories {
			factories[i] = newFactory(i)
		}
		var r register
		var list []*stack.House
		want := map[*stack.House]stack.Factory{}
		most := 0
		for range 8000 {
			if rnd.IntN(4000) > len(list) && rnd.IntN(1000) > 0 {
				h, f := newHouse(), factories[rnd.IntN(len(factories))]
				if rnd.IntN(20) > 0 {
					f = factories[0]
				}
				r.add(h, f)
				list, want[h] = append(list, h), f
			} else {
				// so that chunks become empty
				for range min(len(list), 1+rnd.IntN(100)*rnd.IntN(2)) {
					i := rnd.IntN(len(list))
					r.remove(list[i])
					delete(want, list[i])
					list = slices.Delete(list, i, i+1)
				}
			}
			most = max(most, len(list))
		}
		require.Equal(t, len(list), r.count(), "seed %d", seed)
		require.Equal(t, (most+chunkSize-1)/chunkSize, len(r.chunks), "seed %d", seed)
		for _, h := range list {
			require.True(t, r.factory(h).Is(want[h]), "seed %d", seed)
		}
		for _, h := range r.last(math.MaxInt) {
			require.Contains(t, want, h, "seed %d", seed)
			delete(want, h)
		}
		require.Empty(t, want, "seed %d", seed)
		for _, h := range list {
			r.remove(h)
		}
		for _, c := range r.chunks { // nothing is kept alive
			require.Equal(t, chunk{free: allFree, first: c.first, next: c.next}, *c, "seed %d", seed)
		}
	}
}

// A chunk is what its comment says: one byte more, and each takes 576.
func TestChunkSize(t *testing.T) {
	if strconv.IntSize == 64 {
		require.EqualValues(t, 512, unsafe.Sizeof(chunk{}))
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
