package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/cluster/frame"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// TestConfigIsChecked: what makes no sense is refused, and says of which field; what is at a bound
// is good.
func TestConfigIsChecked(t *testing.T) {
	peers := func(more map[string]string) map[string]string {
		for _, name := range []string{"a", "b", "c", "d"} {
			more[name] = "10.0.0.1:7400"
		}
		return more
	}
	for _, test := range []struct {
		says   string // empty: it is good
		change func(*Config)
	}{
		{"", func(*Config) {}},
		{"a node's name has 1 to ", func(c *Config) { c.Name = "" }},
		{"", func(c *Config) { c.Name = strings.Repeat("n", frame.NameMax) }},
		{"a node's name has 1 to ", func(c *Config) { c.Name = strings.Repeat("n", frame.NameMax+1) }},
		{"neither Config.TLS nor Config.Plaintext", func(c *Config) { c.Plaintext = false }},
		{"both Config.TLS and Config.Plaintext", func(c *Config) { c.TLS = &secure.TLS{} }},
		{"", func(c *Config) { c.TLS, c.Plaintext = &secure.TLS{}, false }},
		{"", func(c *Config) { c.Window = 256 << 10 }},
		{"Config.Window", func(c *Config) { c.Window = 256<<10 - 1 }},
		{"", func(c *Config) { c.Tracks = tracksMax }},
		{"Config.Tracks", func(c *Config) { c.Tracks = tracksMax + 1 }},
		{"Config.Tracks", func(c *Config) { c.Tracks = -1 }},
		{"Config.Mailbox", func(c *Config) { c.Mailbox = -1 }},
		{"Config.SpawnedMax", func(c *Config) { c.SpawnedMax = -1 }},
		{"Config.Timing", func(c *Config) { c.Timing.Patience = -1 }},
		{"Config.Spawners", func(c *Config) {
			c.Spawners = map[string][]string{"there": {"test.counter", "test.counter", "test.nothing"}}
		}},
		{"", func(c *Config) { c.Peers = peers(map[string]string{}) }},
		{"Config.Peers", func(c *Config) { c.Peers = peers(map[string]string{"here": "10.0.0.1:7400"}) }},
		{"Config.Peers", func(c *Config) { c.Peers = peers(map[string]string{"": "10.0.0.1:7400"}) }},
		{"Config.Peers", func(c *Config) { c.Peers = peers(map[string]string{"there": "10.0.0.1"}) }},
		{"Config.Peers", func(c *Config) { c.Peers = peers(map[string]string{"there": "there.example:7400"}) }},
	} {
		for range 10 { // in whatever order its maps are
			c := Config{Name: "here", Plaintext: true}
			test.change(&c)
			_, err := c.validate()
			if test.says == "" {
				require.NoError(t, err, "%+v", c)
			} else {
				require.ErrorContains(t, err, "cluster: "+test.says, "%+v", c)
			}
		}
	}
}

// TestStartIsRefused: of a Config that makes no sense, and of a system that has none of its workers
// any more, no node begins.
func TestStartIsRefused(t *testing.T) {
	sys, err := house.New(house.Config{})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	n, err := Start(t.Context(), sys, Config{Name: "here"})
	require.ErrorContains(t, err, "cluster: neither ")
	require.Nil(t, n)
	require.NoError(t, sys.Shutdown(t.Context()))
	n, err = Start(t.Context(), sys, Config{Name: "here", Plaintext: true})
	require.ErrorIs(t, err, core.ErrStopped)
	require.Nil(t, n)
}
