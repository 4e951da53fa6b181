package channel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// Two servers can't have one address by accident, though the listeners of one share it.
func TestListenWhereAnotherListens(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		w := openWorld(t, p, nil)
		again, err := channel.Listen(w.ctx, config{Network: p.network, Address: w.server.Addr(), Codec: newLineCodec}, serve, w.fronts...)
		require.Nil(t, again)
		require.ErrorContains(t, err, "address already in use")
		c := w.dial()
		c.send("a")
		c.expect("a")
	})
}

// What serves connections is the runtime's own.
func TestSitesAreTheSystems(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		require.Regexp(t, `^/system/\$[0-9]+$`, channel.Site(openWorld(t, p, nil).server))
	})
}

// TestListenBeforeStart: who would wait for workers that don't run hears of it at once.
func TestListenBeforeStart(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 1})
	require.NoError(t, err)
	defer sys.Shutdown(context.Background())
	at := core.Spawn(sys, func() *front { return &front{} })
	_, err = channel.Listen(context.Background(), config{Network: "tcp", Address: "127.0.0.1:0", Codec: newLineCodec}, serve, at)
	require.ErrorIs(t, err, core.ErrNotStarted)
}
