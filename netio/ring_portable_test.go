//go:build !linux || portable

package netio

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// The model is a slice. A reader and a writer that are at it without the lock are in
// it too: room asked for early and filled late, bytes looked at early and dropped late.
func TestRingAgainstModel(t *testing.T) {
	for seed := int64(1); seed <= 5; seed++ {
		rnd := rand.New(rand.NewSource(seed))
		var r ring
		var model []byte
		full := 0
		for i := range 1000 {
			some := make([]byte, rnd.Intn(ringMax/3))
			rnd.Read(some)
			switch op := rnd.Intn(5); op {
			case 0:
				n := r.put(some)
				require.Equal(t, min(len(some), ringMax-len(model)), n, "seed %d, step %d", seed, i)
				model = append(model, some[:n]...)
			case 1:
				n := r.take(some)
				require.Equal(t, min(len(some), len(model)), n, "seed %d, step %d", seed, i)
				require.Equal(t, string(model[:n]), string(some[:n]), "seed %d, step %d", seed, i)
				model = model[n:]
			case 2, 3:
				space := r.space()
				if len(space) == 0 {
					require.Len(t, model, ringMax, "seed %d, step %d", seed, i)
					full++
				}
				n := r.take(make([]byte, rnd.Intn(ringMax/4))) // meanwhile
				model = model[n:]
				n = copy(space, some)
				r.commit(n)
				model = append(model, some[:n]...)
			case 4:
				front := r.front()
				n := r.put(some) // meanwhile
				require.Equal(t, string(model[:len(front)]), string(front), "seed %d, step %d", seed, i)
				model = append(model, some[:n]...)
				n = len(front) / 2
				r.drop(n)
				model = model[n:]
			}
			require.Equal(t, len(model), r.size, "seed %d, step %d", seed, i)
			require.Equal(t, ringMax-len(model), r.free(), "seed %d, step %d", seed, i)
			require.LessOrEqual(t, len(r.buf), ringMax, "seed %d, step %d", seed, i)
		}
		require.NotZero(t, full, "seed %d: the ring was never full", seed)
		rest := make([]byte, ringMax)
		require.Equal(t, string(model), string(rest[:r.take(rest)]), "seed %d", seed)
	}
}
