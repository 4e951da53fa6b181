package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
)

// poisonClient panics in Alone.
type poisonClient struct{ lineClient }

func (c *poisonClient) Alone(req *request) bool {
	if string(req.line) == "poison" {
		panic("alone")
	}
	return false
}

// TestClientAlonePanics: the request that Alone panics at is answered, and costs one connection.
func TestClientAlonePanics(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) {
		c.Codec = func() channel.ClientCodec[request, reply] { return &poisonClient{} }
		c.BackoffMin, c.BackoffMax = time.Millisecond, time.Millisecond
	})
	p.prove()
	p.Net.Faults.Delay = 100 * time.Millisecond // a round trip takes longer than BackoffMin
	a := p.ask("poison")
	p.Run(10 * time.Second)
	t.Log(p.client.Stats().Connects, "connections")
	p.fails(a, core.ErrNotSent, core.ErrPanic)
	require.LessOrEqual(t, p.client.Stats().Connects, uint64(2))
}
