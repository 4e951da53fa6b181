package frame

import "testing"

func TestFixed(t *testing.T) {
	for _, s := range []stream{
		{in: "", need: 3},
		{in: "ab", need: 3},
		{in: "abc", want: `"abc"`, need: 3},
		{in: "abc\n\r\x00d", want: `"abc" "\n\r\x00"`, need: 3},
	} {
		s.run(t, func() Framing { return &Fixed{Bytes: 3} })
	}
}

func TestFixedSent(t *testing.T) {
	for _, s := range []sent{
		{f: &Fixed{Bytes: 3}, payload: "abc", want: "abc"},
		{f: &Fixed{Bytes: 3}, payload: "ab", err: ErrLength},
		{f: &Fixed{Bytes: 3}, payload: "abcd", err: ErrLength},
	} {
		s.run(t)
	}
}
