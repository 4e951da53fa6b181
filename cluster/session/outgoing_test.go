package session

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/pool"
)

// tell is a frame of size bytes, at least 7, that carries a number below 1<<7.
func tell(number, size int) []byte {
	f := frame.Tell{To: uint64(number & 0x7f), Method: 1, Message: bytes.Repeat([]byte{byte(number)}, size-7)}
	return f.Append(nil)
}

const least = 7 // of tell

// out is how many slabs of a shard are in use.
func out(s *pool.Shard) (n int) {
	for _, u := range s.Usage() {
		n += u.Made - u.Free
	}
	return n
}

// stream is the model of Outgoing: all that was ever written, and positions.
type stream struct {
	all                         []byte
	ends                        []uint64 // of frames, and 0
	acknowledged, sent, written uint64
	run                         frame.Tells // the last frame
}

// tail is where the last frame begins.
func (m *stream) tail() uint64 { return m.ends[max(0, len(m.ends)-2)] }

// append notes a frame of one notice.
func (m *stream) append(f []byte) {
	r, _, _ := frame.Next(f)
	var one frame.Tell
	one.Read(r)
	m.all = append(m.all, f...)
	m.ends = append(m.ends, uint64(len(m.all)))
	m.run = frame.Tells{To: one.To, Method: one.Method, Messages: frame.AppendMessage(nil, one.Message)}
}

// join notes that a notice was joined to the last frame.
func (m *stream) join(one *frame.Tell) {
	m.run.Messages = frame.AppendMessage(m.run.Messages, one.Message)
	m.all = m.run.Append(m.all[:m.tail()])
	m.ends[len(m.ends)-1] = uint64(len(m.all))
}

func (m *stream) check(position, most uint64) error {
	switch {
	case position < m.acknowledged:
		return ErrBack
	case position > most:
		return ErrNeverSent
	case !slices.Contains(m.ends, position):
		return ErrInside
	}
	return nil
}

// TestOutgoingAgainstModel does the same with Outgoing and with a slice of all bytes.
func TestOutgoingAgainstModel(t *testing.T) {
	joins := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := 2*least + r.IntN(60+r.IntN(2)*300)
		window := size * (1 + r.IntN(5))
		if r.IntN(2) == 0 {
			window += r.IntN(size)
		}
		var shard pool.Shard
		o := makeOutgoing(window, size)
		m := &stream{ends: []uint64{0}}
		for step := range 400 {
			about := fmt.Sprintf("seed %d, step %d", seed, step)
			switch r.IntN(7) {
			case 5, 6:
				one := frame.Tell{To: m.run.To, Method: uint64(1 + r.IntN(8)/7), Message: bytes.Repeat([]byte{byte(step)}, r.IntN(30))}
				fits := o.n > 0 && len(one.Message)+20 <= min(o.size-o.last().used, o.Room(), o.window-int(o.end-m.acknowledged))
				ok := o.Join(&one)
				if may := m.written <= m.tail() && one.Method == m.run.Method && o.n > 0; !may || fits {
					require.Equal(t, may, ok, about)
				}
				if ok {
					m.join(&one)
					joins++
				}
			case 0, 1:
				f := tell(step, least+r.IntN(size-least+1))
				if len(f) > o.Room() {
					require.Panics(t, func() { o.Append(&shard, f) }, about)
					break
				}
				o.Append(&shard, f)
				m.append(f)
				for i := range f {
					f[i] = 0xee // it has kept a copy
				}
			case 2:
				most := r.IntN(2 * size)
				b := o.Unsent(most)
				require.Equal(t, string(m.all[m.sent:][:len(b)]), string(b), about)
				require.LessOrEqual(t, len(b), most, about)
				require.Contains(t, m.ends, m.sent+uint64(len(b)), about)
				if rest := m.all[m.sent:]; len(rest) > 0 && len(b) == 0 {
					require.Greater(t, frame.Len(rest), most, "%s: nothing comes", about)
				}
				if next := frame.Len(m.all[m.sent:]); r.IntN(3) == 0 && len(b) > next {
					b = b[:next]
				}
				o.Sent(len(b))
				m.sent += uint64(len(b))
				m.written = max(m.written, m.sent)
			case 3:
				p := m.some(r)
				want := m.check(p, m.sent)
				require.Equal(t, want, o.Acknowledge(p), "%s: %d", about, p)
				if want == nil {
					m.acknowledged = p
				}
			default:
				p := m.some(r)
				want := m.check(p, m.written)
				require.Equal(t, want, o.Resume(p), "%s: %d", about, p)
				if want == nil {
					m.acknowledged, m.sent = p, p
				}
			}
			m.compare(t, about, &o, &shard)
		}
		left := o.Left()
		require.Equal(t, left, o.End())
		require.Zero(t, out(&shard), "seed %d", seed)
		require.Zero(t, o.Room())
		require.Equal(t, ErrOver, o.Acknowledge(left.Acknowledged))
		require.Equal(t, ErrOver, o.Resume(left.Acknowledged))
		require.Panics(t, func() { o.Append(&shard, tell(1, least)) })
		require.False(t, o.Join(&frame.Tell{To: m.run.To, Method: m.run.Method}))
		require.Equal(t, left, o.End(), "a second end changes nothing")
	}
	require.Greater(t, joins, 1000)
}

// TestRunOfNotices is one frame as long as none of it has left, over whichever connection.
func TestRunOfNotices(t *testing.T) {
	var shard pool.Shard
	o := MakeOutgoing(0)
	one := frame.Tell{To: 3, Method: 4, Message: []byte("one")}
	frames := func(from uint64) (n int) {
		for b := o.Kept(from); len(b) > 0; b = b[frame.Len(b):] {
			n++
		}
		return n
	}
	write := func() {
		if !o.Join(&one) {
			o.Append(&shard, one.Append(nil))
		}
	}
	write()
	single := o.Left().End
	require.EqualValues(t, len(one.Append(nil)), single, "a run of one is a TELL")
	write()
	write()
	require.Equal(t, 1, frames(0))
	require.Equal(t, ErrNeverSent, o.Acknowledge(single))
	all := o.Left().End
	o.Sent(len(o.Unsent(frame.FrameMax)))
	require.Equal(t, ErrInside, o.Acknowledge(single), "a run is acknowledged whole")
	require.NoError(t, o.Resume(0))
	write()
	require.Equal(t, 2, frames(0), "the other end may have read the first")
	write()
	require.Equal(t, 2, frames(0))
	require.NoError(t, o.Resume(all))
	write()
	require.Equal(t, 1, frames(all), "nothing of the second has left")
	for range 10_000 {
		write()
	}
	for b := o.Kept(all); len(b) > 0; b = b[frame.Len(b):] {
		require.LessOrEqual(t, frame.Len(b), frame.JoinMax)
	}
	o.End()
}

// some is a position that the other end might tell, mostly a good one.
func (m *stream) some(r *rand.Rand) uint64 {
	if r.IntN(4) == 0 {
		return r.Uint64N(uint64(len(m.all)) + 3)
	}
	for range 20 {
		if p := m.ends[r.IntN(len(m.ends))]; p >= m.acknowledged && p <= m.sent {
			return p
		}
	}
	return m.sent
}

func (m *stream) compare(t *testing.T, about string, o *Outgoing, shard *pool.Shard) {
	t.Helper()
	end := uint64(len(m.all))
	require.Equal(t, Left{m.acknowledged, m.written, end}, o.Left(), about)
	require.LessOrEqual(t, out(shard)*o.size, o.window+o.size, about)
	require.LessOrEqual(t, int(end-m.acknowledged), o.window, about)
	require.LessOrEqual(t, o.Room(), o.window-int(end-m.acknowledged), about)
	if m.acknowledged == end {
		require.Equal(t, o.size, o.Room(), about)
		require.Zero(t, out(shard), "%s: nothing is kept, but slabs are", about)
	}
	if kept := int(end - m.acknowledged); 2*kept <= o.window-3*o.size {
		require.Equal(t, o.size, o.Room(), "%s: less than half the window is in use", about)
	}
	var kept []byte
	for at := m.acknowledged; ; {
		b := o.Kept(at)
		if len(b) == 0 {
			break
		}
		kept = append(kept, b...)
		at += uint64(len(b))
	}
	require.Equal(t, string(m.all[m.acknowledged:]), string(kept), about)
}

// TestAppendRefuses what isn't one frame of a stream.
func TestAppendRefuses(t *testing.T) {
	var shard pool.Shard
	o := MakeOutgoing(0)
	f := tell(1, 20)
	for _, bad := range [][]byte{nil, f[:19], f[:3], append(f[:20:20], f...), append(f[:20:20], 0), (&frame.Ack{}).Append(nil), (&frame.Ping{}).Append(nil)} {
		require.PanicsWithValue(t, "session: bytes that are no frame of a stream", func() { o.Append(&shard, bad) }, "%x", bad)
	}
	require.Panics(t, func() { o.Sent(1) })
	o.Append(&shard, f)
	require.Panics(t, func() { o.Sent(21) })
	require.Panics(t, func() { o.Sent(-1) })
	require.Equal(t, Left{End: 20}, o.End())
	require.Panics(t, func() { MakeOutgoing(-1) })
	require.Panics(t, func() { MakeOutgoing(4*pool.SlabMax - 1) })
	require.Panics(t, func() { MakeIncoming(-1) })
}

// TestWholeWindow fills a window of the usual size with small frames: all of it can be used, and
// frames of the longest kind fit.
func TestWholeWindow(t *testing.T) {
	var shard pool.Shard
	o := MakeOutgoing(0)
	f := tell(1, 32)
	n := 0
	for ; o.Room() >= len(f); n++ {
		o.Append(&shard, f)
	}
	require.Equal(t, Window/32, n)
	require.Equal(t, Window/pool.SlabMax, out(&shard))
	o.End()
	o = MakeOutgoing(0)
	require.Equal(t, frame.FrameMax, o.Room())
	for o.Room() == frame.FrameMax {
		o.Append(&shard, tell(1, frame.FrameMax))
	}
	require.EqualValues(t, Window, o.Left().End)
	require.Zero(t, o.Room())
	o.End()
	require.Zero(t, out(&shard))
}

// TestHalfWindow writes frames of a little more than half a slab: there is never more memory than
// the window and a slab, and more than a quarter of the window is under way when no room is left:
// so the other end owes an ACK, and nobody need ask for it.
func TestHalfWindow(t *testing.T) {
	for _, slabs := range []int{4, 16} {
		var shard pool.Shard
		o := makeOutgoing(slabs*64, 64)
		for _, f := range []int{7, 33, 34, 64} {
			for o.Room() >= f {
				o.Append(&shard, tell(1, f))
			}
			left := o.Left()
			require.GreaterOrEqual(t, left.End-left.Acknowledged, uint64(o.window/4))
			require.LessOrEqual(t, out(&shard), slabs+1)
			for len(o.Unsent(1<<20)) > 0 {
				o.Sent(len(o.Unsent(1 << 20)))
			}
			require.NoError(t, o.Acknowledge(left.End))
		}
	}
}
