package order

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAhead: calls that go ahead are next, in their order; the others are in that of the mailbox.
func TestAhead(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		a := NewAhead(link, Mailbox[call](NewPriority(link, func(c *call) int { return c.class })))
		var first []*call
		var classes [2][]*call
		for range 500 {
			c := &call{class: rng.IntN(2)}
			switch rng.IntN(5) {
			case 0:
				a.PushAhead(c)
				first = append(first, c)
			case 1, 2:
				a.Push(c)
				classes[c.class] = append(classes[c.class], c)
			default:
				var want *call
				for _, from := range []*[]*call{&first, &classes[0], &classes[1]} {
					if len(*from) > 0 {
						want, *from = (*from)[0], (*from)[1:]
						break
					}
				}
				require.Same(t, want, a.Peek(), "seed %d", seed)
				require.Same(t, want, a.Pop(), "seed %d", seed)
			}
			require.Equal(t, len(first)+len(classes[0])+len(classes[1]), a.Len(), "seed %d", seed)
		}
		for i := range first {
			require.Same(t, first[i], a.Drain(), "seed %d", seed)
		}
		for range len(classes[0]) + len(classes[1]) {
			require.NotNil(t, a.Drain(), "seed %d", seed)
		}
		require.Nil(t, a.Drain(), "seed %d", seed)
		require.Zero(t, a.Len(), "seed %d", seed)
	}
}
