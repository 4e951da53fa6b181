package netio

import (
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder remembers what it was told, and may act on it.
type recorder struct {
	seen []Ready
	then func(r Ready)
}

func (h *recorder) Ready(r Ready) {
	h.seen = append(h.seen, r)
	if h.then != nil {
		h.then(r)
	}
}

// last is what it was told last.
func (h *recorder) last() Ready {
	if len(h.seen) == 0 {
		return 0
	}
	return h.seen[len(h.seen)-1]
}

func newSlots() *slots {
	s := new(slots)
	s.init()
	return s
}

func (s *slots) freeLen() (n int) {
	for i := s.free; i != noSlot; i = s.at(i).next {
		n++
	}
	return n
}

// The model: what is registered is in a map, and every token is new.
func TestSlotsAgainstModel(t *testing.T) {
	type registration struct {
		fd int
		h  *recorder
	}
	for seed := int64(1); seed <= 10; seed++ {
		rnd := rand.New(rand.NewSource(seed))
		s := newSlots()
		model := map[Token]registration{}
		var issued []Token
		var stale uint64
		for i := range 2000 {
			var some Token // any token, of the living or the dead
			if len(issued) > 0 {
				some = issued[rnd.Intn(len(issued))]
			}
			want, alive := model[some]
			switch op := rnd.Intn(10); {
			case op < 3:
				r := registration{rnd.Intn(1000), new(recorder)}
				tok := s.take(r.fd, r.h)
				require.NotContains(t, model, tok, "seed %d, step %d", seed, i)
				require.NotZero(t, tok, "seed %d, step %d", seed, i)
				model[tok] = r
				issued = append(issued, tok)
			case op < 6:
				require.Equal(t, alive, s.put(some, want.fd), "seed %d, step %d", seed, i)
				delete(model, some)
			case op < 7:
				require.False(t, s.put(some, want.fd+1), "seed %d, step %d: foreign descriptor", seed, i)
			default:
				require.Equal(t, alive, s.deliver(some, Readable), "seed %d, step %d", seed, i)
				if alive {
					require.Len(t, want.h.seen, 1, "seed %d, step %d", seed, i)
					want.h.seen = nil
				} else {
					stale++
				}
			}
			require.Equal(t, len(model), s.used, "seed %d, step %d", seed, i)
			require.Equal(t, stale, s.stale, "seed %d, step %d", seed, i)
		}
		require.Equal(t, len(s.chunks)*chunkSlots, s.used+s.freeLen(), "seed %d", seed)
	}
}

func TestSlotsAreReused(t *testing.T) {
	s := newSlots()
	for range 10 * chunkSlots {
		s.put(s.take(7, new(recorder)), 7)
	}
	require.Len(t, s.chunks, 1)
}

func TestGenerationSkipsZero(t *testing.T) {
	s := newSlots()
	h := new(recorder)
	s.put(s.take(7, h), 7)
	s.at(0).generation = math.MaxUint32
	last := s.take(7, h)
	require.True(t, s.put(last, 7))
	next := s.take(7, h)
	require.Equal(t, last.slot(), next.slot())
	require.Equal(t, uint32(1), next.generation())
	require.False(t, s.deliver(last, Readable))
}

func TestNilHandlerPanics(t *testing.T) {
	require.PanicsWithValue(t, "netio: nil handler", func() { newSlots().take(7, nil) })
}
