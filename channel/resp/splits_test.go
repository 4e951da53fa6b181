package resp_test

import (
	"fmt"
	"testing"

	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// commands is a Decoder whose commands are copied.
type commands struct{ resp.Decoder }

func (c *commands) Decode(in []byte, args *[]string) (n int, err error) {
	var cmd resp.Command
	n, err = c.Decoder.Decode(in, &cmd)
	for i := range cmd.Len() {
		*args = append(*args, string(cmd.Arg(i)))
	}
	return n, err
}

// values is a ReplyDecoder whose values are copied.
type values struct{ resp.ReplyDecoder }

func (v *values) Decode(in []byte, value *string) (n int, err error) {
	var reply resp.Value
	n, err = v.ReplyDecoder.Decode(in, &reply)
	*value = fmt.Sprintf("%v %d %q", reply.Kind, reply.Int, reply.Str)
	return n, err
}

// TestG22SplitAtEveryByte: requests and replies read the same wherever their stream is cut.
func TestG22SplitAtEveryByte(t *testing.T) {
	asks := func() housetest.Decoder[[]string] { return &commands{resp.NewDecoder(resp.Limits{})} }
	for _, text := range []string{
		"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*3\r\n$3\r\nSET\r\n$0\r\n\r\n$5\r\na\r\nbc\r\n",
		"PING\r\nGET  a\t\"b\\x00 c\"\r\n\r\nSET 'x y' z\nQUIT\r\n",
		"*1\r\n$4\r\nPING\r\n*-1\r\n*0\r\n*1\r\n$4\r\nPINGx",
		"*2\r\n$3\r\nGET\r\n$-3\r\n",
		"*1\r\n:3\r\n",
		"GET \"open\r\n",
	} {
		housetest.RequireSplits(t, asks, []byte(text))
	}
	replies := func() housetest.Decoder[string] { return &values{resp.NewReplyDecoder(resp.Limits{})} }
	for _, text := range []string{
		"+OK\r\n-ERR no\r\n:42\r\n$-1\r\n$3\r\nabc\r\n*-1\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n",
		"%1\r\n+a\r\n:1\r\n~2\r\n:1\r\n:2\r\n#t\r\n_\r\n,1.5\r\n(123456789012345678901\r\n=7\r\ntxt:abc\r\n",
		"$3\r\nabcd\r\n",
		"?what\r\n",
	} {
		housetest.RequireSplits(t, replies, []byte(text))
	}
}
