package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// A name that has a slash is none, also if an actor's child stands there.
func TestNamedIsNoPath(t *testing.T) {
	sim := stage(t, 1, 2)
	all, book := tenants(sim, core.NamedConfig[tenant]{})
	to := core.ByName(tenantRent, all, nameOfRent)
	_, err := housetest.Ask(t, sim, to, rent{name: "a", do: func(_ *tenant, s *rentStack) core.Yield {
		_, err := core.SpawnWith(core.Under(s), func() *tenant { return book.open("b") }, core.Props{Name: "b"})
		if err != nil {
			return s.Throw(err)
		}
		return s.Return(0)
	}})
	require.NoError(t, err)
	_, err = core.Lookup[tenant](sim, "/user/tenant.a/b")
	require.NoError(t, err)
	_, found := all.Find("a/b")
	require.False(t, found)
	_, err = housetest.Ask(t, sim, to, rent{name: "a/b", n: 5})
	require.ErrorContains(t, err, "name")
}
