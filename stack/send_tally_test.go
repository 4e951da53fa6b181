package stack

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTallyAgainstModel: each handler has its counts, the types beyond the bound have one together,
// and nothing is lost, also if several goroutines count.
func TestTallyAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 64))
		handlers := make([]*Handler, 1+r.IntN(100))
		for i := range handlers {
			handlers[i] = newNotice((*writer).write)
			describeMessages[func(w *Engine)](handlers[i])
		}
		var tally Tally
		var mu sync.Mutex
		want, total := map[*Handler][lostReasons]uint64{}, uint64(0)
		var all sync.WaitGroup
		for range 4 {
			own := rand.New(rand.NewPCG(r.Uint64(), 0))
			all.Go(func() {
				for range 500 {
					by, why, n := handlers[own.IntN(len(handlers))], Reason(own.IntN(lostReasons)), uint64(own.IntN(3))
					tally.add(by, why, n)
					mu.Lock()
					counts := want[by]
					counts[why] += n
					want[by] = counts
					total += n
					mu.Unlock()
				}
			})
		}
		all.Wait()
		rest := [lostReasons]uint64{}
		for by, counts := range want {
			if row := tally.row(by); row != &tally.others {
				for why := range counts {
					require.Equal(t, counts[why], row.n[why].Load(), "seed %d", seed)
				}
				continue
			}
			for why := range counts {
				rest[why] += counts[why]
			}
		}
		sum, others := uint64(0), [lostReasons]uint64{}
		tally.Each(func(kind string, why Reason, n uint64) {
			if sum += n; kind == "other" {
				others[why] += n
			} else {
				require.Equal(t, "func(*stack.Engine)", kind)
			}
		})
		require.Equal(t, total, sum, "seed %d", seed)
		require.Equal(t, rest, others, "seed %d", seed)
		require.Equal(t, len(handlers) > tallyMax, rest != [lostReasons]uint64{}, "seed %d: %d handlers", seed, len(handlers))
	}
}

// TestReasons: each has a name, and what is none says so.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := range Reason(lostReasons) {
		require.NotEmpty(t, r.String())
		require.False(t, seen[r.String()], r.String())
		seen[r.String()] = true
	}
	require.Equal(t, "reason 99", Reason(99).String())
}

// TestRestarted: who listens hears of it, with the actor and the reason.
func TestRestarted(t *testing.T) {
	h := newHand(t, 1)
	topic := &h.guests.Events.Restarted
	l := topic.Listen(1)
	house := settleOn(h, 0, &writer{})
	why := fmt.Errorf("again")
	h.workers[0].tellRestarted(house, why)
	require.Equal(t, ActorRestarted{house.any(), why}, <-l.C())
	l.Close()
	require.True(t, topic.Silent())
	h.workers[0].tellRestarted(house, why)
	require.Zero(t, len(l.C()))
}
