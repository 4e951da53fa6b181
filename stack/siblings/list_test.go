package siblings

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type child struct{ links Links[child] }

func linksOf(c *child) *Links[child] { return &c.links }

// TestListAgainstModel: a list is a slice to which one appends, and from which one deletes.
func TestListAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		var l List[child]
		var want []*child
		for range 100 {
			if len(want) == 0 || r.IntN(5) < 3 {
				c := &child{}
				l.Add(c, linksOf)
				want = append(want, c)
			} else {
				i := r.IntN(len(want))
				l.Remove(want[i], linksOf)
				require.Zero(t, want[i].links, "seed %d", seed)
				want = slices.Delete(want, i, i+1)
			}
			var got []*child
			for c := l.First(); c != nil; c = c.links.Next() {
				got = append(got, c)
			}
			require.True(t, slices.Equal(got, want), "seed %d", seed)
			back := 0
			for c := l.last; c != nil; c = c.links.prev {
				back++
			}
			require.Equal(t, len(want), back, "seed %d", seed)
		}
	}
}
