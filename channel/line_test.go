package channel

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLineAgainstModel: who waits leaves in order, or from the midst. The model is a slice.
func TestLineAgainstModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	all := make([]*queuer, 200)
	for i := range all {
		all[i] = &queuer{}
	}
	for range 50 {
		var l line
		var model []*queuer
		for range 2_000 {
			switch c := all[rng.IntN(len(all))]; rng.IntN(5) {
			case 0, 1, 2:
				if !slices.Contains(model, c) {
					l.add(c)
					model = append(model, c)
				}
			case 3:
				if len(model) > 0 {
					require.Same(t, model[0], l.take(), "seed %d", seed)
					model = model[1:]
				}
			case 4:
				if i := slices.Index(model, c); i >= 0 {
					l.remove(c)
					model = slices.Delete(model, i, i+1)
				}
			}
			require.Equal(t, len(model), l.len(), "seed %d", seed)
			require.LessOrEqual(t, len(l.waiting), 2*len(all)+34, "seed %d", seed)
		}
		for _, c := range model {
			require.Same(t, c, l.take(), "seed %d", seed)
		}
		for _, c := range l.waiting {
			require.Nil(t, c, "seed %d: who has left is forgotten", seed)
		}
	}
}
