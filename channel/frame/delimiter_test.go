package frame

import "testing"

func TestDelimiter(t *testing.T) {
	for _, s := range []stream{
		{in: "", need: 1},
		{in: "\x00", want: `""`, need: 1},
		{in: "a\nb\x00\x00c", want: `"a\nb" ""`, need: 2},
		{in: "abcde", need: 6},
		{in: "abcde\x00", want: `"abcde"`, need: 1},
		{in: "abcdef", err: ErrTooLong},
	} {
		s.run(t, func() Framing { return &Delimiter{Max: 5} })
	}
	for _, s := range []stream{
		{in: "", need: 3},
		{in: "a", need: 3},
		{in: "b", need: 4},
		{in: "bab", need: 4},
		{in: "ababa", want: `""`, need: 4},
		{in: "babaaba", want: `"b" ""`, need: 3},
	} {
		s.run(t, func() Framing { return &Delimiter{Mark: []byte("aba"), Max: 5} })
	}
	for _, s := range []stream{
		{in: "x\r", need: 3},
		{in: "x\r\r", need: 4},
		{in: "x\ry\r\n\n", want: `"x\ry"`, need: 3},
		{in: "abcde\r", need: 7},
		{in: "abcde\r\n", want: `"abcde"`, need: 2},
		{in: "abcdef\r\n", err: ErrTooLong},
		{in: "abcde\rf", err: ErrTooLong},
	} {
		s.run(t, func() Framing { return &Delimiter{Mark: []byte("\r\n"), Max: 5} })
	}
}

func TestDelimiterSent(t *testing.T) {
	mark := func(mark string) *Delimiter { return &Delimiter{Mark: []byte(mark), Max: 5} }
	for _, s := range []sent{
		{f: &Delimiter{}, payload: "", want: "\x00"},
		{f: &Delimiter{}, payload: "a\nb", want: "a\nb\x00"},
		{f: &Delimiter{}, payload: "a\x00b", err: ErrDelimiter},
		{f: mark("--"), payload: "a-b", want: "a-b--"},
		{f: mark("--"), payload: "a-", err: ErrDelimiter},
		{f: mark("aba"), payload: "xab", err: ErrDelimiter},
		{f: mark("aba"), payload: "xa", want: "xaaba"},
		{f: mark("ab"), payload: "aaaaa", want: "aaaaaab"},
		{f: mark("ab"), payload: "aaaaaa", err: ErrTooLong},
	} {
		s.run(t)
	}
}
