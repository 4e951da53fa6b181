package channel_test

import (
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
)

// echo answers each line with itself.
type echo struct{}

type echoStack struct {
	core.ChannelStack[request, reply]
}

var serveEcho = channel.Handle((*echo).serve)

func (*echo) serve(s *echoStack) core.Yield {
	if strings.HasPrefix(string(s.Req.line), "last") {
		return s.ReturnLast(reply{s.Req.line})
	}
	return s.Return(reply{s.Req.line})
}

// panics are lines of which lineCodec panics, or has its caller panic.
var panics = []string{"decode-panic", "encode-panic", "encode-long", "encode-none", "encode-other"}

// session is what a client gets that sends these bytes and ends its side; whole is false if that is
// only a part of it, as the codec panics.
func session(sent []byte) (want string, whole bool) {
	codec, out := newLineCodec(), []byte(nil)
	for len(sent) > 0 {
		if line, _, ended := bytes.Cut(sent, []byte("\n")); ended && slices.Contains(panics, string(line)) {
			return string(out), false
		}
		var req request
		n, err := codec.Decode(sent, &req)
		switch {
		case err == channel.ErrSkip:
		case err != nil:
			return string(codec.Refuse(out, err)), true
		case n == 0:
			return string(out), true
		default:
			out = codec.Encode(out, &reply{req.line}, nil)
			if strings.HasPrefix(string(req.line), "last") {
				return string(out), true
			}
		}
		sent = sent[n:]
	}
	return string(out), true
}

// FuzzSession is one connection: any bytes, cut anywhere, and one of the ways in which a client may
// end. What it gets is what a pass of the codec over all bytes says, and the server goes on.
func FuzzSession(f *testing.F) {
	w := openWorld(f, place{network: "tcp", workers: 2}, nil)
	var fronts []core.Address[echo]
	for _, on := range w.system.Workers() {
		fronts = append(fronts, core.Spawn(on, func() *echo { return &echo{} }))
	}
	server, err := channel.Listen(w.ctx, config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec}, serveEcho, fronts...)
	require.NoError(f, err)
	f.Cleanup(func() { server.Close(w.ctx) })
	w.server = nil // the front of the tests answers nobody here
	for _, sent := range []string{"a\nb\n", "a\n\n\nb", "a\n!\nb\n", "last a\nb\n", strings.Repeat("x", 40_000) + "\na\n", "a\ndecode-panic\n", "\n\x00\xff\n"} {
		f.Add([]byte(sent), []byte{3, 1, 200}, byte(0))
		f.Add([]byte(sent), []byte{}, byte(1))
		f.Add([]byte(sent), []byte{1, 1, 1, 1}, byte(2))
	}
	f.Fuzz(func(t *testing.T, sent, cuts []byte, end byte) {
		c := dialTo(t, "tcp", server.Addr())
		defer c.Close()
		written := begin(func() error {
			for rest, i := sent, 0; len(rest) > 0; i++ {
				n := len(rest)
				if i < len(cuts) {
					n = min(n, 1+int(cuts[i])*17)
				}
				if _, err := c.Write(rest[:n]); err != nil {
					return err // it has been told to go
				}
				rest = rest[n:]
			}
			return nil
		})
		switch end % 3 {
		case 0: // ends its side, and reads
			<-written
			want, whole := session(sent)
			if err := c.Conn.(*net.TCPConn).CloseWrite(); whole {
				require.NoError(t, err) // otherwise it may have been broken already
			}
			got, err := io.ReadAll(c.r)
			switch {
			case whole && (err != nil || string(got) != want):
				t.Fatalf("%.200q, %v, want %.200q", got, err, want)
			case !whole && !strings.HasPrefix(want, string(got)):
				t.Fatalf("%.200q, want the beginning of %.200q", got, want)
			}
		case 1: // breaks the connection at any time
			c.reset()
			<-written
		case 2: // closes, with results unread
			<-written
			c.Close()
		}
	})
}
