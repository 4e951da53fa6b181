package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// owner is a debtor that has paid or is refused, as the test says.
type owner struct {
	debt
	refused bool
	paid    int
}

func (o *owner) pay() bool {
	if o.refused {
		return false
	}
	o.paid++
	return true
}

// TestDebtsAgainstModel: debtors pay in the order in which they came, each once, however often it
// came meanwhile; one that is refused stays the first.
func TestDebtsAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 25))
		owners := make([]owner, 1+rng.IntN(6))
		var q debts
		var model []int
		for range 1000 {
			if len(model) == 0 || rng.IntN(2) == 0 {
				i := rng.IntN(len(owners))
				q.push(&owners[i])
				if !slices.Contains(model, i) {
					model = append(model, i)
				}
			} else {
				o := &owners[model[0]]
				o.refused = rng.IntN(2) == 0
				paid := o.paid
				require.Equal(t, !o.refused, q.pay(), "seed %d", seed)
				if !o.refused {
					require.Equal(t, paid+1, o.paid, "seed %d", seed)
					model = model[1:]
				}
			}
			d := q.first
			for n, i := range model {
				require.True(t, d == debtor(&owners[i]), "seed %d, debtor %d of %d", seed, n, len(model))
				d = d.links().next
			}
			require.Nil(t, d, "seed %d", seed)
		}
	}
}
