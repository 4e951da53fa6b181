package frame

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLength(t *testing.T) {
	for _, test := range []struct {
		l Length
		s stream
	}{
		{Length{}, stream{in: "", need: 4}},
		{Length{}, stream{in: "\x00\x00\x00", need: 4}},
		{Length{}, stream{in: "\x00\x00\x00\x00", want: `""`, need: 4}},
		{Length{}, stream{in: "\x00\x00\x00\x02ab\x00\x00\x01\x00x", want: `"ab"`, need: 260}},
		{Length{}, stream{in: "\x00\x10\x00\x00", need: 4 + 1<<20}},
		{Length{}, stream{in: "\x00\x10\x00\x01", err: ErrTooLong}},
		{Length{}, stream{in: "\xff\xff\xff\xff", err: ErrTooLong}},
		{Length{Max: highest}, stream{in: "\x40\x00\x00\x00", need: highest + 4}},

		{Length{Width: 1}, stream{in: "\x02ab\xff", want: `"ab"`, need: 256}},
		{Length{Width: 2}, stream{in: "\x00\x02ab\x02", want: `"ab"`, need: 2}},
		{Length{Width: 3}, stream{in: "\x00\x00\x02ab", want: `"ab"`, need: 3}},
		{Length{Width: 8}, stream{in: "\x00\x00\x00\x00\x00\x00\x00\x02ab", want: `"ab"`, need: 8}},
		{Length{Width: 8}, stream{in: strings.Repeat("\xff", 8), err: ErrTooLong}},
		{Length{Width: 8, Adjust: 1}, stream{in: strings.Repeat("\xff", 8), err: ErrTooLong}},
		{Length{Width: 2, Little: true}, stream{in: "\x02\x00ab\x00\x01", want: `"ab"`, need: 258}},

		{Length{Offset: 1, Width: 1}, stream{in: "T\x02abU\x01", want: `"ab"`, need: 3}},
		{Length{Offset: 1, Width: 1, Keep: true}, stream{in: "T\x02abU\x01", want: `"T\x02ab"`, need: 3}},
		{Length{Offset: 1, Width: 1, Keep: true, Max: 4}, stream{in: "T\x02abU\x03", want: `"T\x02ab"`, err: ErrTooLong}},
		{Length{Offset: 1, Width: 1, Max: 2}, stream{in: "T\x02abU\x03", want: `"ab"`, err: ErrTooLong}},

		{Length{Width: 2, Adjust: -2}, stream{in: "\x00\x04ab\x00\x02\x00\x01", want: `"ab" ""`, err: ErrLength}},
		{Length{Width: 2, Adjust: -2, Max: 2}, stream{in: "\x00\x04ab\x00\x05", want: `"ab"`, err: ErrTooLong}},
		{Length{Width: 1, Adjust: 4}, stream{in: "\x01x1234\x00", want: `"x1234"`, need: 5}},
		{Length{Width: 1, Adjust: 4, Max: 3}, stream{in: "\x00", err: ErrTooLong}},
		{Length{Width: 1, Keep: true, Offset: 5, Max: 4}, stream{in: "12345\x00", err: ErrTooLong}},
	} {
		test.s.run(t, func() Framing { l := test.l; return &l })
	}
}

func TestLengthSent(t *testing.T) {
	for _, s := range []sent{
		{f: &Length{}, payload: "", want: "\x00\x00\x00\x00"},
		{f: &Length{}, payload: "ab", want: "\x00\x00\x00\x02ab"},
		{f: &Length{Little: true}, payload: "ab", want: "\x02\x00\x00\x00ab"},
		{f: &Length{Width: 1}, payload: strings.Repeat("x", 255), want: "\xff" + strings.Repeat("x", 255)},
		{f: &Length{Width: 1}, payload: strings.Repeat("x", 256), err: ErrTooLong},
		{f: &Length{Width: 8}, payload: "ab", want: "\x00\x00\x00\x00\x00\x00\x00\x02ab"},
		{f: &Length{Max: 2}, payload: "ab", want: "\x00\x00\x00\x02ab"},
		{f: &Length{Max: 2}, payload: "abc", err: ErrTooLong},
		{f: &Length{Offset: 2, Width: 1}, payload: "ab", want: "\x00\x00\x02ab"},
		{f: &Length{Width: 1, Adjust: -1}, payload: "ab", want: "\x03ab"},
		{f: &Length{Width: 1, Adjust: -1}, payload: strings.Repeat("x", 255), err: ErrTooLong},
		{f: &Length{Width: 1, Adjust: 4}, payload: "x1234", want: "\x01x1234"},
		{f: &Length{Width: 1, Adjust: 4}, payload: "x12", err: ErrLength},
		{f: &Length{Offset: 1, Width: 1, Keep: true}, payload: "T?ab", want: "T\x02ab"},
		{f: &Length{Offset: 1, Width: 1, Keep: true}, payload: "T?", want: "T\x00"},
		{f: &Length{Offset: 1, Width: 1, Keep: true}, payload: "T", err: ErrLength},
		{f: &Length{Offset: 1, Width: 1, Keep: true, Max: 4}, payload: "T?abc", err: ErrTooLong},
		{f: &Length{Offset: 1, Width: 1, Adjust: -2, Keep: true}, payload: "T?ab", want: "T\x04ab"},
	} {
		s.run(t)
	}
}

// TestAnnouncedLengthIsNotBelieved: Need stays within the limit, whatever a header says.
func TestAnnouncedLengthIsNotBelieved(t *testing.T) {
	for _, test := range []struct {
		f  Framing
		in string
	}{
		{&Length{}, "\xff\xff\xff\xff"},
		{&Length{Width: 8}, strings.Repeat("\xff", 8)},
		{&Length{Width: 8, Little: true, Adjust: highest}, strings.Repeat("\xff", 7) + "\x7f"},
		{&Varint{}, strings.Repeat("\xff", 9) + "\x01"},
		{&Varint{}, "\x81\x80\x40"},
	} {
		for have := range len(test.in) + 1 {
			var frame []byte
			n, err := test.f.Decode([]byte(test.in[:have]), &frame)
			require.Zero(t, n)
			require.LessOrEqual(t, test.f.Need(), len(test.in))
			if have == len(test.in) {
				require.Equal(t, ErrTooLong, err, "%T", test.f)
			}
		}
	}
}
