package cluster

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestBesideAFlood: who tells one actor of a node more than the link takes doesn't keep others from
// asking another one, whatever the length of what it says.
func TestBesideAFlood(t *testing.T) {
	for _, size := range []int{200, 20_000, 60 << 10, 1 << 20, 15 << 20} {
		c := newCalm(t)
		_, err := core.SpawnWith(c.there.system, func() *counter { return &counter{} }, core.Props{Name: "flooded", Mailbox: core.Unbounded()})
		require.NoError(t, err)
		flooded, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/flooded"})
		require.NoError(t, err)
		other := c.find(c.here, "there")
		drop := padded(0, size)
		turns := 0
		turn := func() {
			for err = nil; err == nil; {
				err = core.Notice(tells.At(flooded), drop)
			}
			require.Equal(t, core.ErrMailboxFull, err)
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
				require.Less(t, turns-began, 1000, "beside messages of %d bytes", size)
			}
			_, err := ask.Get()
			require.NoError(t, err)
			took = append(took, turns-began)
		}
		slices.Sort(took)
		t.Logf("%d bytes: %v", size, took)
	}
}
