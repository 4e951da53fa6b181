package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster/session"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// twice runs a simulation of each seed twice, and requires one hash.
func twice(t *testing.T, seeds int, run func(t *testing.T, seed uint64) uint64) {
	for seed := range uint64(seeds) {
		var hashes [2]uint64
		for i := range hashes {
			t.Run(fmt.Sprint(seed), func(t *testing.T) { hashes[i] = run(t, seed) })
		}
		require.Equal(t, hashes[0], hashes[1], "seed %d", seed)
	}
}

// seeds is how many of n a program takes that isn't slow.
func seeds(n int) int {
	if housetest.Slow {
		return n / 10
	}
	return n
}

// world is two nodes in a simulation.
type world struct {
	sim         *housetest.Sim
	other       *house.System // of there
	here, there *Node
	rng         *rand.Rand
}

func newWorld(t *testing.T, seed uint64, timing session.Timing) world {
	return newWorldOf(t, seed, timing, house.Config{})
}

// newWorldOf is newWorld with a configuration of the systems.
func newWorldOf(t *testing.T, seed uint64, timing session.Timing, config house.Config) world {
	rng := rand.New(rand.NewPCG(seed, 24))
	config.Logger = slog.New(slog.DiscardHandler)
	sim := housetest.New(t, seed, config)
	other := sim.Beside(t, config)
	sim.Net.Faults = housetest.Draw(rng)
	sim.Net.Faults.Descriptors = 0
	if rng.IntN(2) == 0 {
		sim.Net.Faults.Resets = 2 + rng.IntN(60)
	}
	there, err := Start(t.Context(), other, Config{Name: "there", Compress: rng.IntN(2) == 0, Tracks: tracks(rng), Window: 256 << 10, Listen: "127.0.0.1:7400", Plaintext: true, Incarnation: 1, Timing: timing})
	require.NoError(t, err)
	here, err := Start(t.Context(), sim, Config{Name: "here", Compress: rng.IntN(2) == 0, Tracks: tracks(rng), Window: 256 << 10, Peers: map[string]string{"there": there.Addr()}, Plaintext: true, Incarnation: 1, Timing: timing})
	require.NoError(t, err)
	t.Cleanup(func() {
		balanced(t, here)
		balanced(t, there)
	})
	return world{sim, other, here, there, rng}
}

// tracks draws how many tracks a node may have.
func tracks(rng *rand.Rand) int { return max(1, rng.IntN(8)-2) }

// find finds an actor there, however often the session is given up meanwhile.
func (w *world) find(t *testing.T, path string) core.AnyAddress {
	defer func(resets int) { w.sim.Net.Faults.Resets = resets }(w.sim.Net.Faults.Resets)
	// where few bytes pass at a time, connections may never live for long enough
	w.sim.Net.Faults.Resets = 0
	for range 100 {
		far, err := housetest.Ask(t, w.sim, w.here.Finder(), Where{"there", path})
		if err == nil {
			return far
		}
		if err != core.ErrTimeout {
			require.ErrorIs(t, err, ErrUnreachable)
		}
		w.sim.Run(100 * time.Millisecond)
	}
	t.Fatal("not found")
	return core.AnyAddress{}
}

// pass lets some time pass, less than 2 to the power of most, ns.
func (w *world) pass(t *testing.T, most int) {
	w.sim.Run(time.Duration(w.rng.IntN(1 << w.rng.IntN(most+1))))
	balanced(t, w.here)
	balanced(t, w.there)
}

// TestG13SimulatedLinks: connections are cut at any byte, bytes come late and in pieces,
// mailboxes are full; no notice is lost, none comes twice or overtakes another one.
func TestG13SimulatedLinks(t *testing.T) {
	conns := 0
	twice(t, seeds(250), func(t *testing.T, seed uint64) uint64 {
		w := newWorld(t, seed, session.Timing{Patience: time.Hour})
		c := &counter{slow: time.Duration(w.rng.IntN(2) * w.rng.IntN(1<<w.rng.IntN(22)))}
		size := 1 << w.rng.IntN(16)
		for _, most := range []int{w.sim.Net.Faults.Window, w.sim.Net.Faults.Pieces} {
			if most > 0 {
				size = min(size, 1+most/4) // or the world has more turns than there is time for
			}
		}
		_, err := core.SpawnWith(w.other, func() *counter { return c }, core.Props{Name: "counter", Mailbox: core.Bounded(1+w.rng.IntN(50), core.Reject)})
		require.NoError(t, err)
		far := w.find(t, "/user/counter")
		n, asks := 0, []core.Pending[addRep]{}
		for range 20 + w.rng.IntN(200) {
			for range w.rng.IntN(30) {
				if core.Notice(tells.At(far), padded(n, w.rng.IntN(size))) == nil {
					n++
				}
			}
			if w.rng.IntN(4) == 0 {
				asks = append(asks, core.Begin(add.At(far), addReq{n}))
			}
			w.pass(t, 25)
		}
		w.sim.Net.Faults.Resets = 0 // a frame that takes longer than a connection lives never comes
		for i := 0; i < 1000 && len(c.told) < n; i++ {
			w.sim.Run(100 * time.Millisecond)
		}
		if len(c.told) != n {
			for _, node := range []*Node{w.here, w.there} {
				for _, l := range node.self.links {
					for i, k := range l.tracks {
						t.Logf("%s to %s, track %d: state %v, wanted %v, conn %v, out %+v, in %d, debts %v, busy %d, held %d, parcels %d/%d, starved %d", node.Name(), l.name, i, l.State(i), k.wanted, k.conn != nil, k.out.Left(), k.in.Position(), k.debts.first != nil, k.busy, k.held, len(k.parcels.out), len(k.parcels.sent), len(k.starved))
						for _, r := range k.standIns {
							t.Logf("  stand-in %d: held %v, starved %v, sending %v, declared %v, queued %d", r.number, r.held, r.starved, r.sending, r.declared, r.house.Queued(nil))
						}
						for _, r := range k.refs {
							t.Logf("  ref %d: held %v, told %v", r.number, r.held, r.told)
						}
					}
				}
			}
			t.Fatalf("%d of %d came", len(c.told), n)
		}
		requireInOrder(t, n, c)
		for i := range asks {
			if _, err := asks[i].Get(); err != core.ErrTimeout && err != core.ErrMailboxFull {
				require.NoError(t, err)
			}
		}
		conns += int(w.here.self.links["there"].Conns())
		return w.sim.Hash()
	})
	require.Greater(t, conns, seeds(1000))
}

// written is how many notices a link has written in this session.
func written(l *link) (n uint64) {
	for _, t := range l.tracks {
		n += t.wrote
	}
	return n
}

// heard is what a gauge hears: a notice, or a gap.
type heard struct {
	n   int
	gap Gap
}

// gauge is told of notices and of gaps.
type gauge struct {
	heard []heard
	slow  time.Duration // how long it handles nothing after each notice
}

func (g *gauge) tell(s *itemStep) core.Yield {
	g.heard = append(g.heard, heard{n: s.Msg.number()})
	if g.slow == 0 {
		return s.Return()
	}
	s.Barrier()
	core.Timer.Ask(s, &s.tick, g.slow)
	return core.Suspend(s, (*gauge).rested)
}

func (g *gauge) rested(s *itemStep) core.Yield { return s.Return() }

func (g *gauge) gap(s *core.NoticeStack[Gap]) core.Yield {
	g.heard = append(g.heard, heard{gap: s.Msg})
	return s.Return()
}

// gapEar is told of gaps for a gauge.
type gapEar struct{ of *gauge }

func (e *gapEar) hears(s *core.NoticeStack[Gap]) core.Yield {
	e.of.heard = append(e.of.heard, heard{gap: s.Msg})
	return s.Return()
}

var gapEarHears = core.HandleNotice((*gapEar).hears)

var (
	_        = core.HandleNotice((*gauge).tell).As(tells)
	gaugeGap = core.HandleNotice((*gauge).gap)
)

// TestG13SessionsGivenUp: where a way is gone for longer than the link's patience, notices are
// lost. The receiver hears of each that has left, before what comes behind it; what has not left
// is a dead letter of the sender's alone.
func TestG13SessionsGivenUp(t *testing.T) {
	gaps, missing := 0, 0
	twice(t, seeds(250), func(t *testing.T, seed uint64) uint64 {
		w := newWorld(t, seed, session.Timing{Patience: time.Second})
		g := &gauge{slow: time.Duration(w.rng.IntN(2)*w.rng.IntN(50)) * time.Millisecond}
		props := core.Props{Name: "gauge"}
		if w.rng.IntN(2) == 0 {
			props.Mailbox = core.Bounded(1+w.rng.IntN(50), core.Reject)
		}
		_, err := core.SpawnWith(w.other.Workers()[0], func() *gauge { return g }, props)
		require.NoError(t, err)
		// beside a mailbox that may be full
		ear := core.Spawn(w.other.Workers()[0], func() *gapEar { return &gapEar{g} })
		w.there.Gaps.Subscribe(gapEarHears.At(ear))
		far := w.find(t, "/user/gauge")
		sent, address := 0, w.there.Addr()
		longs := w.rng.IntN(2) == 0 && w.here.config.Compress && w.sim.Net.Faults.Pieces == 0
		for range 3 + w.rng.IntN(6) {
			for range 1 + w.rng.IntN(20) {
				for range w.rng.IntN(30) {
					n := item{N: sent}
					if longs && w.rng.IntN(30) == 0 {
						n = padded(sent, 70_000) // a few KB, packed
					}
					switch err := core.Notice(tells.At(far), n); {
					case err == nil:
						sent++
					case errors.Is(err, ErrUnreachable):
						far = w.find(t, "/user/gauge")
					default:
						require.Equal(t, core.ErrMailboxFull, err)
					}
				}
				w.pass(t, 24)
			}
			if w.rng.IntN(2) == 0 {
				w.sim.Net.Unreachable = map[string]bool{address: true}
				w.sim.Net.Break(address)
				w.sim.Run(time.Duration(w.rng.Int64N(3e9)))
				w.sim.Net.Unreachable = nil
			}
		}
		w.sim.Net.Faults = housetest.Faults{}
		w.sim.Run(10 * time.Second)
		for far = w.find(t, "/user/gauge"); core.Notice(tells.At(far), item{N: sent}) != nil; far = w.find(t, "/user/gauge") {
			w.sim.Run(time.Second)
		}
		sent++
		for i := 0; i < 100 && (len(g.heard) == 0 || g.heard[len(g.heard)-1].n != sent-1); i++ {
			w.sim.Run(10 * time.Second)
		}
		next, lost, told, came := 0, 0, 0, 0
		for _, h := range g.heard {
			if h.gap != (Gap{}) {
				require.Equal(t, "here", h.gap.Node)
				told += int(h.gap.To - h.gap.From + 1)
				gaps++
				continue
			}
			require.GreaterOrEqual(t, h.n, next, "inversion, or twice")
			came++
			lost += h.n - next
			next = h.n + 1
		}
		require.Equal(t, sent, next)
		// not at each notice: a gap overtakes those that wait beside the full mailbox
		require.LessOrEqual(t, told, lost, "reported as lost, and came")
		l := w.here.self.links["there"]
		require.EqualValues(t, came+told, l.wrote+written(l), "came, or reported")
		// The others never became bytes: they are dead letters, beside those that did.
		letters := 0
		for _, l := range w.sim.DeadLetters() {
			letters += int(l.Count)
		}
		require.LessOrEqual(t, lost, letters)
		require.LessOrEqual(t, lost-told, letters)
		missing += told
		return w.sim.Hash()
	})
	t.Logf("%d gaps, %d notices", gaps, missing)
	require.Greater(t, missing, seeds(1000))
}
