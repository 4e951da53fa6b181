package frame

import (
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	for _, s := range []stream{
		{in: "", need: 1},
		{in: "\n", want: `""`, need: 1},
		{in: "\r\n\n", want: `"" ""`, need: 1},
		{in: "a\nbc\r\nd", want: `"a" "bc"`, need: 2},
		{in: "a\rb\r\r\n", want: `"a\rb\r"`, need: 1},
		{in: "abcde\n", want: `"abcde"`, need: 1},
		{in: "abcde\r\n", want: `"abcde"`, need: 1},
		{in: "abcde\r", need: 7},
		{in: "abcdef", err: ErrTooLong},
		{in: "abcdef\n", err: ErrTooLong},
		{in: "abcde\r\r", err: ErrTooLong},
		{in: "abcde\rf", err: ErrTooLong},
		{in: "a\nabcdefg", want: `"a"`, err: ErrTooLong},
	} {
		s.run(t, func() Framing { return &Line{Max: 5} })
	}
	long := strings.Repeat("x", lineMax)
	stream{in: long, need: lineMax + 1}.run(t, func() Framing { return &Line{} })
	stream{in: long + "x", err: ErrTooLong}.run(t, func() Framing { return &Line{} })
}

func TestLineSent(t *testing.T) {
	for _, s := range []sent{
		{f: &Line{}, payload: "", want: "\n"},
		{f: &Line{}, payload: "a", want: "a\n"},
		{f: &Line{}, payload: "a\rb", want: "a\rb\n"},
		{f: &Line{}, payload: "a\r", err: ErrDelimiter},
		{f: &Line{}, payload: "a\nb", err: ErrDelimiter},
		{f: &Line{CRLF: true}, payload: "a", want: "a\r\n"},
		{f: &Line{CRLF: true}, payload: "a\r", want: "a\r\r\n"},
		{f: &Line{CRLF: true}, payload: "\n", err: ErrDelimiter},
		{f: &Line{Max: 2}, payload: "ab", want: "ab\n"},
		{f: &Line{Max: 2}, payload: "abc", err: ErrTooLong},
	} {
		s.run(t)
	}
}
