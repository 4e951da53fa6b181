package cluster

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
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

// TestPiecesThatDontFollow: the first piece of a frame comes first, and once. What they join to is
// a frame.
func TestPiecesThatDontFollow(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	require.Equal(t, errPart, k.part(&frame.Part{Number: 1, Total: 100_000, At: 1, Piece: []byte("a")}))
	require.Empty(t, k.parcels.in)
	require.NoError(t, k.part(&frame.Part{Number: 1, Total: 100_000, Piece: []byte("a")}))
	require.Equal(t, errPart, k.part(&frame.Part{Number: 1, Total: 100_000, Piece: []byte("a")}))
	require.Error(t, k.part(&frame.Part{Number: 2, Total: 3, Piece: make([]byte, 3)}))
	many := (&frame.Tells{To: 1, Method: 1, Messages: frame.AppendMessage(nil, make([]byte, 100))}).Append(nil)
	require.Equal(t, errPart, k.part(&frame.Part{Number: 3, Total: uint64(len(many)), Piece: many}))
}

// TestLongFramesOfLaterVersions are passed over, in pieces and packed, if they say so, and end the
// session if not.
func TestLongFramesOfLaterVersions(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	long := append([]byte{1, 0x11, 0x72, 99, byte(frame.Skip)}, make([]byte, 70_000)...)
	for number := range uint64(2) {
		pieces := func() error {
			for at := 0; at < len(long); at += frame.PieceMax {
				piece := long[at:min(at+frame.PieceMax, len(long))]
				if err := k.part(&frame.Part{Number: number, Total: uint64(len(long)), At: uint64(at), Piece: piece}); err != nil {
					return err
				}
			}
			return nil
		}
		one, err := frame.Long(packedOf(long))
		require.NoError(t, err)
		if number == 0 {
			require.NoError(t, pieces())
			require.NoError(t, k.do(one))
		} else {
			require.Equal(t, frame.ErrKind, pieces())
			require.Equal(t, frame.ErrKind, k.do(one))
		}
		require.Empty(t, k.parcels.in)
		long[4] = 0
	}
}

// TestAcknowledgedPieces: of what is on its way that is over which was read to its end.
func TestAcknowledgedPieces(t *testing.T) {
	p := parcels{pieces: []piece{{10, 1}, {20, 2}, {30, 4}}, flying: 7, sent: []*parcel{{end: 20}, {end: 30}}}
	for _, test := range []struct{ position, pieces, flying, sent int }{
		{9, 3, 7, 2}, {10, 2, 6, 2}, {19, 2, 6, 2}, {20, 1, 4, 1}, {29, 1, 4, 1}, {30, 0, 0, 0},
	} {
		p.acknowledged(uint64(test.position))
		require.Equal(t, test.pieces, len(p.pieces), "%+v", test)
		require.Equal(t, test.flying, p.flying, "%+v", test)
		require.Equal(t, test.sent, len(p.sent), "%+v", test)
	}
}

// TestManyLongFrames cross one after another, and nothing is left of them.
func TestManyLongFrames(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	for n := range partsMax + 2 {
		sent := padded(n, 100_000).Pad
		require.NoError(t, housetest.AskInto(t, c.sim, echo.At(far), sent, func(got *[]byte) {
			require.True(t, string(sent) == string(*got))
		}))
	}
	for _, k := range []*track{c.track(), c.there.self.links["here"].tracks[0]} {
		require.Empty(t, k.parcels.in)
	}
	require.EqualValues(t, 1, c.track().link.Session())
}

// TestPiecesLeaveRoom: those of a long message are no more than half the window, and none is
// written where there is no room at all.
func TestPiecesLeaveRoom(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	c.tell(far, 0, 1)
	c.sim.Run(5 * time.Second)
	c.cut()
	k := c.track()
	require.NoError(t, core.Notice(tells.At(far), padded(1, 1<<20)))
	c.sim.Run(time.Millisecond)
	half := k.link.hub.node.config.Window / 2
	require.GreaterOrEqual(t, k.parcels.flying, half)
	require.Less(t, k.parcels.flying, half+frame.FrameMax)
	for k.tryAppend((&frame.Cancel{}).Append(nil)) {
	}
	k.parcels.acknowledged(k.out.Left().Written) // as if the room were taken by others
	k.parcels.flying, k.parcels.pieces = 0, nil
	end := k.out.Left().End
	k.sendOn()
	require.Equal(t, end, k.out.Left().End)
	c.mend()
	rep, err := housetest.Ask(t, c.sim, count.At(far), struct{}{})
	require.NoError(t, err)
	require.Equal(t, 2, rep.Sum)
}

// TestPiecesThatCannotBe: a PART that can't be read begins nothing.
func TestPiecesThatCannotBe(t *testing.T) {
	c := newCalm(t)
	c.find(c.here, "there")
	k := c.track()
	good := frameOf(t, (&frame.Part{Number: 1, Total: frame.FrameMax + 1, Piece: []byte("a")}).Append(nil))
	for size := range good.Body {
		require.Error(t, k.do(frame.Raw{Kind: frame.KindPart, Body: good.Body[:size]}), "%d bytes of it", size)
	}
	require.Empty(t, k.parcels.in)
	require.NoError(t, k.do(good))
	require.Len(t, k.parcels.in, 1)
}

// TestPiecesTakeTurns: a message of some pieces doesn't wait for the end of one of many that was
// sent before, to another actor.
func TestPiecesTakeTurns(t *testing.T) {
	c := newCalm(t)
	all, far := c.counters(2)
	c.sim.Run(time.Second)
	require.NoError(t, core.Notice(tells.At(far[0]), padded(1, 4<<20)))
	require.NoError(t, core.Notice(tells.At(far[1]), padded(1, 200_000)))
	for i := 0; len(all[0].numbers())+len(all[1].numbers()) == 0 && i < 100_000; i++ {
		c.sim.Turn()
	}
	require.Len(t, all[1].numbers(), 1)
	require.Empty(t, all[0].numbers())
	c.sim.Run(time.Second)
	require.Len(t, all[0].numbers(), 1)
}
