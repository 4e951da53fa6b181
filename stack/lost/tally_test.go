package lost

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

type handler struct{ number int }

// TestTallyAgainstModel: each handler has its counts, the handlers beyond the bound share theirs,
// and none is lost, even if several goroutines count.
func TestTallyAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 64))
		handlers := make([]*handler, 1+r.IntN(100))
		for i := range handlers {
			handlers[i] = &handler{i}
		}
		var tally Tally[handler]
		var mu sync.Mutex
		want := map[*handler][reasons]uint64{}
		var all sync.WaitGroup
		for range 4 {
			own := rand.New(rand.NewPCG(r.Uint64(), 0))
			all.Go(func() {
				for range 500 {
					by, why, n := handlers[own.IntN(len(handlers))], Reason(own.IntN(reasons)), uint64(own.IntN(3))
					tally.Add(by, why, n)
					mu.Lock()
					counts := want[by]
					counts[why] += n
					want[by] = counts
					mu.Unlock()
				}
			})
		}
		all.Wait()
		got := map[*handler][reasons]uint64{}
		tally.Each(func(by *handler, why Reason, n uint64) {
			counts := got[by]
			require.Zero(t, counts[why], "seed %d: %v comes twice", seed, why)
			counts[why] = n
			got[by] = counts
		})
		apart, rest := 0, [reasons]uint64{}
		for by, counts := range want {
			if tally.row(by) != &tally.others {
				require.Equal(t, counts, got[by], "seed %d", seed)
				apart++
				continue
			}
			require.Zero(t, got[by], "seed %d", seed)
			for why := range counts {
				rest[why] += counts[why]
			}
		}
		require.Equal(t, rest, got[nil], "seed %d", seed)
		require.Equal(t, min(len(want), tallyMax), apart, "seed %d: of %d handlers", seed, len(handlers))
	}
}

// TestReasons: each reason has a name, and another number's String says that it isn't one.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := range Reason(reasons) {
		require.NotEmpty(t, r.String())
		require.False(t, seen[r.String()], r.String())
		seen[r.String()] = true
	}
	require.Equal(t, "reason 99", Reason(99).String())
}
