package channel_test

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
)

// needClient panics in Need.
type needClient struct{ lineClient }

func (c *needClient) Need() int { panic("need") }

// TestClientNeedPanics: who is in flight then learns that the codec panicked.
func TestClientNeedPanics(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) {
		c.Codec = func() channel.ClientCodec[request, reply] { return &needClient{} }
	})
	a := p.ask("a")
	p.gets("a\n", "half")
	p.peers[0].Write([]byte(" of it"))
	p.Run(time.Millisecond)
	p.fails(a, core.ErrLost, core.ErrPanic)
}
