package resp_test

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/channel/resp"
)

// A server: as many requests as the input holds, each answered in its turn.
func ExampleCodec() {
	var codec resp.Codec // one a connection
	var cmd resp.Command
	in := []byte("PING\r\n\r\n*2\r\n$4\r\necho\r\n$5\r\nhello\r\n*1\r\n$5\r\nRESET\r\n*2\r\n$3\r\nGET\r\n$1")
	var out []byte
	for {
		n, err := codec.Decode(in, &cmd)
		if err != nil {
			out = codec.Encode(out, nil, err) // then close
			break
		}
		if n == 0 {
			break // read more
		}
		in = in[n:]
		var rep resp.Reply
		switch {
		case cmd.Len() == 0: // an empty request has no answer
			continue
		case cmd.Is("PING"):
			rep = resp.Pong()
		case cmd.Is("ECHO") && cmd.Len() == 2:
			rep = resp.Bulk(cmd.Arg(1))
		default:
			err = errors.New("unknown command")
		}
		out = codec.Encode(out, &rep, err)
	}
	fmt.Printf("%q\n", out)
	fmt.Printf("waits for byte %d behind %q\n", codec.Need(), in)
	// Output:
	// "+PONG\r\n$5\r\nhello\r\n-ERR unknown command\r\n"
	// waits for byte 16 behind "*2\r\n$3\r\nGET\r\n$1"
}

// A command that outlives its input.
func ExampleCommand_Rebase() {
	var d resp.Decoder
	var cmd resp.Command
	in := []byte("SET key value\r\n")
	d.Decode(in, &cmd)

	kept := cmd
	kept.Rebase(append([]byte(nil), cmd.Raw()...))
	clear(in)
	fmt.Printf("%s %s %s\n", kept.Arg(0), kept.Arg(1), kept.Arg(2))
	// Output: SET key value
}

// All keys of an MGET, in one pass.
func ExampleCommand_Args() {
	var d resp.Decoder
	var cmd resp.Command
	d.Decode(resp.AppendCommand(nil, "MGET", "a", "b", "c"), &cmd)

	keys := cmd.Args(1)
	out := resp.AppendArray(nil, keys.Len())
	for key, ok := keys.Next(); ok; key, ok = keys.Next() {
		out = resp.AppendBulk(out, key)
	}
	rep := resp.Raw(out)
	fmt.Printf("%q\n", resp.AppendReply(nil, &rep))
	// Output: "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
}

// The same answers on connections that speak either version.
func ExampleVersion() {
	for _, version := range []resp.Version{resp.V2, resp.V3} {
		out := version.AppendMap(nil, 1)
		out = resp.AppendBulkString(out, "proto")
		out = resp.AppendInt(out, int64(version))
		hello := resp.Raw(out)

		none := resp.Nil()
		none.Version = version
		fmt.Printf("%q %q\n", resp.AppendReply(nil, &hello), resp.AppendReply(nil, &none))
	}
	// Output:
	// "*2\r\n$5\r\nproto\r\n:2\r\n" "$-1\r\n"
	// "%1\r\n$5\r\nproto\r\n:3\r\n" "_\r\n"
}

// A client.
func ExampleDecodeReply() {
	in := []byte("*2\r\n$5\r\nhello\r\n:7\r\n")
	var v resp.Value
	n, err := resp.DecodeReply(in, &v, resp.Limits{})
	fmt.Println(n, err, v.Int, "elements")
	for elems := v.Elems(); ; {
		elem, ok := elems.Next()
		if !ok {
			break
		}
		fmt.Printf("%q %d\n", elem.Str, elem.Int)
	}
	// Output:
	// 19 <nil> 2 elements
	// "hello" 0
	// "" 7
}
