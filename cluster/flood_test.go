package cluster

import (
	"fmt"
	"slices"

	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestBesideAFlood: who tells some actors of a node more than the link takes doesn't keep others
// from asking another one, whatever the length of what it says.
func TestBesideAFlood(t *testing.T) {
	for _, f := range []struct{ actors, size int }{
		{1, 200}, {1, 20_000}, {1, 60 << 10}, {1, 1 << 20}, {1, 15 << 20}, {2, 15 << 20}, {partsMax + 4, 60 << 10}, {partsMax + 4, 66 << 10},
	} {
		c := newCalm(t)
		var flooded []core.AnyAddress
		for i := range f.actors {
			name := fmt.Sprint("flooded", i)
			_, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: name, Mailbox: core.Unbounded()})
			require.NoError(t, err)
			far, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/" + name})
			require.NoError(t, err)
			flooded = append(flooded, far)
		}
		other := c.find(c.here, "there")
		drop := padded(0, f.size)
		turns := 0
		turn := func() {
			for _, far := range flooded {
				var err error
				for err == nil {
					err = core.Notice(tells.At(far), drop)
				}
				require.Equal(t, core.ErrMailboxFull, err)
			}
			c.sim.Turn()
			turns++
		}
		var took []int
		for range 10 {
			for range 50 {
				turn()
			}
			began := turns
			ask := core.Begin(add.At(other), addReq{1})
			for ; !ask.Ready(); turn() {
				require.Less(t, turns-began, 2000, "beside messages of %d bytes to %d actors", f.size, f.actors)
			}
			_, err := ask.Get()
			require.NoError(t, err)
			took = append(took, turns-began)
		}
		slices.Sort(took)
		t.Logf("%d bytes to %d actors: %v", f.size, f.actors, took)
	}
}
