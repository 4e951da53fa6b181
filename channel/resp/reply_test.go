package resp

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
)

func TestReplies(t *testing.T) {
	for _, test := range []struct {
		reply Reply
		want  string
	}{
		{OK(), "+OK\r\n"},
		{Pong(), "+PONG\r\n"},
		{Simple("two\r\nlines"), "+two  lines\r\n"},
		{Err("ERR syntax error"), "-ERR syntax error\r\n"},
		{Err("ERR a\nb\rc\r\n"), "-ERR a b c  \r\n"},
		{Int(0), ":0\r\n"},
		{Int(9), ":9\r\n"},
		{Int(10), ":10\r\n"},
		{Int(-1), ":-1\r\n"},
		{Int(math.MinInt64), ":-9223372036854775808\r\n"},
		{Bulk(nil), "$0\r\n\r\n"},
		{Bulk([]byte("two\r\nlines")), "$10\r\ntwo\r\nlines\r\n"},
		{Nil(), "$-1\r\n"},
		{Reply{}, "$-1\r\n"},
		{NilArray(), "*-1\r\n"},
		{Raw(AppendNil(AppendBulkString(AppendArray(nil, 2), "a"))), "*2\r\n$1\r\na\r\n$-1\r\n"},
	} {
		if got := string(AppendReply([]byte("before"), &test.reply)); got != "before"+test.want {
			t.Errorf("%+v: %q, want %q", test.reply, got, test.want)
		}
	}
}

// TestVersions: the same reply in both versions.
func TestVersions(t *testing.T) {
	for _, test := range []struct {
		reply  Reply
		v2, v3 string
	}{
		{Nil(), "$-1\r\n", "_\r\n"},
		{NilArray(), "*-1\r\n", "_\r\n"},
		{Bool(true), ":1\r\n", "#t\r\n"},
		{Bool(false), ":0\r\n", "#f\r\n"},
		{Double(3), "$1\r\n3\r\n", ",3\r\n"},
		{Double(-1.1), "$19\r\n-1.1000000000000001\r\n", ",-1.1000000000000001\r\n"},
		{Double(1e16), "$17\r\n10000000000000000\r\n", ",10000000000000000\r\n"},
		{Double(1e17), "$5\r\n1e+17\r\n", ",1e+17\r\n"},
		{Double(0.0001), "$6\r\n0.0001\r\n", ",0.0001\r\n"},
		{Double(1e-5), "$22\r\n1.0000000000000001e-05\r\n", ",1.0000000000000001e-05\r\n"},
		{Double(-math.MaxFloat64), "$24\r\n-1.7976931348623157e+308\r\n", ",-1.7976931348623157e+308\r\n"},
		{Double(math.Inf(1)), "$3\r\ninf\r\n", ",inf\r\n"},
		{Double(math.Inf(-1)), "$4\r\n-inf\r\n", ",-inf\r\n"},
		{Double(math.NaN()), "$3\r\nnan\r\n", ",nan\r\n"},
		{Verbatim("txt", []byte("a\r\nb")), "$4\r\na\r\nb\r\n", "=8\r\ntxt:a\r\nb\r\n"},
		{OK(), "+OK\r\n", "+OK\r\n"},
		{Bulk([]byte("x")), "$1\r\nx\r\n", "$1\r\nx\r\n"},
		{Raw([]byte("$-1\r\n")), "$-1\r\n", "$-1\r\n"},
		{Raw(V2.AppendMap(nil, 2)), "*4\r\n", "*4\r\n"},
		{Raw(V3.AppendMap(nil, 2)), "%2\r\n", "%2\r\n"},
		{Raw(V2.AppendSet(nil, 2)), "*2\r\n", "*2\r\n"},
		{Raw(V3.AppendSet(nil, 10)), "~10\r\n", "~10\r\n"},
		{Raw(V2.AppendPush(nil, 2)), "*2\r\n", "*2\r\n"},
		{Raw(V3.AppendPush(nil, 2)), ">2\r\n", ">2\r\n"},
		{Raw(V2.AppendBig(nil, "-12")), "$3\r\n-12\r\n", "$3\r\n-12\r\n"},
		{Raw(V3.AppendBig(nil, "-12\r\n")), "(-12  \r\n", "(-12  \r\n"},
	} {
		for version, want := range map[Version]string{0: test.v2, V2: test.v2, V3: test.v3} {
			test.reply.Version = version
			if got := string(AppendReply([]byte("before"), &test.reply)); got != "before"+want {
				t.Errorf("%+v: %q, want %q", test.reply, got, want)
			}
		}
	}
}

func TestFormatOfNoThreeLettersPanics(t *testing.T) {
	for _, version := range []Version{V2, V3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a format of four letters is accepted in version", version)
				}
			}()
			version.AppendVerbatim(nil, "text", nil)
		}()
	}
}

func TestEncodeErrors(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{ErrBulkLength, "-ERR Protocol error: invalid bulk length\r\n"},
		{unexpected('\n'), "-ERR Protocol error: expected '$', got ' '\r\n"},
		{errors.New("WRONGTYPE Operation against a key"), "-WRONGTYPE Operation against a key\r\n"},
		{errors.New("mailbox full"), "-ERR mailbox full\r\n"},
		{errors.New(""), "-ERR \r\n"},
		{errors.New(" x"), "-ERR  x\r\n"},
		{io.EOF, "-ERR EOF\r\n"},
		{fmt.Errorf("get:\r\n%w", io.EOF), "-ERR get:  EOF\r\n"},
	} {
		var c Codec
		if got := string(c.Encode(nil, nil, test.err)); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}

func TestReplyOfNoKindPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an array is accepted as a Reply")
		}
	}()
	AppendReply(nil, &Reply{Kind: KindArray})
}

func TestAppendCommand(t *testing.T) {
	want := "*2\r\n$3\r\nGET\r\n$0\r\n\r\n"
	if got := string(AppendCommand(nil, "GET", "")); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(AppendCommand(nil, []byte("GET"), nil)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
