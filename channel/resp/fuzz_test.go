package resp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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
		"_\r\n", "#t\r\n", "#f\r\n", ",1.50e-7\r\n", ",-inf\r\n", "(-123456789012345678901234567890\r\n",
		"=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n", "%2\r\n+a\r\n_\r\n+b\r\n~1\r\n:1\r\n", ">2\r\n+message\r\n+x\r\n",
		"|1\r\n+ttl\r\n:9\r\n*1\r\n|0\r\n:1\r\n", "*1\r\n>0\r\n",
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > longest {
			return
		}
		var v Value
		n, err := DecodeReply(in, &v, Limits{})
		want, size, wantErr := referenceValue(string(in), Limits{}.resolved(), 0)
		if n != size || err != wantErr || n > 0 && text(v) != want {
			t.Fatalf("%q: %d bytes, %v, %s; want %d, %v, %s", in, n, err, text(v), size, wantErr, want)
		}
		if again := appendValue(nil, v); n > 0 && !bytes.Equal(again, in[:n]) && bytes.IndexByte(in, '|') < 0 {
			t.Fatalf("%q encodes as %q", in[:n], again) // but for attributes, which are lost
		}
		encoded, want, _ := cook(nil, in, 0)
		if n, err = DecodeReply(append(encoded, in...), &v, Limits{}); n != len(encoded) || err != nil || text(v) != want {
			t.Fatalf("%q: %d of %d bytes, %v, %s; want %s", encoded, n, len(encoded), err, text(v), want)
		}
		for end := 0; end < len(encoded); end += 1 + len(encoded)/longest {
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
	case KindMap:
		out = V3.AppendMap(out, int(v.Int))
	case KindSet:
		out = V3.AppendSet(out, int(v.Int))
	case KindPush:
		out = V3.AppendPush(out, int(v.Int))
	case KindSimple:
		return line(out, '+', v.Str) // a bare LF in it is kept
	case KindError:
		return line(out, '-', v.Str)
	case KindDouble:
		return line(out, ',', v.Str)
	case KindBig:
		return line(out, '(', v.Str)
	case KindBulkError:
		return append(append(appendNumber(out, '!', int64(len(v.Str))), v.Str...), "\r\n"...)
	case KindVerbatim:
		return V3.AppendVerbatim(out, string(v.Str[:3]), v.Str[4:])
	case KindNull:
		return V3.AppendNil(out)
	case KindBool:
		return V3.AppendBool(out, v.Int == 1)
	default:
		return AppendReply(out, &Reply{Kind: v.Kind, Int: v.Int, Str: v.Str})
	}
	for elems := v.Elems(); ; {
		elem, ok := elems.Next()
		if !ok {
			return out
		}
		out = appendValue(out, elem)
	}
}

func line(out []byte, mark byte, text []byte) []byte {
	return append(append(append(out, mark), text...), "\r\n"...)
}

// cook appends a reply made after a recipe; want is its text.
func cook(out, recipe []byte, depth int) (encoded []byte, want string, rest []byte) {
	if len(recipe) == 0 {
		return V3.AppendNil(out), "null", nil
	}
	kind, rest := recipe[0]%13, recipe[1:]
	size := min(int(recipe[0]/13), len(rest))
	version := V2 + Version(recipe[0]&1)
	// inWords is what a kind comes out as that RESP2 lacks.
	inWords := func(v3, v2 Value) string {
		if version == V2 {
			return text(v2)
		}
		return text(v3)
	}
	switch {
	case kind == 0:
		return version.AppendNilArray(out), inWords(Value{Kind: KindNull}, Value{Kind: KindNilArray}), rest
	case kind == 1:
		n := int64(size) << recipe[0]
		return AppendInt(out, n), text(Value{Kind: KindInt, Int: n}), rest
	case kind == 2:
		line := strings.NewReplacer("\r", " ", "\n", " ").Replace(string(rest[:size]))
		return AppendSimple(out, string(rest[:size])), "+" + line, rest[size:]
	case kind == 3:
		line := strings.NewReplacer("\r", " ", "\n", " ").Replace(string(rest[:size]))
		return AppendError(out, string(rest[:size])), "-" + line, rest[size:]
	case kind == 4:
		return version.AppendNil(out), inWords(Value{Kind: KindNull}, Value{}), rest
	case kind == 5:
		n := int64(size & 1)
		return version.AppendBool(out, n == 1), inWords(Value{Kind: KindBool, Int: n}, Value{Kind: KindInt, Int: n}), rest
	case kind == 6:
		var bits [8]byte
		rest = rest[copy(bits[:], rest):]
		f := math.Float64frombits(binary.LittleEndian.Uint64(bits[:]))
		spelled := []byte(strings.NewReplacer("+Inf", "inf", "-Inf", "-inf", "NaN", "nan").Replace(fmt.Sprintf("%.17g", f)))
		return version.AppendDouble(out, f), inWords(Value{Kind: KindDouble, Str: spelled}, Value{Kind: KindBulk, Str: spelled}), rest
	case kind == 7:
		body := rest[:size]
		tagged := append([]byte("mkd:"), body...)
		return version.AppendVerbatim(out, "mkd", body), inWords(Value{Kind: KindVerbatim, Str: tagged}, Value{Kind: KindBulk, Str: body}), rest[size:]
	case kind == 8 || depth == 31:
		return AppendBulk(out, rest[:size]), text(Value{Kind: KindBulk, Str: rest[:size]}), rest[size:]
	}
	open, n := "[", size
	switch {
	case kind == 9:
		out, n = version.AppendMap(out, size), 2*size
		open = "%["
	case kind == 10:
		out, open = version.AppendSet(out, size), "~["
	case kind == 11 && depth == 0:
		out, open = version.AppendPush(out, size), ">["
	default:
		out, version = AppendArray(out, size), V2
	}
	if version == V2 {
		open = "["
	}
	all := make([]string, n)
	for i := range all {
		out, all[i], rest = cook(out, rest, depth+1)
	}
	return out, open + strings.Join(all, " ") + "]", rest
}
