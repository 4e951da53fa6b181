package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// Who has a PreStart and is spawned while the system closes never lives, and answers so; nothing is held there.
func TestSpawnWithPreStartWhileClosing(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	var late core.Pending[int]
	haunt(t, sim, d, "p", core.Props{}, func(g *ghost) {
		g.bearsAt = "stop"
		g.bears = func(*ghost, *core.HookStack) {
			c := haunt(t, sim, d, "c", core.Props{})
			c.Drain() // no room is asked for it
			late = core.Begin(ghostDo.At(c), says("never"))
		}
	})
	sim.Rest()
	require.NoError(t, sim.Shutdown(t.Context()))
	endedAs(t, core.ErrStopped, late)
	require.Equal(t, "p1:start p1:stop", d.took())
}
