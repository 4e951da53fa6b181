package secure

import (
	"crypto/tls"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOneGoesForEach: two wait, for each of which one goes; the place of the first that ends is the
// second one's, so the first one's is the other. Nobody else goes.
func TestOneGoesForEach(t *testing.T) {
	by := NewWith(&tls.Config{}, Limits{Running: 3, RunningOfOne: 3, Patience: time.Hour})
	idle := func(hours time.Duration) *handshake {
		h := newHandshake(by, netip.Addr{}, func() {})
		h.idle = time.Now().Add(-hours * time.Hour)
		h.crowd = by.gate.crowdOf(h.from)
		by.gate.run(h)
		return h
	}
	running := []*handshake{idle(4), idle(3), idle(2)}
	first, second := newHandshake(by, netip.Addr{}, func() {}), newHandshake(by, netip.Addr{}, func() {})
	by.gate.enter(first)
	by.gate.enter(second)
	require.Equal(t, second, by.gate.next(running[0]))
	by.gate.look()
	require.Equal(t, 2, int(by.counts.replaced.Load()))
	require.Equal(t, first, by.gate.next(running[1]))
}
