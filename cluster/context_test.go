package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
)

// luggage is what an ask brings along.
type luggage struct {
	Trace  string
	Tenant string
}

// porter says what an ask brings along, or asks another porter of the same.
type porter struct{ next core.AnyAddress }

type porterStep struct {
	core.AskStack[struct{}, luggage]
	next core.Future[luggage]
}

func (p *porter) carry(s *porterStep) core.Yield {
	if p.next == (core.AnyAddress{}) {
		return s.Return(luggage{core.TraceOf(s).String(), string(core.PairOf(s, "tenant"))})
	}
	carries.At(p.next).Ask(s, &s.next, struct{}{})
	return core.Suspend(s, (*porter).carried)
}

func (p *porter) carried(s *porterStep) core.Yield {
	l, err := s.next.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(l)
}

var (
	carries = core.NewMethod[struct{}, luggage]("test.porter.carry")
	_       = core.Handle((*porter).carry).As(carries)
)

// TestContextCrosses: what an ask brings along gets to what it asks at another node, and from there
// on to what that asks back here.
func TestContextCrosses(t *testing.T) {
	c := newCalm(t)
	spawn := func(at core.Place, name string, next core.AnyAddress) {
		_, err := core.SpawnWith(at, func() *porter { return &porter{next} }, core.Props{Name: name})
		require.NoError(t, err)
	}
	find := func(at *Node, node, path string) core.AnyAddress {
		far, err := core.Ask(t.Context(), at.Finder(), Where{node, path})
		require.NoError(t, err)
		return far
	}
	spawn(c.sim, "last", core.AnyAddress{})
	c.find(c.here, "there") // or nobody there could dial
	spawn(c.there.system, "middle", find(c.there, "here", "/user/last"))
	far := carries.At(find(c.here, "there", "/user/middle"))

	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	of, err := core.ParseTrace(trace)
	require.NoError(t, err)
	ctx := core.WithTrace(t.Context(), of)
	for _, tenant := range []string{"", strings.Repeat("t", core.PairsMax-len("tenant")-3)} {
		ctx, err = core.WithPair(ctx, "tenant", tenant)
		require.NoError(t, err)
		got, err := core.Ask(ctx, far, struct{}{})
		require.NoError(t, err)
		require.Equal(t, luggage{trace, tenant}, got)
	}
	got, err := core.Ask(t.Context(), far, struct{}{})
	require.NoError(t, err)
	require.Equal(t, luggage{core.Trace{}.String(), ""}, got, "nothing of earlier ones is left")
}
