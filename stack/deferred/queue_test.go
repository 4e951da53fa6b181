package deferred

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAgainstModel does the same with queues and with slices of numbers, and compares them.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var works [6]Work
		var now, next Queue
		var model, modelNext, did, want []int
		in := map[int]bool{}
		add := func(q *Queue, m *[]int, i int) {
			q.Add(&works[i])
			if !in[i] {
				in[i] = true
				*m = append(*m, i)
			}
		}
		for i := range works {
			works[i].Run = func(d *Work) {
				require.Same(t, &works[i], d)
				did = append(did, i)
				in[i] = false
				want, model = append(want, model[0]), model[1:]
				if rng.IntN(4) == 0 {
					add(&now, &model, rng.IntN(len(works)))
				}
			}
		}
		for range 60 {
			switch rng.IntN(5) {
			case 0, 1:
				add(&now, &model, rng.IntN(len(works)))
			case 2:
				add(&next, &modelNext, rng.IntN(len(works)))
			case 3:
				if next.Any() {
					now.Join(&next)
					model, modelNext = append(model, modelNext...), nil
				}
			default:
				now.Run()
				require.Empty(t, model, "seed %d", seed)
			}
			require.Equal(t, len(model) > 0, now.Any(), "seed %d", seed)
			require.Equal(t, len(modelNext) > 0, next.Any(), "seed %d", seed)
		}
		require.Equal(t, want, did, "seed %d", seed)
	}
}
