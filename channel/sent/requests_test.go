package sent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// flying is a request in flight, in the model: a slice of them in the order of Add.
type flying struct {
	item, number int
	at           uint64
	since        int64
	alone        bool
}

// TestAgainstModel does the same with Requests and with a slice.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + rng.IntN(1+rng.IntN(20))
		r := Make[int](limit)
		var model []flying
		at, now := uint64(0), int64(0)
		for i := range 500 {
			now++
			switch rng.IntN(5) {
			case 0, 1:
				alone := rng.IntN(10) == 0
				admits := len(model) < limit && (len(model) == 0 || !alone && !model[0].alone)
				require.Equal(t, admits, r.Admits(alone), "seed %d, step %d", seed, i)
				if !admits {
					require.Panics(t, func() { r.Add(i, at, now, alone) })
					break
				}
				n := r.Add(i, at, now, alone)
				require.Less(t, n, limit)
				require.False(t, slices.ContainsFunc(model, func(f flying) bool { return f.number == n }), "number %d is used twice", n)
				model = append(model, flying{i, n, at, now, alone})
				at += rng.Uint64N(100)
			case 2, 3:
				item, from, ok := r.Take()
				require.Equal(t, len(model) > 0, ok)
				if ok {
					require.Equal(t, model[0].item, item)
					require.Equal(t, model[0].at, from)
					model = model[1:]
				}
			default:
				number := rng.Uint64N(uint64(limit) + 2)
				if rng.IntN(20) == 0 {
					number = rng.Uint64()
				}
				i := slices.IndexFunc(model, func(f flying) bool { return uint64(f.number) == number })
				item, from, ok := r.TakeID(number)
				require.Equal(t, i >= 0, ok, "seed %d: number %d", seed, number)
				if ok {
					require.Equal(t, model[i].item, item)
					require.Equal(t, model[i].at, from)
					model = slices.Delete(slices.Clone(model), i, i+1)
				}
			}
			require.Equal(t, len(model), r.Len())
			item, since, ok := r.Oldest()
			require.Equal(t, len(model) > 0, ok)
			if ok {
				require.Equal(t, model[0].item, item)
				require.Equal(t, model[0].since, since)
			}
			require.LessOrEqual(t, len(r.slots), limit)
		}
		for range model {
			_, _, ok := r.Take()
			require.True(t, ok)
		}
		for i := range r.slots {
			require.Zero(t, r.slots[i].item, "a free slot keeps its request from the collector")
		}
	}
}

func TestLimits(t *testing.T) {
	require.Panics(t, func() { Make[int](0) })
	require.Panics(t, func() { Make[int](1 << 31) })
}
