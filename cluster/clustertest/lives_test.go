package clustertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/cluster/clustertest"
	"github.com/stackhouse-go/stackhouse/core"
)

// requireOrder requires that no number of a node came twice, or before an earlier one, and returns
// them.
func requireOrder(t *testing.T, all []heard, from string) (came []int) {
	t.Helper()
	for _, h := range all {
		if h.from == from {
			if len(came) > 0 {
				require.Greater(t, h.n, came[len(came)-1], "inversion, or twice")
			}
			came = append(came, h.n)
		}
	}
	return came
}

// TestKills: of what was sent to a node that died, all has come or is a dead letter, and little is
// both. Who watched hears once. Nothing of one life gets to the next.
func TestKills(t *testing.T) {
	both, missing := 0, 0
	twice(t, 30, func(t *testing.T, seed uint64) uint64 {
		w := newWorld(t, seed, clustertest.Config{Nodes: []string{"north", "south"}})
		pad := make([]byte, 8<<10)
		sent, before := 0, 0
		for range 4 {
			far := w.find("north", "south")
			w.watch("north", far)
			first, watched := sent, len(ends(w.last("north")))
			for range 2 + w.rng.IntN(20) {
				for range w.rng.IntN(10) {
					switch err := core.Notice(tells.At(far), reading{"north", sent, pad}); err {
					case nil:
						sent++
					default:
						require.Equal(t, core.ErrMailboxFull, err)
					}
				}
				w.pass(40 * time.Millisecond)
			}
			silent := w.rng.IntN(2) == 0
			if silent { // the machine has no power: nobody closes its connections
				w.Cut("north", "south")
				w.pass(time.Second)
			}
			w.Kill("south")
			came := requireOrder(t, w.last("south"), "north")
			w.pass(5 * time.Second)
			if w.rng.IntN(2) == 0 {
				require.NoError(t, core.Notice(tells.At(far), reading{"north", sent, pad}), "seed %d: it isn't known to be lost", seed)
				sent++
			}
			w.Start("south")
			w.Heal("north", "south")
			w.Run(time.Minute)
			require.Empty(t, w.last("south"), "of the life before")
			gone := ends(w.last("north"))
			require.Len(t, gone, watched+1)
			require.Equal(t, far, gone[watched].Actor)
			require.ErrorIs(t, gone[watched].Lost, cluster.ErrNodeLost)
			require.ErrorIs(t, core.Notice(tells.At(far), reading{}), cluster.ErrNodeLost)

			reported := letters(w.Node("north")) - before
			overlap := len(came) + reported - (sent - first)
			before += reported
			require.GreaterOrEqual(t, overlap, 0, "seed %d: neither came nor reported", seed)
			require.LessOrEqual(t, overlap, windowOf/len(pad))
			both += overlap
			missing += sent - first - len(came)
		}
		return w.Hash()
	})
	require.Positive(t, both)
	require.Positive(t, missing)
}

// TestPauses: a node does nothing for longer than another one's patience. To both of them the
// session is over, once: nothing of it comes behind that, and before anything else comes each hears
// what never did.
func TestPauses(t *testing.T) {
	missing := 0
	twice(t, 60, func(t *testing.T, seed uint64) uint64 {
		w := newWorld(t, seed, clustertest.Config{Nodes: []string{"north", "south"}, Node: waits(time.Second)})
		ways := [][2]string{{"north", "south"}, {"south", "north"}}
		far, sent := map[string]core.AnyAddress{}, map[string]int{}
		for _, way := range ways {
			far[way[0]] = w.find(way[0], way[1])
			w.watch(way[0], far[way[0]])
		}
		send := func(rounds int) {
			for range rounds {
				for _, way := range ways {
					for range w.rng.IntN(5) {
						if core.Notice(tells.At(far[way[0]]), reading{way[0], sent[way[0]], nil}) == nil {
							sent[way[0]]++
						}
					}
				}
				w.pass(20 * time.Millisecond)
			}
		}
		send(1 + w.rng.IntN(20))
		w.Pause("south")
		for range 1 + w.rng.IntN(5) {
			send(w.rng.IntN(5))
			w.pass(2 * time.Second)
		}
		w.Run(10 * time.Second)
		w.Resume("south")
		send(w.rng.IntN(5))
		w.Run(20 * time.Second)
		old := map[string]int{"north": sent["north"], "south": sent["south"]}
		for _, way := range ways {
			next := w.find(way[0], way[1])
			require.NotEqual(t, far[way[0]], next, "an address of the session before")
			require.ErrorIs(t, core.Notice(tells.At(far[way[0]]), reading{}), cluster.ErrUnreachable)
			far[way[0]] = next
		}
		send(10)
		w.Run(10 * time.Second)
		for _, way := range ways {
			from, all := way[0], w.last(way[1])
			came := requireOrder(t, all, from)
			require.Len(t, ends(all), 1)
			require.ErrorIs(t, ends(all)[0].Lost, cluster.ErrUnreachable)
			lost, told, over := old[from], 0, false
			for _, h := range all {
				switch {
				case h.gone != (core.Terminated{}):
					over = true
				case h.gap != (cluster.Gap{}):
					require.True(t, over)
					told += int(h.gap.To - h.gap.From + 1)
				case h.n < old[from]:
					require.False(t, over, "seed %d: %d of the session before", seed, h.n)
					lost--
				default:
					require.Equal(t, lost, told, "seed %d: before the first of the next session", seed)
				}
			}
			require.Equal(t, sent[from], len(came)+told)
			missing += told
		}
		return w.Hash()
	})
	require.Greater(t, missing, 10)
}

// TestCutsAndRates: three nodes, clocks from half as fast to twice as fast, ways that are cut in
// one direction or both. As long as patience lasts all comes, in order, and nobody is lost.
func TestCutsAndRates(t *testing.T) {
	twice(t, 25, func(t *testing.T, seed uint64) uint64 {
		rates, names := map[string]float64{}, []string{"north", "south", "east"}
		for i, name := range names {
			rates[name] = []float64{0.5, 1, 2}[(i+int(seed))%3]
		}
		w := newWorld(t, seed, clustertest.Config{Nodes: names, Rates: rates, Node: waits(time.Hour)})
		far, sent := map[[2]string]core.AnyAddress{}, map[[2]string]int{}
		var ways [][2]string
		for _, from := range names {
			for _, to := range names {
				if from != to {
					way := [2]string{from, to}
					ways = append(ways, way)
					far[way] = w.find(from, to)
					w.watch(from, far[way])
					w.Sim.Net.Lag(from, to, time.Duration(w.rng.IntN(1<<w.rng.IntN(28))))
				}
			}
		}
		if w.rng.IntN(2) == 0 {
			w.Sim.Net.Faults.Resets = 20 + w.rng.IntN(100)
		}
		for range 20 {
			switch cut := ways[w.rng.IntN(len(ways))]; w.rng.IntN(4) {
			case 0:
				w.CutOneWay(cut[0], cut[1])
			case 1: // the third is a bridge
				w.Cut(cut[0], cut[1])
			case 2:
				w.Heal(cut[0], cut[1])
			case 3:
				w.Pause(cut[0])
				w.pass(4 * time.Second)
				w.Resume(cut[0])
			}
			for _, way := range ways {
				for range w.rng.IntN(5) {
					require.NoError(t, core.Notice(tells.At(far[way]), reading{way[0], sent[way], nil}))
					sent[way]++
				}
			}
			w.pass(6 * time.Second)
		}
		for _, way := range ways {
			w.Heal(way[0], way[1])
		}
		w.Run(time.Minute)
		for _, way := range ways {
			all := w.last(way[1])
			require.Len(t, requireOrder(t, all, way[0]), sent[way], "seed %d: %v", seed, way)
			require.Empty(t, ends(all))
		}
		return w.Hash()
	})
}

// TestBridge: two of three nodes are lost to each other, and to the third neither is.
func TestBridge(t *testing.T) {
	w := newWorld(t, 1, clustertest.Config{Nodes: []string{"north", "bridge", "south"}})
	to := map[string]core.AnyAddress{}
	for _, way := range []string{"north bridge", "north south", "south bridge", "south north"} {
		var from, node string
		_, _ = fmt.Sscan(way, &from, &node)
		to[way] = w.find(from, node)
		w.watch(from, to[way])
	}
	w.Cut("north", "south")
	w.Run(time.Minute)
	for _, side := range [][2]string{{"north", "north south"}, {"south", "south north"}} {
		gone := ends(w.last(side[0]))
		require.Len(t, gone, 1)
		require.Equal(t, to[side[1]], gone[0].Actor)
		require.ErrorIs(t, gone[0].Lost, cluster.ErrUnreachable)
	}
	require.NoError(t, core.Notice(tells.At(to["north bridge"]), reading{"north", 0, nil}))
	require.NoError(t, core.Notice(tells.At(to["south bridge"]), reading{"south", 0, nil}))
	w.Run(time.Second)
	require.Len(t, w.last("bridge"), 2)
}

// TestSlowSteps: a node that does nothing for some seconds, as its steps are slow or it is stopped,
// isn't lost.
func TestSlowSteps(t *testing.T) {
	slow := 0
	twice(t, 20, func(t *testing.T, seed uint64) uint64 {
		w := newWorld(t, seed, clustertest.Config{Nodes: []string{"north", "south"}})
		far := w.find("north", "south")
		w.watch("north", far)
		sent, left := 0, 0
		w.Sim.Steps = func() time.Duration {
			if left == 0 || w.rng.IntN(3) > 0 {
				return 0
			}
			left--
			slow++
			return time.Second
		}
		for range 10 {
			left = w.rng.IntN(4)
			for range w.rng.IntN(10) {
				require.NoError(t, core.Notice(tells.At(far), reading{"north", sent, nil}))
				sent++
			}
			w.pass(3 * time.Second)
			w.Pause("south")
			w.pass(10 * time.Second)
			w.Resume("south")
			w.Run(10 * time.Second) // or patience ends in the next one
		}
		require.Empty(t, ends(w.last("north")))
		require.Len(t, requireOrder(t, w.last("south"), "north"), sent)
		require.Equal(t, far, w.find("north", "south"))
		return w.Hash()
	})
	require.Greater(t, slow, 10)
}
