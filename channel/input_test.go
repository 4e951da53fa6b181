package channel

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/pool"
)

// TestInputAgainstModel: bytes come and are decoded, in pieces of any size. The model is one run of
// bytes.
func TestInputAgainstModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	var (
		shard pool.Shard
		in    input
		model []byte
		held  []pool.Bytes // of requests that refer to it
	)
	const read = 16 << 10
	for range 20_000 {
		need := len(model) + 1
		if rng.IntN(3) == 0 {
			need += rng.IntN(1 << 20)
		}
		got := make([]byte, 1+rng.IntN([]int{10, 200, 5_000, read}[rng.IntN(4)]))
		for i := range got {
			got[i] = byte(rng.Uint32())
		}
		before, fresh := len(model), in.slab.Cap() == 0
		if before >= read && rng.IntN(2) == 0 { // as for a long request
			if in.free() < read {
				in.move(&shard, before+read, need)
			}
			got = got[:copy(in.tail(), got)]
			in.added(len(got))
		} else {
			in.add(&shard, got, need)
		}
		model = append(model, got...)
		require.True(t, bytes.Equal(model, in.rest()), "seed %d", seed)
		require.Equal(t, len(model), in.len())
		require.LessOrEqual(t, in.slab.Cap(), 2*inputMin+4*(in.from+len(model)), "seed %d", seed)
		if fresh {
			require.LessOrEqual(t, in.slab.Cap(), max(inputMin, 2*len(got)), "seed %d: of what is announced nothing is reserved", seed)
		}
		switch rng.IntN(4) {
		case 0: // whole requests were decoded
			n := rng.IntN(len(model) + 1)
			held = append(held, in.slab.Retain())
			in.from += n
			model = model[n:]
		case 1:
			in.from += len(model)
			model = nil
			if rng.IntN(2) == 0 {
				in.drop()
			}
		case 2:
			if rng.IntN(50) == 0 {
				in.drop()
				model = nil
			}
		}
		for len(held) > 10 {
			held[0].Release()
			held = held[1:]
		}
	}
	in.drop()
	for _, b := range held {
		b.Release()
	}
	shard.Flush()
	require.Zero(t, shard.Outstanding(), "seed %d", seed)
}

// queuer notes whose turn it is.
type queuer struct {
	order *[]int
	i     int
}

func (r *queuer) resume() { *r.order = append(*r.order, r.i) }

// TestQuotaAgainstModel: whoever waits has the turn in order, one at a time, and as long as there
// is room somebody has it.
func TestQuotaAgainstModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		s := quota{max: 1 + rng.IntN(4)}
		var order, model []int // whose turn it became, and who waits
		all := make([]*queuer, 100)
		for i := range all {
			all[i] = &queuer{&order, i}
		}
		waits := func(i int) bool { return slices.Index(model, i) >= 0 }
		turn := -1 // who has it
		look := func() {
			if turn < 0 && s.used < s.max && len(model) > 0 {
				turn, model = model[0], model[1:]
				require.Equal(t, turn, order[len(order)-1], "seed %d", seed)
			}
			if turn < 0 {
				require.Nil(t, s.woken, "seed %d", seed)
			} else {
				require.Same(t, all[turn], s.woken, "seed %d", seed)
			}
			require.Equal(t, len(model), s.line.len(), "seed %d", seed)
		}
		for range 500 {
			switch i := rng.IntN(len(all)); rng.IntN(5) {
			case 0, 1: // i has more to ask
				full := s.used >= s.max || turn != i && (turn >= 0 || len(model) > 0)
				require.Equal(t, full, s.full(all[i]), "seed %d", seed)
				if !full {
					s.acquire()
				} else if !waits(i) && turn != i {
					model = append(model, i)
					s.wait(all[i])
				}
			case 2:
				if s.used > 0 {
					s.release()
				}
			case 3: // it has had its turn
				s.pass(all[i])
				if turn == i {
					turn = -1
				}
				if turn >= 0 {
					s.pass(all[turn])
					turn = -1
				}
			case 4:
				if at := slices.Index(model, i); at >= 0 {
					s.line.remove(all[i])
					model = append(model[:at:at], model[at+1:]...)
				}
				s.pass(all[i])
				if turn == i {
					turn = -1
				}
			}
			look()
		}
	}
}
