package resp

import (
	"fmt"
	"testing"
)

// pipeline is 16 GETs, or 16 SETs, of different keys, as one read brings them.
const pipelined = 16

func gets() (in []byte) {
	for i := range pipelined {
		in = AppendCommand(in, "GET", fmt.Sprintf("key:%012d", i))
	}
	return in
}

func sets() (in []byte) {
	for i := range pipelined {
		in = AppendCommand(in, "SET", fmt.Sprintf("key:%012d", i), "0123456789abcdef0123456789abcdef")
	}
	return in
}

// One op is one GET decoded, of a pipeline of 16, and its key looked at.
func BenchmarkDecodeGET(b *testing.B) { benchmarkDecode(b, gets()) }

// One op is one SET of 32 bytes decoded, of a pipeline of 16.
func BenchmarkDecodeSET(b *testing.B) { benchmarkDecode(b, sets()) }

func benchmarkDecode(b *testing.B, in []byte) {
	var d Decoder
	var cmd Command
	sum := 0
	b.SetBytes(int64(len(in) / pipelined))
	rest := in
	for b.Loop() {
		n, err := d.Decode(rest, &cmd)
		if n == 0 || err != nil {
			b.Fatal(n, err)
		}
		sum += len(cmd.Arg(1))
		if rest = rest[n:]; len(rest) == 0 {
			rest = in
		}
	}
	if sum == 0 {
		b.Fatal("nothing decoded")
	}
}

// One op is one GET of a pipeline of 16 decoded, matched, and answered with 32 bytes.
func BenchmarkServeGET(b *testing.B) {
	var c Codec
	var cmd Command
	in, value := gets(), make([]byte, 32)
	out := make([]byte, 0, 4096)
	rest := in
	for b.Loop() {
		n, err := c.Decode(rest, &cmd)
		if err != nil || !cmd.Is("get") {
			b.Fatal(n, err)
		}
		rep := Bulk(value)
		out = c.Encode(out, &rep, nil)
		if rest = rest[n:]; len(rest) == 0 {
			rest, out = in, out[:0]
		}
	}
}

// One op is one inline request of two words decoded.
func BenchmarkDecodeInline(b *testing.B) {
	var d Decoder
	var cmd Command
	in := []byte("GET key:000000000001\r\n")
	for b.Loop() {
		if n, err := d.Decode(in, &cmd); n != len(in) || err != nil {
			b.Fatal(n, err)
		}
	}
}

// One op is one MGET of 1,000 keys decoded and walked.
func BenchmarkDecodeMGET1000(b *testing.B) {
	var d Decoder
	var cmd Command
	in := mget(1000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if n, err := d.Decode(in, &cmd); n != len(in) || err != nil {
			b.Fatal(n, err)
		}
		for args := cmd.Args(1); ; {
			if _, ok := args.Next(); !ok {
				break
			}
		}
	}
}

// One op is one reply appended.
func BenchmarkAppendReply(b *testing.B) {
	for _, t := range []struct {
		name string
		rep  Reply
	}{
		{"OK", OK()}, {"Double", Double(-0.1)}, {"Nil", Nil()}, {"Int", Int(1234567)}, {"Bulk32", Bulk(make([]byte, 32))},
	} {
		b.Run(t.name, func(b *testing.B) {
			out := make([]byte, 0, 64)
			for b.Loop() {
				out = AppendReply(out[:0], &t.rep)
			}
		})
	}
}

func mget(keys int) []byte {
	in := AppendArray(nil, keys+1)
	in = AppendBulkString(in, "MGET")
	for i := range keys {
		in = AppendBulkString(in, fmt.Sprintf("key:%012d", i))
	}
	return in
}
