package frame

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestDecodeAllocatesNothing sends 16 frames again and again, whole, in pieces, and as Need says.
func TestDecodeAllocatesNothing(t *testing.T) {
	for _, f := range all() {
		payload := make([]byte, 40)
		out := make([]byte, 0, 1<<10)
		var frame []byte
		for _, piece := range []int{1 << 20, 7, 0} {
			serve := func() {
				out = out[:0]
				for range 16 {
					if f.Check(payload) != nil || f.Size(payload) > cap(out)-len(out) {
						panic("a good payload is refused")
					}
					out = f.Append(out, payload)
				}
				for at, end := 0, 0; at < len(out); {
					n, err := f.Decode(out[at:end], &frame)
					if err != nil || n == 0 && (end == len(out) || f.Need() <= end-at) {
						panic("the stream is spoiled")
					}
					if at += n; n == 0 {
						end = min(len(out), max(end+piece, at+f.Need()))
					}
				}
			}
			housetest.ZeroAlloc(t, 16_000, func(n int) {
				for range n / 16 {
					serve()
				}
			})
		}
	}
}

// all is a framing of each type that takes a payload of 40 bytes of 0.
func all() []Framing {
	return []Framing{&Line{}, &Delimiter{Mark: []byte("\r\n")}, &Fixed{Bytes: 40}, &Length{Offset: 2, Adjust: -6}, &Length{Keep: true}, &Varint{}}
}

// TestErrorsAllocateNothing: what strangers send wrong costs no memory.
func TestErrorsAllocateNothing(t *testing.T) {
	long := []byte(strings.Repeat("x", lineMax+2))
	refused := errors.New("refused\n")
	c := &Codec{Framing: &Line{}, Fault: func(out []byte, err error) []byte { return append(out, err.Error()...) }}
	out, rep := make([]byte, 0, 1<<10), []byte("a\nb")
	framings := []Framing{&Line{}, &Delimiter{}, &Length{}, &Varint{Max: 10}}
	var frame []byte
	housetest.ZeroAlloc(t, 1000, func(n int) {
		for range n {
			for _, f := range framings {
				if _, err := f.Decode(long, &frame); err == nil && f.Check(long) == nil {
					panic("a long frame is accepted")
				}
			}
			out = c.Encode(out[:0], &rep, nil)
			out = c.Encode(out, nil, refused)
			out = c.Refuse(out, refused)
			if c.Size(nil, refused) > cap(out) {
				panic("Size is too large")
			}
		}
	})
}

// TestLongTextIsNotKept: a connection doesn't hold the longest text of its life.
func TestLongTextIsNotKept(t *testing.T) {
	c := &Codec{Framing: &Line{}, Fault: func(out []byte, err error) []byte { return append(out, err.Error()...) }}
	long := errors.New(strings.Repeat("x", lineMax))
	require.Len(t, c.Encode(nil, nil, long), lineMax+1)
	require.LessOrEqual(t, cap(c.scratch), scratchMax)
	c.Refuse(nil, long)
	require.LessOrEqual(t, cap(c.scratch), scratchMax)
	c.Encode(nil, nil, ErrLength)
	require.NotZero(t, cap(c.scratch))
}
