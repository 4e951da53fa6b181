package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// TestClientPausesWithoutConnection: the end of the last connection, in a pause, ends the asks that
// wait, as ClientConfig.BackoffMin says.
func TestClientPausesWithoutConnection(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) {
		c.Conns, c.InflightMax = 2, 1
		c.BackoffMin, c.BackoffMax = time.Minute, time.Minute
	})
	p.prove()
	first, second := p.ask("first"), p.ask("second")
	p.accept(1)
	p.peers[1].Read(100)
	p.peers[1].Close()
	p.Run(time.Millisecond)
	p.fails(second, core.ErrLost)
	waits := p.ask("waits")
	require.False(t, waits.Ready())
	p.peers[0].Read(100)
	p.peers[0].Close()
	p.Run(time.Millisecond)
	p.fails(first, core.ErrLost)
	p.fails(p.ask("later"), core.ErrNotSent)
	p.fails(waits, core.ErrNotSent)
}
