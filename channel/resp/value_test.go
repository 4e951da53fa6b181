package resp

import (
	"fmt"
	"strings"
	"testing"
)

// text writes a value as people read it, elements in brackets.
func text(v Value) string {
	switch v.Kind {
	case KindNil:
		return "nil"
	case KindNilArray:
		return "nil array"
	case KindSimple:
		return "+" + string(v.Str)
	case KindError:
		return "-" + string(v.Str)
	case KindInt:
		return fmt.Sprint(v.Int)
	case KindBulk:
		return fmt.Sprintf("%q", v.Str)
	}
	var all []string
	for elems := v.Elems(); ; {
		elem, ok := elems.Next()
		if !ok {
			break
		}
		all = append(all, text(elem))
	}
	if len(all) != int(v.Int) {
		return fmt.Sprintf("%d elements, but %d are there", v.Int, len(all))
	}
	return "[" + strings.Join(all, " ") + "]"
}

func TestDecodeReply(t *testing.T) {
	limits := Limits{MaxBulk: 30, MaxArgs: 3, MaxInline: 22, MaxRequest: 60, MaxDepth: 2}
	for _, test := range []struct {
		in   string
		want string // "" if there is none
		err  error
		rest int
	}{
		{in: "+OK\r\n", want: "+OK"},
		{in: "+\r\n", want: "+"},
		{in: "-ERR no\r\n+OK\r\n", want: "-ERR no", rest: 5},
		{in: ":-12\r\n", want: "-12"},
		{in: "$2\r\n\r\n\r\n", want: `"\r\n"`},
		{in: "$0\r\n\r\n", want: `""`},
		{in: "$-1\r\n", want: "nil"},
		{in: "*-1\r\n", want: "nil array"},
		{in: "*0\r\n", want: "[]"},
		{in: "*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n", want: `[1 ["a" nil] +x]`},

		{in: "", rest: 0},
		{in: "+OK\r", rest: 4},
		{in: "$2\r\nab\r", rest: 7},
		{in: "*2\r\n:1\r\n", rest: 8},

		{in: "x", err: ErrReply, rest: 1},
		{in: "\r\n", err: ErrReply, rest: 2},
		{in: "+a\rb\r\n", err: ErrReply, rest: 6},
		{in: ":\r\n", err: ErrReply, rest: 3},
		{in: ":+1\r\n", err: ErrReply, rest: 5},
		{in: "$-2\r\n", err: ErrReply, rest: 5},
		{in: "*-2\r\n", err: ErrReply, rest: 5},
		{in: "$1\r\nabc", err: ErrReply, rest: 7},
		{in: "*1\r\n*1\r\nx", err: ErrReply, rest: 9},

		{in: "$31\r\n", err: ErrReplyLimit, rest: 5},
		{in: "*4\r\n", err: ErrReplyLimit, rest: 4},
		{in: "*1\r\n*1\r\n*1\r\n", err: ErrReplyLimit, rest: 12},
		{in: "+" + strings.Repeat("x", 22), err: ErrReplyLimit, rest: 23},
		{in: "*2\r\n$30\r\n" + strings.Repeat("x", 30) + "\r\n$20\r\n" + strings.Repeat("x", 15), err: ErrReplyLimit, rest: 61},
	} {
		var v Value
		n, err := DecodeReply([]byte(test.in), &v, limits)
		got := ""
		if n > 0 {
			got = text(v)
		}
		if got != test.want || err != test.err || len(test.in)-n != test.rest {
			t.Errorf("%q: %q, %v, %d left; want %q, %v, %d", test.in, got, err, len(test.in)-n, test.want, test.err, test.rest)
		}
		for end := range n {
			if n, err := DecodeReply([]byte(test.in[:end]), &v, limits); n != 0 || err != nil {
				t.Errorf("%q: %d, %v, though its end is missing", test.in[:end], n, err)
			}
		}
	}
}

// TestReplyDepthByDefault: a peer can't make this side recurse for ever.
func TestReplyDepthByDefault(t *testing.T) {
	for depth, want := range map[int]error{32: nil, 33: ErrReplyLimit} {
		in := []byte(strings.Repeat("*1\r\n", depth) + ":1\r\n")
		var v Value
		if n, err := DecodeReply(in, &v, Limits{}); err != want || err == nil && n != len(in) {
			t.Errorf("%d arrays: %d, %v; want %v", depth, n, err, want)
		}
	}
}
