package resp

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

var ping = []string{"PING"}

// small are limits that short inputs reach.
var small = Limits{MaxBulk: 50, MaxArgs: 12, MaxInline: 40, MaxRequest: 120}

// TestRequests is what bytes mean: commands, then perhaps an error; what follows
// a command that isn't complete, or an error, is left.
func TestRequests(t *testing.T) {
	fifty, forty := "\r\n$50\r\n"+strings.Repeat("x", 50), "\r\n$40\r\n"+strings.Repeat("y", 40)
	for _, test := range []struct {
		in       string
		commands [][]string
		err      string
		rest     int
	}{
		// Requests of client libraries: an array of bulk strings.
		{in: "*1\r\n$4\r\nPING\r\n", commands: [][]string{ping}},
		{in: "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", commands: [][]string{{"GET", "key"}}},
		{in: "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", commands: [][]string{{"ECHO", ""}}},
		{in: "*2\r\n$4\r\nECHO\r\n$12\r\n1\r\n*1\r\n$4\r\n2\r\n", commands: [][]string{{"ECHO", "1\r\n*1\r\n$4\r\n2"}}},
		{in: "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n", commands: [][]string{ping, ping}},
		{in: "*9\r\n" + strings.Repeat("$1\r\nx\r\n", 9), commands: [][]string{slices.Repeat([]string{"x"}, 9)}},

		// Empty requests are consumed and mean nothing.
		{in: "*0\r\n*-1\r\n*-10\r\n\r\n\n \t\r\n*1\r\n$4\r\nPING\r\n", commands: [][]string{nil, nil, nil, nil, nil, nil, ping}},

		// Requests whose end is missing.
		{in: ""},
		{in: "*", rest: 1},
		{in: "*1\r", rest: 3},
		{in: "*1\r\n", rest: 4},
		{in: "*1\r\n$4", rest: 6},
		{in: "*1\r\n$4\r\nPING\r", rest: 13},
		{in: "*1\r\nfoo", rest: 7}, // Redis looks at the '$' when the line is there
		{in: "PING\r\nPIN", commands: [][]string{ping}, rest: 3},

		// The number of arguments.
		{in: "*\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 3},
		{in: "*x\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 4},
		{in: "*+1\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 5},
		{in: "*01\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 5},
		{in: "*-0\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 5},
		{in: "*-\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 4},
		{in: "* 1\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 5},
		{in: "*1 \r\n", err: "ERR Protocol error: invalid multibulk length", rest: 5},
		{in: "*1\rx", err: "ERR Protocol error: invalid multibulk length", rest: 4},
		{in: "*13\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 5},
		{in: "*4294967297\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 13},
		{in: "*18446744073709551617\r\n", err: "ERR Protocol error: invalid multibulk length", rest: 23},
		{in: "*" + strings.Repeat("1", 40), err: "ERR Protocol error: too big mbulk count string", rest: 41},

		// The arguments.
		{in: "*1\r\nfoo\r\n", err: "ERR Protocol error: expected '$', got 'f'", rest: 9},
		{in: "*1\r\n*1\r\n$4\r\nPING\r\n", err: "ERR Protocol error: expected '$', got '*'", rest: 18},
		{in: "*1\r\n:1\r\n", err: "ERR Protocol error: expected '$', got ':'", rest: 8},
		{in: "*1\r\n\r\n", err: "ERR Protocol error: expected '$', got '\r'", rest: 6},
		{in: "*1\r\n\xff\r\n", err: "ERR Protocol error: expected '$', got '\xff'", rest: 7},
		{in: "*1\r\n$\r\n", err: "ERR Protocol error: invalid bulk length", rest: 7},
		{in: "*1\r\n$-1\r\n", err: "ERR Protocol error: invalid bulk length", rest: 9},
		{in: "*1\r\n$+4\r\nPING\r\n", err: "ERR Protocol error: invalid bulk length", rest: 15},
		{in: "*1\r\n$04\r\nPING\r\n", err: "ERR Protocol error: invalid bulk length", rest: 15},
		{in: "*1\r\n$00\r\n\r\n", err: "ERR Protocol error: invalid bulk length", rest: 11},
		{in: "*1\r\n$blabla\r\n", err: "ERR Protocol error: invalid bulk length", rest: 13},
		{in: "*1\r\n$51\r\n", err: "ERR Protocol error: invalid bulk length", rest: 9},
		{in: "*1\r\n$9223372036854775808\r\n", err: "ERR Protocol error: invalid bulk length", rest: 26},
		{in: "*1\r\n$51\r\n" + strings.Repeat("x", 51) + "\r\n", err: "ERR Protocol error: invalid bulk length", rest: 62},
		{in: "*1\r\n$4\rXPING\r\n", err: "ERR Protocol error: invalid bulk length", rest: 14},
		{in: "*1\r\n$3\r\nPING\r\n", err: "ERR Protocol error: invalid bulk length", rest: 14},
		{in: "*1\r\n$4\r\nPING\r\r", err: "ERR Protocol error: invalid bulk length", rest: 14},
		{in: "*1\r\n$4\r\nPING\n\n", err: "ERR Protocol error: invalid bulk length", rest: 14},
		{in: "*1\r\n$" + strings.Repeat("1", 40), err: "ERR Protocol error: too big bulk count string", rest: 45},
		{in: "*1\r\n$4\r\nPING\r\n*\r\n", commands: [][]string{ping}, err: "ERR Protocol error: invalid multibulk length", rest: 3},

		// In total.
		{in: "*3" + fifty + forty + "\r\n$6\r\n123456\r\n", commands: [][]string{{fifty[7:], forty[7:], "123456"}}},
		{in: "*3" + fifty + forty + "\r\n$7\r\n", err: "ERR Protocol error: too big request", rest: 112},
		{in: "*3" + fifty + forty + "\r\n$7\r\n1234567\r\n", err: "ERR Protocol error: too big request", rest: 121},
		{in: "*4" + fifty + forty + "\r\n$6\r\n123456\r\n", err: "ERR Protocol error: too big request", rest: 120},

		// Inline requests.
		{in: "PING\r\n", commands: [][]string{ping}},
		{in: "PING\n", commands: [][]string{ping}},
		{in: "\t SET  key\tvalue \r\n", commands: [][]string{{"SET", "key", "value"}}},
		{in: "a\rb\r\r\n", commands: [][]string{{"a", "b"}}},
		// \v is skipped before a word but doesn't end one
		{in: "\va\vb\v c\n", commands: [][]string{{"a\vb\v", "c"}}},
		{in: "1 2 3 4 5 6 7 8 9 10\n", commands: [][]string{{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}}},
		{in: "$4\r\nPING\r\n", commands: [][]string{{"$4"}, ping}},
		{in: "\x00a b\n", commands: [][]string{{"\x00a", "b"}}},
		{in: strings.Repeat("x", 40) + "\n", commands: [][]string{{strings.Repeat("x", 40)}}},
		{in: strings.Repeat("x", 41), err: "ERR Protocol error: too big inline request", rest: 41},
		{in: strings.Repeat("x", 41) + "\n", err: "ERR Protocol error: too big inline request", rest: 42},

		// Quotes.
		{in: `ECHO "a b"` + "\r\n", commands: [][]string{{"ECHO", "a b"}}},
		{in: `ECHO "" ''` + "\n", commands: [][]string{{"ECHO", "", ""}}},
		{in: `"\x41\n\r\t\b\a\\\"\q\xZZ\x4"` + "\n", commands: [][]string{{"A\n\r\t\b\a\\\"qxZZx4"}}},
		{in: `'it\'s \n "x"'` + "\n", commands: [][]string{{`it's \n "x"`}}},
		{in: `pre"fix ed"` + "\n", commands: [][]string{{"prefix ed"}}},
		{in: `"a"` + "\vb\n", commands: [][]string{{"a", "b"}}},
		// escapes need quotes around them
		{in: `back\"slash"` + "\n", commands: [][]string{{`back\slash`}}},
		{in: `ECHO "a`, rest: 7},
		{in: `ECHO "a` + "\r\n", err: "ERR Protocol error: unbalanced quotes in request", rest: 9},
		{in: `ECHO 'a\'` + "\r\n", err: "ERR Protocol error: unbalanced quotes in request", rest: 11},
		{in: `ECHO "a\` + "\r\n", err: "ERR Protocol error: unbalanced quotes in request", rest: 10},
		{in: `ECHO "a"b` + "\n", err: "ERR Protocol error: unbalanced quotes in request", rest: 10},
		{in: `it's` + "\n", err: "ERR Protocol error: unbalanced quotes in request", rest: 5},
		{in: `set """test-key""" test-value` + "\r\n", err: "ERR Protocol error: unbalanced quotes in request", rest: 31},
	} {
		want := result{test.commands, test.err, test.rest}
		if got := whole(test.in, small); !got.equal(want) {
			t.Errorf("%q:\n got %v\nwant %v", test.in, got, want)
		}
		if got := reference(test.in, small); !got.equal(want) {
			t.Errorf("%q: the reference is wrong:\n got %v\nwant %v", test.in, got, want)
		}
		if err := dribble(test.in, small, want); err != nil {
			t.Errorf("%q: %v", test.in, err)
		}
	}
}

// whole decodes all of in at once.
func whole(in string, l Limits) (r result) {
	d := NewDecoder(l)
	rest := []byte(in)
	for {
		var cmd Command
		n, err := d.Decode(rest, &cmd)
		if err != nil {
			r.err = err.Error()
		}
		if n == 0 {
			r.rest = len(rest)
			return r
		}
		r.commands = append(r.commands, arguments(&cmd))
		rest = rest[n:]
	}
}

// dribble decodes in byte by byte, each time from other memory and into another
// command, and checks what Need says.
func dribble(in string, l Limits, want result) error {
	d := NewDecoder(l)
	var got result
	at := 0
	for end := 1; end <= len(in); {
		need := d.Need()
		if need > l.resolved().MaxRequest {
			return fmt.Errorf("at %d: needs %d bytes, which is over the limit", at, need)
		}
		cmd := Command{argc: 3}
		n, err := d.Decode([]byte(in[at:end]), &cmd)
		if err != nil {
			got.err = err.Error()
			break
		}
		if n == 0 {
			if cmd.Len() != 0 {
				return fmt.Errorf("at %d: no request, but %d arguments", at, cmd.Len())
			}
			if err := undecided(in[at:], d.Need(), l); err != nil {
				return err
			}
			end++
			continue
		}
		if n < need || at+n != end {
			return fmt.Errorf("at %d: %d bytes taken of %d, %d needed", at, n, end-at, need)
		}
		got.commands = append(got.commands, arguments(&cmd))
		at, end = end, end+1
	}
	got.rest = len(in) - at
	if !got.equal(want) {
		return fmt.Errorf("byte by byte:\n got %v\nwant %v", got, want)
	}
	return nil
}

// undecided checks that fewer than need bytes are neither a request nor an error,
// by a Decoder that remembers nothing.
func undecided(in string, need int, l Limits) error {
	d := NewDecoder(l)
	var cmd Command
	if n, err := d.Decode([]byte(in[:min(len(in), need-1)]), &cmd); n != 0 || err != nil {
		return fmt.Errorf("%q: needs %d bytes, but one less gives %d, %v", in, need, n, err)
	}
	return nil
}

// arguments reads a command in both ways, which must agree.
func arguments(cmd *Command) (args []string) {
	for i := range cmd.Len() {
		args = append(args, string(cmd.Arg(i)))
	}
	for _, from := range []int{0, 1, cached - 1, cached, cached + 1, cmd.Len() - 1, cmd.Len(), cmd.Len() + 1} {
		if from < 0 {
			continue
		}
		rest := cmd.Args(from)
		for i := from; i < len(args); i++ {
			if arg, ok := rest.Next(); !ok || string(arg) != args[i] || rest.Len() != len(args)-i-1 {
				panic(fmt.Sprintf("Args(%d) reads %q, Arg(%d) is %q", from, arg, i, args[i]))
			}
		}
		if arg, ok := rest.Next(); ok || rest.Len() != 0 {
			panic(fmt.Sprintf("Args(%d) reads %q behind the end", from, arg))
		}
	}
	return args
}

func TestErrorsAreSentinels(t *testing.T) {
	for in, want := range map[string]error{
		"*x\r\n":                                ErrMultibulkLength,
		"*1\r\n$x\r\n":                          ErrBulkLength,
		"*1\r\nfoo\r\n":                         ErrExpectedBulk,
		"'\n":                                   ErrQuotes,
		strings.Repeat("x", 64<<10+1):           ErrInlineTooBig,
		"*" + strings.Repeat("1", 64<<10):       ErrMultibulkCount,
		"*1\r\n$" + strings.Repeat("1", 64<<10): ErrBulkCount,
	} {
		var d Decoder
		var cmd Command
		if n, err := d.Decode([]byte(in), &cmd); n != 0 || !errors.Is(err, want) {
			t.Errorf("%.20q: %d, %v; want %v", in, n, err, want)
		}
	}
}

// TestDefaultLimits: a length is refused when it is announced.
func TestDefaultLimits(t *testing.T) {
	for in, want := range map[string]error{
		"*1048576\r\n":              nil,
		"*1048577\r\n":              ErrMultibulkLength,
		"*1\r\n$67108864\r\n":       nil,
		"*1\r\n$67108865\r\n":       ErrBulkLength,
		strings.Repeat("x", 64<<10): nil,
	} {
		var d Decoder
		var cmd Command
		if n, err := d.Decode([]byte(in), &cmd); n != 0 || err != want {
			t.Errorf("%.20q: %d, %v; want %v", in, n, err, want)
		}
	}
	if got, want := (Limits{}).resolved().MaxRequest, 65<<20; got != want {
		t.Errorf("MaxRequest is %d by default, want %d", got, want)
	}
}

func TestLimitsOutOfRangePanic(t *testing.T) {
	above := math.MaxInt32
	above++ // negative where int is short
	for _, l := range []Limits{{MaxBulk: -1}, {MaxArgs: -1}, {MaxInline: -1}, {MaxRequest: -1}, {MaxDepth: -1}, {MaxBulk: above}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", l)
				}
			}()
			NewDecoder(l)
		}()
	}
}

func TestNeedOfLongArgument(t *testing.T) {
	var d Decoder
	var cmd Command
	if n, err := d.Decode([]byte("*2\r\n$3\r\nGET\r\n$1000000\r\nabc"), &cmd); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if got, want := d.Need(), len("*2\r\n$3\r\nGET\r\n$1000000\r\n")+1000000+2; got != want {
		t.Errorf("Need() = %d, want %d", got, want)
	}
	d.Reset()
	if d.Need() != 1 {
		t.Errorf("Need() = %d after Reset, want 1", d.Need())
	}
}

// TestReadBytesAreNotReadAgain spoils what a Decoder has already read: if it went
// back there, which would be quadratic for small pieces, it would notice.
func TestReadBytesAreNotReadAgain(t *testing.T) {
	in := mget(1000)
	keep := len(mget(cached)) // the first arguments are looked up again at the end
	var d Decoder
	var cmd Command
	spoiled := keep
	for end := range len(in) {
		if n, err := d.Decode(in[:end], &cmd); n != 0 || err != nil {
			t.Fatal(end, n, err)
		}
		for ; spoiled < d.off; spoiled++ {
			in[spoiled] = 'x'
		}
		if unread := end - d.off; unread > len("$16\r\nkey:000000000000\r\n") {
			t.Fatalf("%d bytes are there, but %d are not read", end, unread)
		}
	}
	if n, err := d.Decode(in, &cmd); n != len(in) || err != nil || cmd.Len() != 1001 {
		t.Errorf("%d of %d bytes, %v, %d arguments", n, len(in), err, cmd.Len())
	}

	for _, test := range []struct {
		head string
		want error
	}{
		{"x", ErrInlineTooBig}, {"*", ErrMultibulkCount}, {"*1\r\n", ErrBulkCount},
	} {
		in := append([]byte(test.head), bytes.Repeat([]byte("x"), 64<<10+1)...)
		var err error
		spoiled := len(test.head)
		for end := 1; end <= len(in) && err == nil; end++ {
			_, err = d.Decode(in[:end], &cmd)
			for ; spoiled < end; spoiled++ {
				in[spoiled] = "\n\r"[spoiled%2]
			}
		}
		if err != test.want {
			t.Errorf("%q: %v, want %v", test.head, err, test.want)
		}
	}
}

func TestParseInt(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "7": 7, "-7": -7, "10": 10,
		"9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63,
	} {
		if got, ok := ParseInt([]byte(in)); got != want || !ok {
			t.Errorf("%q: %d, %v", in, got, ok)
		}
	}
	for _, in := range []string{
		"", "-", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1.0", "0x1", "--1",
		"9223372036854775808", "-9223372036854775809", "18446744073709551616", "99999999999999999999",
	} {
		if got, ok := ParseInt([]byte(in)); ok {
			t.Errorf("%q is %d", in, got)
		}
	}
}
