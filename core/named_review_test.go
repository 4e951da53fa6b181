package core_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

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

// Who is about to go can't wait until it has gone, nor can a child of it.
func TestByNameOfOneself(t *testing.T) {
	eachSeedOf(t, 6, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		var to core.Port[rent, int]
		var errs []error
		all := core.NewNamed(sim, core.NamedConfig[leaver]{Kind: "leaver", New: func(string) *leaver {
			return &leaver{to: &to, errs: &errs, child: true}
		}})
		to = core.ByName(leaverRent, all, nameOfRent)
		_, err := housetest.Ask(t, sim, to, rent{name: "a"})
		require.NoError(t, err)
		a, _ := all.Find("a")
		a.Stop()
		sim.Run(10 * time.Millisecond)
		require.Equal(t, []error{core.ErrStopped, core.ErrStopped}, errs)
		require.Zero(t, all.Len())
	})
}

// leaver asks a by its name when it stops.
type leaver struct {
	to    *core.Port[rent, int]
	errs  *[]error
	child bool
	last  core.Future[int]
}

func (l *leaver) rent(s *rentStack) core.Yield {
	if l.child {
		core.Spawn(core.Under(s), func() *leaver { return &leaver{to: l.to, errs: l.errs} })
	}
	return s.Return(1)
}

func (l *leaver) PostStop(s *core.HookStack) core.Yield {
	l.to.Ask(s, &l.last, rent{name: "a"})
	return core.Suspend(s, (*leaver).left)
}

func (l *leaver) left(s *core.HookStack) core.Yield {
	_, err := l.last.Get()
	*l.errs = append(*l.errs, err)
	return s.Return()
}

var leaverRent = core.Handle((*leaver).rent)

// What a New ends by runtime.Goexit isn't counted.
func TestNamedWhoseNewExits(t *testing.T) {
	sim := stage(t, 1, 1)
	all, _ := tenants(sim, core.NamedConfig[tenant]{New: func(string) *tenant { runtime.Goexit(); return nil }})
	var guest sync.WaitGroup
	guest.Go(func() { all.Get("a") })
	guest.Wait()
	require.Zero(t, all.Len())
}

// Props that make no sense are refused before anybody asks.
func TestNamedOfImpossibleProps(t *testing.T) {
	sim := stage(t, 1, 1)
	require.Panics(t, func() {
		tenants(sim, core.NamedConfig[tenant]{Props: core.Props{Passivate: core.Passivation{Idle: -1}}})
	})
}

// What is stashed hasn't begun: the next actor begins it.
func TestByNameStashed(t *testing.T) {
	sim := stage(t, 1, 2)
	all, _ := tenants(sim, core.NamedConfig[tenant]{})
	to := core.ByName(tenantRent, all, nameOfRent)
	begun := 0
	call := core.Begin(to, rent{name: "a", do: func(_ *tenant, s *rentStack) core.Yield {
		if begun++; begun == 1 {
			return core.Stash(s)
		}
		return s.Return(begun)
	}})
	sim.Run(time.Millisecond)
	a, _ := all.Find("a")
	a.Stop()
	sim.Run(time.Millisecond)
	n, err := call.Get()
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

// A function that panics when it is asked again for the name.
func TestByNamePanicsLate(t *testing.T) {
	sim := stage(t, 1, 2)
	all, book := tenants(sim, core.NamedConfig[tenant]{})
	book.close = time.Millisecond
	calls := 0
	to := core.ByName(tenantRent, all, func(r *rent) string {
		if calls++; calls == 3 {
			panic("again")
		}
		return r.name
	})
	_, err := housetest.Ask(t, sim, to, rent{name: "a"})
	require.NoError(t, err)
	a, _ := all.Find("a")
	a.Stop()
	_, err = housetest.Ask(t, sim, to, rent{name: "a"})
	require.ErrorIs(t, err, core.ErrPanic)
	_, err = housetest.Ask(t, sim, to, rent{name: "a"})
	require.NoError(t, err)
	book.close = 0
}
