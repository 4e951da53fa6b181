package clustertest_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/cluster/clustertest"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// twice runs a simulation of each seed twice, and requires one hash.
func twice(t *testing.T, seeds int, run func(t *testing.T, seed uint64) uint64) {
	if housetest.Slow {
		seeds = 1 + seeds/10
	}
	for seed := range uint64(seeds) {
		var hashes [2]uint64
		for i := range hashes {
			t.Run(fmt.Sprint(seed), func(t *testing.T) { hashes[i] = run(t, seed) })
		}
		require.Equal(t, hashes[0], hashes[1], "seed %d", seed)
	}
}

// heard is what a gauge is told, in its order: a number, a gap, or the end of another gauge.
type heard struct {
	from string // the node of who sent the number
	n    int
	gap  cluster.Gap
	gone core.Terminated
}

// gauge is an actor that notes what it is told. Its notes stay when its node dies.
type gauge struct{ notes *[]heard }

type reading struct {
	From string
	N    int
	Pad  []byte
}

func (g *gauge) note(h heard) { *g.notes = append(*g.notes, h) }

func (g *gauge) tell(s *core.NoticeStack[reading]) core.Yield {
	g.note(heard{from: s.Msg.From, n: s.Msg.N})
	return s.Return()
}

func (g *gauge) count(s *core.AskStack[struct{}, int]) core.Yield { return s.Return(len(*g.notes)) }

func (g *gauge) misses(s *core.NoticeStack[cluster.Gap]) core.Yield {
	g.note(heard{gap: s.Msg})
	return s.Return()
}

func (g *gauge) watch(s *core.AskStack[core.Address[gauge], struct{}]) core.Yield {
	core.Watch(s, s.Req, gaugeGone)
	return s.Return(struct{}{})
}

func (g *gauge) gone(s *core.NoticeStack[core.Terminated]) core.Yield {
	g.note(heard{gone: s.Msg})
	return s.Return()
}

var (
	tells  = core.NewNoticeMethod[reading]("clustertest.gauge.tell")
	counts = core.NewMethod[struct{}, int]("clustertest.gauge.count")

	_           = core.HandleNotice((*gauge).tell).As(tells)
	_           = core.Handle((*gauge).count).As(counts)
	gaugeMisses = core.HandleNotice((*gauge).misses)
	gaugeWatch  = core.Handle((*gauge).watch)
	gaugeGone   = core.HandleNotice((*gauge).gone)
)

// world is a cluster with a gauge on each life of each node.
type world struct {
	*clustertest.Cluster
	t     *testing.T
	rng   *rand.Rand
	notes map[string][]*[]heard // by node, of each life
	at    map[string]core.Address[gauge]
}

// windowOf is the least that a link may have.
const windowOf = 256 << 10

func newWorld(t *testing.T, seed uint64, c clustertest.Config) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 12)), notes: map[string][]*[]heard{}, at: map[string]core.Address[gauge]{}}
	c.System.Logger = slog.New(slog.DiscardHandler)
	patience := c.Node
	c.Node = func(of *cluster.Config) {
		of.Window, of.Tracks = windowOf, max(1, w.rng.IntN(8)-2)
		if patience != nil {
			patience(of)
		}
	}
	c.Start = func(n *clustertest.Node) {
		notes := &[]heard{}
		at, err := core.SpawnWith(n.System.Workers()[0], func() *gauge { return &gauge{notes} }, core.Props{Name: "gauge"})
		require.NoError(t, err)
		n.Gaps.Subscribe(gaugeMisses.At(at))
		w.at[n.Name()], w.notes[n.Name()] = at, append(w.notes[n.Name()], notes)
	}
	w.Cluster = clustertest.New(t, seed, c)
	w.Sim.Net.Faults = housetest.Faults{Delay: time.Duration(1 << w.rng.IntN(27)), Again: w.rng.IntN(20), Repeats: w.rng.IntN(20)}
	return w
}

// waits makes nodes whose links have a patience of d.
func waits(d time.Duration) func(*cluster.Config) {
	return func(of *cluster.Config) { of.Timing.Patience = d }
}

// find finds the gauge of a node, from another one.
func (w *world) find(by, node string) core.AnyAddress {
	w.t.Helper()
	for range 100 {
		far, err := w.Find(by, node, "/user/gauge")
		if err == nil {
			return far
		}
		w.Run(100 * time.Millisecond)
	}
	w.t.Fatalf("seed %d: %s doesn't find %s", w.Sim.Seed, by, node)
	return core.AnyAddress{}
}

// watch has the gauge of a node watch another one.
func (w *world) watch(by string, far core.AnyAddress) {
	w.t.Helper()
	typed, ok := core.As[gauge](far)
	require.True(w.t, ok)
	_, err := housetest.Ask(w.t, w.Sim, gaugeWatch.At(w.at[by]), typed)
	require.NoError(w.t, err)
}

// last returns what a node's gauge was told in its present life.
func (w *world) last(node string) []heard { return *w.notes[node][len(w.notes[node])-1] }

// ends returns the Terminated among what was heard.
func ends(all []heard) (gone []core.Terminated) {
	for _, h := range all {
		if h.gone != (core.Terminated{}) {
			gone = append(gone, h.gone)
		}
	}
	return gone
}

// letters is how many dead letters a node's system has.
func letters(n *clustertest.Node) (sum int) {
	for _, l := range n.System.DeadLetters() {
		sum += int(l.Count)
	}
	return sum
}

// pass lets up to d pass.
func (w *world) pass(d time.Duration) { w.Run(time.Duration(w.rng.Int64N(int64(d)))) }
