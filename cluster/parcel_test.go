package cluster

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core/wire"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// allocated returns how many bytes f allocates, at the least of some runs.
func allocated(f func()) int {
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return int(least)
}

// TestArrivals: pieces of any lengths become what they are pieces of, for twice their bytes at
// most; so do the first of them.
func TestArrivals(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		whole := padded(int(seed), frame.FrameMax+1+r.IntN(1<<r.IntN(22))).Pad
		var pieces [][]byte
		for rest, most := whole, 64+r.IntN(frame.PieceMax-63); len(rest) > 0; {
			n := min(len(rest), 64+r.IntN(most))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if r.IntN(2) == 0 {
			pieces = pieces[:1+r.IntN(len(pieces))]
		}
		a, came := &arrival{}, 0
		took := allocated(func() {
			*a, came = arrival{total: len(whole)}, 0
			for _, p := range pieces {
				a.add(p)
				came += len(p)
			}
			if came == len(whole) {
				a.pieces = [][]byte{a.joined()}
			}
		})
		require.Equal(t, came, a.came)
		if came == len(whole) {
			require.True(t, string(whole) == string(a.joined()))
		}
		// a large object has up to a page more, a small one up to an eighth
		require.LessOrEqual(t, took, 2*came+came/8+20_000, "seed %d, %d pieces, %d of %d", seed, len(pieces), came, len(whole))
	}
}

// TestFrameOfTheLongest: what is as long as a frame may be, packed or not, is no piece of a longer
// one, as nobody reads that.
func TestFrameOfTheLongest(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1) // so that it is declared
	k := c.track()
	m := k.methods.byName["test.counter.tell"]
	var f []byte
	for size := frame.FrameMax; size == frame.FrameMax || len(f) > frame.FrameMax; size-- {
		one := padded(1, size)
		f = (&frame.Tell{To: 1, Method: m.number, Message: wire.Append(m.request, nil, &one)}).Append(nil)
	}
	require.Len(t, f, frame.FrameMax)
	k.send(f, k.standIns[1], nil)
	rep, err := housetest.Ask(t, c.sim, count.At(far), struct{}{})
	require.NoError(t, err)
	require.Equal(t, 2, rep.Sum)
}

// TestPiecesOfTooMany: so many frames may have come in part, and none more.
func TestPiecesOfTooMany(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	for n := range uint64(partsMax) {
		require.NoError(t, k.part(&frame.Part{Number: n + 1, Total: 100_000, Piece: []byte("a")}))
	}
	require.Equal(t, errPart, k.part(&frame.Part{Number: partsMax + 1, Total: 100_000, Piece: []byte("a")}))
	require.Equal(t, errPart, k.part(&frame.Part{Number: 1, Total: 200_000, At: 1, Piece: []byte("b")}), "it has grown")
	require.NoError(t, k.part(&frame.Part{Number: 1, Total: 100_000, At: 1, Piece: []byte("b")}))
}
