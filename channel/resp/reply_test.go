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
