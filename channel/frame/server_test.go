package frame_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// mirror answers with the request, or fails with it if it begins with "fail".
type mirror struct{}

var mirrorServes = channel.Handle((*mirror).serve)

func (*mirror) serve(s *core.ChannelStack[[]byte, []byte]) core.Yield {
	if len(s.Req) >= 4 && string(s.Req[:4]) == "fail" {
		return s.Throw(errors.New(string(s.Req)))
	}
	return s.Return(s.Req)
}

// TestServer: a server whose codec is a Codec, over a network that cuts what is sent in pieces.
func TestServer(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			sim := housetest.New(t, seed, house.Config{})
			at := core.Spawn(sim, func() *mirror { return &mirror{} })
			server, err := channel.Listen(t.Context(), channel.Config[[]byte, []byte]{
				Network: "tcp", Address: "127.0.0.1:80",
				Codec: func() channel.Codec[[]byte, []byte] {
					return &frame.Codec{Framing: &frame.Line{Max: 60}, Fault: tell}
				},
			}, mirrorServes, at)
			require.NoError(t, err)
			sim.Net.Faults = housetest.Faults{Delay: time.Millisecond, Pieces: 2}
			peer := sim.Net.Dial(server.Addr())
			sim.Run(time.Second)
			peer.Write([]byte("one\r\n\nfail 1\nfail \r2\r\r\n" + fmt.Sprintf("%061d\n", 0)))
			sim.Run(time.Minute)
			require.Equal(t, "one\n\nERR fail 1\nERR frame: the payload holds the end of a frame\nERR frame: longer than the limit\n",
				string(peer.Read(1000)))
			require.Equal(t, io.EOF, peer.Err())
			peer.Close()
			sim.Run(time.Minute)
		})
	}
}
