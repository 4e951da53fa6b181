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
