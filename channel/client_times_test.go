package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// TestClientShortTimeouts: a timeout below ConnectTimeout holds from a connection's first request
// on.
func TestClientShortTimeouts(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.ReplyTimeout = 100 * time.Millisecond })
	a := p.ask("a")
	p.Run(200 * time.Millisecond)
	p.fails(a, core.ErrLost)
}

func TestClientShortIdleTimeout(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.IdleTimeout = 100 * time.Millisecond })
	p.Run(200 * time.Millisecond)
	require.Zero(t, p.client.Stats().Conns)
}

// TestClientIdleAfterALongRequest: IdleTimeout holds also if a request was in flight when the timer
// was armed.
func TestClientIdleAfterALongRequest(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.ReplyTimeout, c.IdleTimeout = -1, time.Minute })
	p.Run(50 * time.Second)
	a := p.ask("a")
	p.Run(50 * time.Second)
	p.gets("a\n", "x\n")
	p.is(a, "x")
	p.Run(2 * time.Minute)
	require.Zero(t, p.client.Stats().Conns)
}

// TestClientIdleBehindALateReply: a reply counts as use.
func TestClientIdleBehindALateReply(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.ReplyTimeout, c.IdleTimeout = -1, time.Minute })
	a := p.ask("a")
	p.Run(80 * time.Second)
	p.gets("a\n", "x\n")
	p.is(a, "x")
	p.Run(50 * time.Second)
	require.EqualValues(t, 1, p.client.Stats().Conns)
	p.Run(time.Minute)
	require.Zero(t, p.client.Stats().Conns)
}

// TestClientReplyTimeoutOfEach: replies to others give a request no more time.
func TestClientReplyTimeoutOfEach(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.ReplyTimeout = time.Minute })
	a, b := p.ask("a"), p.ask("b")
	p.Run(50 * time.Second)
	p.gets("a\nb\n", "x\n")
	p.is(a, "x")
	p.Run(12 * time.Second)
	p.fails(b, core.ErrLost)
}
