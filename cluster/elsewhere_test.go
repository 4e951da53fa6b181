package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// inquirer says whether it knows who asks it.
type inquirer struct{}

func (q *inquirer) who(s *core.AskStack[struct{}, bool]) core.Yield {
	return s.Return(core.Sender(s) != core.AnyAddress{})
}

var (
	whoAsks = core.NewMethod[struct{}, bool]("test.inquirer.who")
	_       = core.Handle((*inquirer).who).As(whoAsks)
)

// TestActorsElsewhere: an actor of another node is an Actor whatever its type, here it has no path,
// and its name says of which node it is; and whoever it is asked by, from here, isn't one of its
// own node.
func TestActorsElsewhere(t *testing.T) {
	c := newCalm(t)
	far := c.find(c.here, "there")
	require.Zero(t, far.Path())
	_, ok := core.As[Actor](core.Spawn(c.sim, func() *inquirer { return &inquirer{} }).Any())
	require.False(t, ok)
	_, ok = core.As[Actor](core.AnyAddress{})
	require.False(t, ok)
	_, ok = core.As[inquirer](far)
	require.False(t, ok)

	_, err := core.SpawnWith(c.there.system, func() *inquirer { return &inquirer{} }, core.Props{Name: "inquirer"})
	require.NoError(t, err)
	at, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/inquirer"})
	require.NoError(t, err)
	knows, err := housetest.Ask(t, c.sim, whoAsks.At(at), struct{}{})
	require.NoError(t, err)
	require.False(t, knows)

	typed, ok := core.As[Actor](at)
	require.True(t, ok)
	require.Zero(t, typed.Path())
	for _, name := range []string{at.String(), typed.String(), typed.House().Describe()} {
		require.Regexp(t, `^cluster\.\w+#\d+@there$`, name)
	}
	exact, ok := core.As[inquirer](at)
	require.True(t, ok)
	require.Equal(t, []core.AnyAddress{at, at}, []core.AnyAddress{typed.Any(), exact.Any()})
	probe := housetest.NewProbe(t, c.here.system)
	housetest.Watch(probe, typed)

	typed.Stop()
	housetest.ExpectEqual(probe, time.Second, core.Terminated{Actor: at})
	_, err = housetest.Ask(t, c.sim, whoAsks.At(at), struct{}{})
	require.ErrorIs(t, err, core.ErrStopped)
}
