package cluster

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// born is how many counters the factory of the kind has made, by the simulations of one goroutine.
var born int

var (
	counterKind = NewKind("test.counter", func() *counter { born++; return &counter{} }, core.Props{})
	_           = NewKind("test.secret", func() *counter { return &counter{} }, core.Props{})
	_           = NewKind("test.broken", func() *counter { panic("no counter") }, core.Props{})
)

// newNursery is two nodes in a simulation: here may spawn counters there, at most 3.
func newNursery(t *testing.T) calm {
	c := house.Config{Logger: slog.New(slog.DiscardHandler)}
	sim := housetest.New(t, 1, c)
	there, err := Start(t.Context(), sim.Beside(t, c), Config{Name: "there", Listen: "127.0.0.1:7400", Plaintext: true, Incarnation: 1,
		Spawners: map[string][]string{"here": {counterKind.Name(), "test.broken"}, "nobody": nil}, SpawnedMax: 3})
	require.NoError(t, err)
	here, err := Start(t.Context(), sim, Config{Name: "here", Peers: map[string]string{"there": there.Addr()}, Plaintext: true, Incarnation: 1})
	require.NoError(t, err)
	t.Cleanup(func() {
		balanced(t, here)
		balanced(t, there)
	})
	return calm{t, sim, here, there}
}

func (c *calm) spawn(by *Node, at, kind, name string) (core.AnyAddress, error) {
	return housetest.Ask(c.t, c.sim, by.Spawner(), Whom{at, kind, name})
}

// TestSpawnElsewhere: an actor is spawned at another node, found by its name, and stopped.
func TestSpawnElsewhere(t *testing.T) {
	c := newNursery(t)
	a, err := c.spawn(c.here, "there", "test.counter", "one")
	require.NoError(t, err)
	rep, err := housetest.Ask(t, c.sim, add.At(a), addReq{4})
	require.NoError(t, err)
	require.Equal(t, 8, rep.Sum)
	found, err := housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/one"})
	require.NoError(t, err)
	require.True(t, a == found)
	typed, ok := core.As[counter](a)
	require.True(t, ok)
	typed.Stop()
	c.sim.Run(time.Second)
	_, err = housetest.Ask(t, c.sim, c.here.Finder(), Where{"there", "/user/one"})
	require.ErrorIs(t, err, core.ErrNotFound)
	_, err = c.spawn(c.here, "there", "test.counter", "one")
	require.NoError(t, err)
	_, err = c.spawn(c.here, "nowhere", "test.counter", "one")
	require.ErrorIs(t, err, ErrNoNode)
}

// TestSpawnIsRefused to who isn't allowed to, and in time.
func TestSpawnIsRefused(t *testing.T) {
	c := newNursery(t)
	sim := c.sim
	other, err := Start(t.Context(), sim.Beside(t, house.Config{Logger: slog.New(slog.DiscardHandler)}), Config{Name: "other", Plaintext: true, Incarnation: 1,
		Peers: map[string]string{"there": c.there.Addr()}})
	require.NoError(t, err)
	fails := func(by *Node, kind, name string, want error) {
		t.Helper()
		made := born
		_, err := c.spawn(by, "there", kind, name)
		require.ErrorIs(t, err, want)
		if want != core.ErrAlreadyExists {
			require.Equal(t, made, born)
		}
	}
	fails(other, "test.counter", "", ErrNotAllowed)
	fails(other, "test.nothing", "", ErrNotAllowed)
	fails(c.here, "test.secret", "", ErrNotAllowed)
	fails(c.here, "test.nothing", "", ErrNoKind)
	fails(c.here, "test.broken", "", core.ErrPanic)
	_, err = c.spawn(c.here, "there", "test.counter", "not/a name")
	require.Error(t, err)
	_, err = c.spawn(c.there, "here", "test.counter", "")
	require.ErrorIs(t, err, ErrNotAllowed)
	for i := range 3 {
		_, err = c.spawn(c.here, "there", "test.counter", fmt.Sprint(i))
		require.NoError(t, err)
	}
	_, err = c.spawn(c.here, "there", "test.counter", "")
	require.ErrorIs(t, err, core.ErrOverloaded)
	at, err := core.Lookup[counter](c.there.system, "/user/1")
	require.NoError(t, err)
	at.Stop()
	sim.Run(time.Second)
	fails(c.here, "test.counter", "0", core.ErrAlreadyExists)
	for range 2 {
		_, err = c.spawn(c.here, "there", "test.counter", "")
	}
	require.ErrorIs(t, err, core.ErrOverloaded, "what was refused counts as nobody")
	require.Len(t, c.there.self.broods["here"], 3)
}

// TestSpawnersByCertificate: who may spawn is who the certificate says.
func TestSpawnersByCertificate(t *testing.T) {
	ca := newCA(t)
	named := func(name string) *secure.TLS {
		cert, err := ca.Issue([]string{name})
		require.NoError(t, err)
		c, _ := identity{cert: cert, trusts: ca}.config()
		return c
	}
	timing := session.Timing{Patience: 15e8, BackoffMin: 1e7, BackoffMax: 1e8}
	there := newPlace(t, Config{Name: "there", Listen: "127.0.0.1:0", TLS: named("there"), Timing: timing, Spawners: map[string][]string{"here": {"test.secret"}}})
	for _, c := range []struct {
		says, cert string
		want       error
	}{{"here", "here", nil}, {"other", "other", ErrNotAllowed}, {"here", "other", ErrUnreachable}} {
		p := newPlace(t, Config{Name: c.says, TLS: named(c.cert), Peers: map[string]string{"there": there.node.Addr()}, Timing: timing})
		_, err := p.node.Spawn(t.Context(), "there", "test.secret", "")
		require.ErrorIs(t, err, c.want, "%+v: %v", c, err)
		require.NoError(t, p.node.Close(t.Context()))
	}
}

// TestSpawnersAreChecked: a Config that makes no sense is refused.
func TestSpawnersAreChecked(t *testing.T) {
	for _, c := range []Config{
		{Spawners: map[string][]string{"there": {"test.nothing"}}},
		{Spawners: map[string][]string{"here": {"test.counter"}}},
		{Spawners: map[string][]string{"": {"test.counter"}}},
		{SpawnedMax: -1},
	} {
		c.Name, c.Plaintext = "here", true
		_, err := c.validate()
		require.Error(t, err, "%+v", c)
	}
	require.Panics(t, func() { NewKind("test.counter", func() *counter { return nil }, core.Props{}) })
	require.Panics(t, func() { NewKind("", func() *counter { return nil }, core.Props{}) })
	require.Panics(t, func() { NewKind[counter]("test.nobody", nil, core.Props{}) })
	require.Panics(t, func() { NewKind("test.named", func() *counter { return nil }, core.Props{Name: "a"}) })
}

// TestG13SimulatedSpawns: an ask to spawn crosses once, however often connections are cut.
func TestG13SimulatedSpawns(t *testing.T) {
	all := 0
	twice(t, seeds(60), func(t *testing.T, seed uint64) uint64 {
		w := newWorld(t, seed, session.Timing{Patience: time.Hour})
		w.there.config.Spawners = map[string][]string{"here": {"test.counter"}}
		before := born
		var away []core.Pending[core.AnyAddress]
		for n := range 10 + w.rng.IntN(40) {
			away = append(away, core.Begin(w.here.Spawner(), Whom{"there", "test.counter", fmt.Sprintf("c%d", n)}))
			w.pass(t, 28)
		}
		w.sim.Net.Faults.Resets = 0
		for i := 0; i < 1000 && !away[len(away)-1].Ready(); i++ {
			w.sim.Run(100 * time.Millisecond)
		}
		answered := 0
		for i := range away {
			a, err := away[i].Get()
			if err == core.ErrTimeout { // it may be there all the same
				continue
			}
			require.NoError(t, err, "seed %d", seed)
			answered++
			rep, err := housetest.Ask(t, w.sim, add.At(a), addReq{i})
			require.NoError(t, err)
			require.Equal(t, 2*i, rep.Sum)
		}
		require.LessOrEqual(t, answered, born-before)
		require.LessOrEqual(t, born-before, len(away))
		all += answered
		return w.sim.Hash()
	})
	require.Greater(t, all, seeds(1000))
}
