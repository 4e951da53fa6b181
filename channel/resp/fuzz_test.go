package resp

import (
	"bytes"
	"strings"
	"testing"
)

// longest keeps the fuzzers, which try every split, quick.
const longest = 1 << 10

// FuzzCommand compares decoding at once, byte by byte, and by the reference.
func FuzzCommand(f *testing.F) {
	for _, in := range []string{
		"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*0\r\n\r\nPING\r\n",
		"*12\r\n" + strings.Repeat("$1\r\nx\r\n", 12) + "*-5\r\n",
		"*3\r\n$30\r\n" + strings.Repeat("x", 30) + "\r\n$50\r\n" + strings.Repeat("y", 50) + "\r\n$7\r\n",
		"*1\r\n*1\r\n", "*01\r\n", "*1\r\n$-1\r\n", "*1\r\n$4\r\nPINGxx",
		"*" + strings.Repeat("1", 50), "*1\r\n$" + strings.Repeat("1", 50), strings.Repeat("x", 50),
		"set 'a\\'b' \"\\x41\\n\"\r\n", "a\"b\n",
	} {
		f.Add([]byte(in), true)
		f.Add([]byte(in), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, tight bool) {
		if len(in) > longest {
			return
		}
		var limits Limits
		if tight {
			limits = small
		}
		check(t, string(in), limits)
	})
}

func check(t *testing.T, in string, limits Limits) {
	t.Helper()
	want := reference(in, limits)
	if got := whole(in, limits); !got.equal(want) {
		t.Fatalf("%q:\n got %v\nwant %v", in, got, want)
	}
	if err := dribble(in, limits, want); err != nil {
		t.Fatalf("%q: %v", in, err)
	}
}

// FuzzInline does the same for single lines, and sends each command that it finds
// as a client would: the server must find the same in it.
func FuzzInline(f *testing.F) {
	for _, in := range []string{
		"PING", " SET  key\tvalue ", "a\rb\r", "\va\vb\v c", `ECHO "a b" ''`, `"\x41\n\r\t\b\a\\\"\q\xZZ\x4"`,
		`'it\'s \n "x"'`, `pre"fix ed"`, `"a"` + "\v'b'", `"a"b`, `it's`, `"\`, "\x00", "1 2 3 4 5 6 7 8 9 10",
	} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > longest || strings.HasPrefix(line, "*") || strings.Contains(line, "\n") {
			return
		}
		check(t, line+"\r\n", Limits{})
		inline := whole(line+"\r\n", Limits{})
		if len(inline.commands) == 0 || len(inline.commands[0]) == 0 {
			return
		}
		multibulk := whole(string(AppendCommand(nil, inline.commands[0]...)), Limits{})
		if !multibulk.equal(inline) {
			t.Fatalf("%q:\n       got %v\nas multibulk %v", line, inline, multibulk)
		}
	})
}

// FuzzReply reads the input as a recipe for a reply, whose encoding must decode to
// it; and as a reply, whose decoding must encode to it.
func FuzzReply(f *testing.F) {
	for _, in := range []string{
		"", "+OK\r\n", "-ERR\r\n", ":-1\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*-1\r\n",
		"*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n", "*1\r\n*1\r\n*0\r\n", "*1000000\r\n:1\r\n", "$1\r\nabc",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > longest {
			return
		}
		var v Value
		if n, err := DecodeReply(in, &v, Limits{}); n > 0 {
			if again := appendValue(nil, v); err != nil || !bytes.Equal(again, in[:n]) {
				t.Fatalf("%q: %v, encodes as %q", in, err, again)
			}
		}
		encoded, want, _ := cook(nil, in, 0)
		if n, err := DecodeReply(append(encoded, in...), &v, Limits{}); n != len(encoded) || err != nil || text(v) != want {
			t.Fatalf("%q: %d of %d bytes, %v, %s; want %s", encoded, n, len(encoded), err, text(v), want)
		}
		for end := range encoded {
			if n, err := DecodeReply(encoded[:end], &v, Limits{}); n != 0 || err != nil {
				t.Fatalf("%q: %d, %v, though its end is missing", encoded[:end], n, err)
			}
		}
	})
}

// appendValue encodes what was decoded.
func appendValue(out []byte, v Value) []byte {
	switch v.Kind {
	case KindArray:
		out = AppendArray(out, int(v.Int))
		for elems := v.Elems(); ; {
			elem, ok := elems.Next()
			if !ok {
				return out
			}
			out = appendValue(out, elem)
		}
	case KindSimple:
		return append(append(append(out, '+'), v.Str...), "\r\n"...) // a bare LF in it is kept
	case KindError:
		return append(append(append(out, '-'), v.Str...), "\r\n"...)
	}
	return AppendReply(out, &Reply{Kind: v.Kind, Int: v.Int, Str: v.Str})
}

// cook appends a reply made after a recipe; want is its text.
func cook(out, recipe []byte, depth int) (encoded []byte, want string, rest []byte) {
	if len(recipe) == 0 {
		return AppendNil(out), "nil", nil
	}
	kind, rest := recipe[0]%7, recipe[1:]
	size := min(int(recipe[0]/7), len(rest))
	switch {
	case kind == 0:
		return AppendNilArray(out), "nil array", rest
	case kind == 1:
		n := int64(size) << recipe[0]
		return AppendInt(out, n), text(Value{Kind: KindInt, Int: n}), rest
	case kind == 2:
		line := strings.NewReplacer("\r", " ", "\n", " ").Replace(string(rest[:size]))
		return AppendSimple(out, string(rest[:size])), "+" + line, rest[size:]
	case kind == 3:
		line := strings.NewReplacer("\r", " ", "\n", " ").Replace(string(rest[:size]))
		return AppendError(out, string(rest[:size])), "-" + line, rest[size:]
	case kind == 4 || depth == 31:
		return AppendBulk(out, rest[:size]), text(Value{Kind: KindBulk, Str: rest[:size]}), rest[size:]
	}
	out = AppendArray(out, size)
	all := make([]string, size)
	for i := range all {
		out, all[i], rest = cook(out, rest, depth+1)
	}
	return out, "[" + strings.Join(all, " ") + "]", rest
}
