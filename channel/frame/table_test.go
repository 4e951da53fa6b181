package frame

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stream is a row of a table: what comes of a stream, at once and byte by byte.
type stream struct {
	in   string
	want string // the frames, quoted
	err  error
	need int // of the frame that is missing its end
}

func (s stream) run(t *testing.T, f func() Framing) {
	t.Helper()
	for _, piece := range []int{len(s.in), 1} {
		var frames []string
		var err error
		framing, in, from, have := f(), []byte(s.in), 0, 0
		for err == nil {
			var frame []byte
			var n int
			if n, err = framing.Decode(in[from:have], &frame); n > 0 {
				frames = append(frames, fmt.Sprintf("%q", frame))
				from += n
			} else if have == len(s.in) {
				break
			} else {
				have = min(len(s.in), have+piece)
			}
		}
		require.Equal(t, s.want, strings.Join(frames, " "), "%q", s.in)
		require.Equal(t, s.err, err, "%q", s.in)
		if err == nil {
			require.Equal(t, s.need, framing.Need(), "%q", s.in)
		}
	}
}

// sent is a row of a table: what Append makes of a payload, or the error of Check.
type sent struct {
	f       Framing
	payload string
	want    string
	err     error
}

func (s sent) run(t *testing.T) {
	t.Helper()
	payload := []byte(s.payload)
	require.Equal(t, s.err, s.f.Check(payload), "%+v %q", s.f, s.payload)
	if s.err != nil {
		require.PanicsWithValue(t, s.err, func() { s.f.Append(nil, payload) })
		return
	}
	require.Equal(t, "before"+s.want, string(s.f.Append([]byte("before"), payload)), "%+v %q", s.f, s.payload)
	require.Equal(t, s.payload, string(payload))
	require.LessOrEqual(t, len(s.want), s.f.Size(payload))
}

// TestFieldsOutOfRange: nonsense panics at the first use, in either direction.
func TestFieldsOutOfRange(t *testing.T) {
	for _, f := range []Framing{
		&Line{Max: -1}, &Line{Max: highest + 1}, &Delimiter{Max: -1}, &Fixed{}, &Fixed{Bytes: -1}, &Fixed{Bytes: highest + 1},
		&Length{Max: -1}, &Length{Offset: -1}, &Length{Offset: offsetMax + 1}, &Length{Width: 9}, &Length{Width: -1},
		&Length{Adjust: highest + 1}, &Length{Adjust: -highest - 1}, &Varint{Max: -1},
	} {
		const want = "frame: a field of a framing is out of range"
		var frame []byte
		require.PanicsWithValue(t, want, func() { f.Decode(make([]byte, 20), &frame) }, "%+v", f)
		require.PanicsWithValue(t, want, func() { f.Append(nil, nil) }, "%+v", f)
	}
}
