package channel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// TestClientBackoffDoubles: also if each connection lasts a little longer than BackoffMin.
func TestClientBackoffDoubles(t *testing.T) {
	p := newPlay(t, nil)
	p.Run(time.Second)
	p.peers[0].Close()
	came := 0
	var all []core.Pending[reply]
	for range 10 * 1000 / 60 {
		all = append(all, p.ask("x"))
		p.Run(60 * time.Millisecond)
		for peer := p.door.Accept(); peer != nil; peer = p.door.Accept() {
			p.Run(60 * time.Millisecond)
			peer.Read(1000)
			peer.Close()
			came++
		}
	}
	require.NoError(t, p.Shutdown(t.Context()))
	for _, a := range all {
		a.Get()
	}
	require.Less(t, came, 20, "in 10 s and more")
}

// TestClientBackoffBeginsAnew: behind a reply the next wait is BackoffMin at most again.
func TestClientBackoffBeginsAnew(t *testing.T) {
	p := newPlay(t, func(c *clientConfig) { c.BackoffMin, c.BackoffMax = time.Second, time.Hour })
	p.door.Close()
	p.Run(time.Minute)
	p.peers[0].Close()
	for range 4 { // up to 8 s
		p.Run(20 * time.Second)
		p.fails(p.ask("a"), core.ErrNotSent)
	}
	p.door = p.Net.Serve(doorAddress)
	p.Run(20 * time.Second)
	a := p.ask("b")
	p.accept(1)
	p.gets("b\n", "x\n")
	p.is(a, "x")

	p.door.Close()
	p.Run(time.Minute)
	p.peers[1].Close()
	p.Run(time.Millisecond)
	p.fails(p.ask("c"), core.ErrNotSent)
	failures := p.client.Stats().ConnectFailures
	p.Run(time.Second)
	p.fails(p.ask("d"), core.ErrNotSent)
	require.Equal(t, failures+1, p.client.Stats().ConnectFailures)
}
