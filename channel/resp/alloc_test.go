package resp

import (
	"strings"
	"testing"

	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestServeAllocatesNothing answers 1,000,000 GETs and SETs, whole and in pieces.
func TestServeAllocatesNothing(t *testing.T) {
	for _, piece := range []int{1 << 20, 50} {
		var c Codec
		var cmd Command
		in := append(gets(), sets()...)
		out, value := make([]byte, 0, 4096), make([]byte, 32)
		serve := func() {
			out = out[:0]
			at, end := 0, 0
			for at < len(in) {
				n, err := c.Decode(in[at:end], &cmd)
				if n == 0 {
					if err != nil || end == len(in) {
						panic("the pipeline is spoiled")
					}
					end = min(len(in), max(end+piece, at+c.Need()))
					continue
				}
				at += n
				rep := OK()
				if cmd.Is("GET") {
					rep = Bulk(value)
				}
				out = c.Encode(out, &rep, nil)
			}
		}
		housetest.ZeroAlloc(t, 1_000_000, func(n int) {
			for range n / (2 * pipelined) {
				serve()
			}
		})
	}
}

// TestRestAllocatesNothing covers the other paths, errors included.
func TestRestAllocatesNothing(t *testing.T) {
	var d Decoder
	var cmd Command
	var v Value
	out := make([]byte, 0, 1<<10)
	long := mget(100)
	replies := []byte("*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n")
	replies3 := []byte("|1\r\n+ttl\r\n:1\r\n%2\r\n#t\r\n,-1.5e-10\r\n_\r\n~3\r\n(123\r\n=4\r\ntxt:\r\n!1\r\nE\r\n")
	text := []byte("for people")
	bad := [][]byte{
		[]byte("*x\r\n"), []byte("*1\r\nfoo\r\n"), []byte("*1\r\n$x\r\n"), []byte("*1\r\n$99999999999\r\n"),
		[]byte("*1048577\r\n"), []byte(strings.Repeat("x", 64<<10+1)),
	}
	inline := []byte("GET key\r\n")
	housetest.ZeroAlloc(t, 1000, func(n int) {
		for range n {
			for _, in := range bad {
				if _, err := d.Decode(in, &cmd); err == nil {
					panic("a bad request is accepted")
				}
			}
			d.Decode(inline, &cmd)
			d.Decode(long, &cmd)
			for args := cmd.Args(1); args.Len() > 0; {
				args.Next()
			}
			cmd.Arg(50)
			out = AppendCommand(out[:0], "SET", "key", "value")
			for _, in := range [][]byte{replies, replies3} {
				if n, err := DecodeReply(in, &v, Limits{}); n != len(in) || err != nil {
					panic("a good reply is refused")
				}
				for elems := v.Elems(); ; {
					elem, ok := elems.Next()
					if !ok {
						break
					}
					elem.Float()
				}
			}
			for _, version := range []Version{V2, V3} {
				out = version.AppendPush(version.AppendSet(version.AppendMap(out[:0], 1), 1), 1)
				out = version.AppendBig(version.AppendNilArray(out), "-123")
				for _, rep := range []Reply{Nil(), Bool(true), Double(-0.1), Verbatim("txt", text)} {
					rep.Version = version
					out = AppendReply(out, &rep)
				}
			}
		}
	})
}

// TestG22LyingLengthsAllocateNothing: what is announced costs nothing until it comes.
func TestG22LyingLengthsAllocateNothing(t *testing.T) {
	for _, in := range []string{
		"*1048576\r\n", "*1\r\n$67108864\r\n", "$67108864\r\n", strings.Repeat("*1048576\r\n", 32),
		strings.Repeat("%524288\r\n", 32), "~1048576\r\n", "=67108864\r\n", "!67108864\r\n", strings.Repeat("|0\r\n", 1000),
		"*1000000\r\n" + strings.Repeat("+\r\n", 1000),
	} {
		bytes := []byte(in)
		housetest.ZeroAlloc(t, 100, func(n int) {
			for range n {
				var d Decoder
				var cmd Command
				var v Value
				d.Decode(bytes, &cmd)
				DecodeReply(bytes, &v, Limits{})
			}
		})
	}
}

// TestQuotesAllocateLittle: the one path that needs memory, at its worst, needs
// about two lines for the request that means the same, and one as scratch.
func TestQuotesAllocateLittle(t *testing.T) {
	in := []byte(strings.Repeat(`"" `, 21845) + "\n")
	var d Decoder
	var cmd Command
	if n, err := d.Decode(in, &cmd); n != len(in) || err != nil || cmd.Len() != 21845 {
		t.Fatal(n, err, cmd.Len())
	}
	if got := cap(cmd.raw); got > 4*len(in) {
		t.Errorf("%d bytes for a line of %d", got, len(in))
	}
}
