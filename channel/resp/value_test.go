package resp

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// text writes a value as people read it, elements in brackets, in front of them the
// mark of what is no array.
func text(v Value) string {
	switch v.Kind {
	case KindNil:
		return "nil"
	case KindNilArray:
		return "nil array"
	case KindNull:
		return "null"
	case KindSimple:
		return "+" + string(v.Str)
	case KindError:
		return "-" + string(v.Str)
	case KindBulkError:
		return fmt.Sprintf("-%q", v.Str)
	case KindInt:
		return fmt.Sprint(v.Int)
	case KindBool:
		return fmt.Sprint(v.Int == 1)
	case KindDouble:
		return "," + string(v.Str)
	case KindBig:
		return "(" + string(v.Str)
	case KindBulk:
		return fmt.Sprintf("%q", v.Str)
	case KindVerbatim:
		return fmt.Sprintf("=%q", v.Str)
	}
	var all []string
	for elems := v.Elems(); ; {
		elem, ok := elems.Next()
		if !ok {
			break
		}
		all = append(all, text(elem))
	}
	each := map[Kind]int{KindArray: 1, KindSet: 1, KindPush: 1, KindMap: 2}[v.Kind]
	if len(all) != int(v.Int)*each {
		return fmt.Sprintf("%d elements, but %d are there", v.Int, len(all))
	}
	mark := map[Kind]string{KindMap: "%", KindSet: "~", KindPush: ">"}[v.Kind]
	return mark + "[" + strings.Join(all, " ") + "]"
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

		{in: "_\r\n", want: "null"},
		{in: "#t\r\n", want: "true"},
		{in: "#f\r\n:1\r\n", want: "false", rest: 4},
		{in: ",1\r\n", want: ",1"},
		{in: ",-10.25E+07\r\n", want: ",-10.25E+07"},
		{in: ",inf\r\n", want: ",inf"},
		{in: ",-inf\r\n", want: ",-inf"},
		{in: ",nan\r\n", want: ",nan"},
		{in: "(-12345678901234567890\r\n", want: "(-12345678901234567890"},
		{in: "=6\r\ntxt:\r\n\r\n", want: `="txt:\r\n"`},
		{in: "!4\r\nE\r\nx\r\n", want: `-"E\r\nx"`},
		{in: "%1\r\n+a\r\n*1\r\n_\r\n", want: "%[+a [null]]"},
		{in: "%0\r\n", want: "%[]"},
		{in: "~2\r\n#t\r\n:2\r\n", want: "~[true 2]"},
		{in: ">2\r\n+message\r\n~0\r\n", want: ">[+message ~[]]"},
		{in: "|1\r\n+ttl\r\n:1\r\n|0\r\n*2\r\n|0\r\n:1\r\n:2\r\n", want: "[1 2]"},

		{in: "", rest: 0},
		{in: "%1\r\n+a\r\n", rest: 8},
		{in: "|1\r\n+a\r\n:1\r\n", rest: 12},
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

		{in: "_1\r\n", err: ErrReply, rest: 4},
		{in: "#\r\n", err: ErrReply, rest: 3},
		{in: "#true\r\n", err: ErrReply, rest: 7},
		{in: ",\r\n", err: ErrReply, rest: 3},
		{in: ",.5\r\n", err: ErrReply, rest: 5},
		{in: ",5.\r\n", err: ErrReply, rest: 5},
		{in: ",1e\r\n", err: ErrReply, rest: 5},
		{in: ",1 \r\n", err: ErrReply, rest: 5},
		{in: ",0x1\r\n", err: ErrReply, rest: 6},
		{in: ",+inf\r\n", err: ErrReply, rest: 7},
		{in: "(\r\n", err: ErrReply, rest: 3},
		{in: "(1.5\r\n", err: ErrReply, rest: 6},
		{in: "=-1\r\n", err: ErrReply, rest: 5},
		{in: "=3\r\ntxt\r\n", err: ErrReply, rest: 9},
		{in: "=4\r\ntext\r\n", err: ErrReply, rest: 10},
		{in: "!-1\r\n", err: ErrReply, rest: 5},
		{in: "%-1\r\n", err: ErrReply, rest: 5},
		{in: "~-1\r\n", err: ErrReply, rest: 5},
		{in: "$?\r\n", err: ErrReply, rest: 4}, // streams: no Redis sends them
		{in: "*1\r\n>0\r\n", err: ErrReply, rest: 8},

		{in: "=31\r\n", err: ErrReplyLimit, rest: 5},
		{in: "%2\r\n", err: ErrReplyLimit, rest: 4}, // four elements
		{in: "~4\r\n", err: ErrReplyLimit, rest: 4},
		{in: "%9223372036854775807\r\n", err: ErrReplyLimit, rest: 22},
		{in: "*1\r\n|1\r\n%1\r\n", err: ErrReplyLimit, rest: 12},
		{in: strings.Repeat("|0\r\n", 15), err: ErrReplyLimit, rest: 60},
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

func TestFloat(t *testing.T) {
	for in, want := range map[string]float64{
		"1": 1, "-0.1": -0.1, "+12.50e-1": 1.25, "inf": math.Inf(1), "-inf": math.Inf(-1), "1e999": math.Inf(1),
		"2.2250738585072014e-308": 0x1p-1022, strings.Repeat("0", 100) + "7": 7,
	} {
		var v Value
		n, err := DecodeReply([]byte(","+in+"\r\n"), &v, Limits{})
		if got := v.Float(); got != want || n == 0 || err != nil {
			t.Errorf("%s: %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"nan", "-nan"} {
		if v := (Value{Kind: KindDouble, Str: []byte(in)}); !math.IsNaN(v.Float()) {
			t.Errorf("%s: %v", in, v.Float())
		}
	}
	if v := (Value{Kind: KindBulk, Str: []byte("1")}); v.Float() != 0 {
		t.Error("a bulk string has a Float")
	}
}

func TestNilsAndErrors(t *testing.T) {
	for in, want := range map[string][2]bool{
		"$-1\r\n": {true, false}, "*-1\r\n": {true, false}, "_\r\n": {true, false},
		"-E\r\n": {false, true}, "!1\r\nE\r\n": {false, true},
		"$0\r\n\r\n": {}, "*0\r\n": {}, "#f\r\n": {}, ":0\r\n": {},
	} {
		var v Value
		DecodeReply([]byte(in), &v, Limits{})
		if got := [2]bool{v.IsNil(), v.IsError()}; got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
