package turns

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A crowd is compared with a map. The identities are few, or share one bucket, or are too many.
func TestCrowdAgainstModel(t *testing.T) {
	same := func(c *crowd) (ids []uintptr) {
		for id := uintptr(1); len(ids) < 20; id++ {
			if c.home(id) == 5 {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := new(crowd)
		ids := same(c)
		if seed%2 == 0 {
			for range 700 {
				ids = append(ids, uintptr(r.Uint64()|1))
			}
		}
		in := map[uintptr]*Turner{}
		for range 5000 {
			id := ids[r.IntN(len(ids))]
			if place, ok := in[id]; ok {
				require.True(t, c.has(id), "seed %d", seed)
				c.leave(place)
				delete(in, id)
			} else if place := c.enter(id); place != nil {
				in[id] = place
			} else {
				require.Len(t, in, crowdBuckets*crowdSlots, "seed %d", seed)
			}
			require.Equal(t, in[id] != nil, c.has(id), "seed %d", seed)
		}
		for _, id := range ids {
			require.Equal(t, in[id] != nil, c.has(id), "seed %d", seed)
			c.leave(in[id])
			delete(in, id)
		}
		require.Zero(t, c.strays.Load(), "seed %d", seed)
	}
}
