package housetest_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// storm is a random scenario of everything: asks of all kinds of waiting, notices,
// timers, batches, offloads, stops, births, panics and deadlines, on three workers.
type storm struct {
	sim   *housetest.Sim
	rng   *rand.Rand // one for all: what it gives out depends on the order of steps
	nodes [9]core.Address[node]

	asks    uint64 // by actors of actors, and by guests
	answers uint64 // seen by steps
	stops   uint64
	born    int
}

// node is an actor of a storm.
type node struct{ storm *storm }

type (
	nodeStack struct {
		core.AskStack[int, int] // how deep it may ask
		f                       [4]core.Future[int]
		tick                    core.Future[core.Tick]
		seen                    [4]bool
		wants                   int
	}
	nodeBatch struct {
		core.BatchAskStack[int, int]
		tick core.Future[core.Tick]
	}
	nodeNotice struct {
		core.NoticeStack[int]
		f    core.Future[int]
		tick core.Future[core.Tick]
	}
)

// Set by init: handlers that name each other would be an initialization cycle.
var (
	nodeAsk    core.Handler[node, int, int]
	nodeCommit core.Handler[node, int, int]
	nodeTell   core.NoticeHandler[node, int]
)

func init() {
	nodeAsk = core.Handle((*node).ask)
	nodeCommit = core.HandleBatch((*node).commit, 5)
	nodeTell = core.HandleNotice((*node).tell)
}

// resumes has actors go on that have failed.
var resumes = &core.Strategy{Decide: func(error) core.Directive { return core.Resume }}

var errStorm = errors.New("storm")

func (st *storm) spawn(i int) {
	st.born++
	st.nodes[i] = core.Spawn(st.sim.Workers()[i%len(st.sim.Workers())], func() *node { return &node{st} })
}

func (st *storm) any() core.Address[node] { return st.nodes[st.rng.IntN(len(st.nodes))] }

// pause is a random time up to 300 µs.
func (st *storm) pause() time.Duration { return time.Duration(st.rng.IntN(300_000)) }

// PreStart fails now and then.
func (n *node) PreStart(s *core.HookStack) core.Yield {
	if n.storm.rng.IntN(20) == 0 {
		return s.Throw(errStorm)
	}
	return s.Return()
}

func (n *node) ask(s *nodeStack) core.Yield {
	st := n.storm
	switch what := st.rng.IntN(20); {
	case s.Req <= 0 && what < 12 || what < 5:
		return s.Return(s.Req)
	case what < 6:
		return s.Throw(errStorm)
	case what < 7:
		panic(errStorm)
	case what < 10:
		core.Timer.Ask(s, &s.tick, st.pause())
	case what < 11:
		core.Offload(s, &s.f[0], s.Req, deepen)
	case what < 12:
		i := st.rng.IntN(len(st.nodes))
		st.nodes[i].Stop()
		st.stops++
		if st.rng.IntN(2) == 0 {
			st.spawn(i)
		}
		return s.Return(-1)
	case what < 15:
		for range 1 + st.rng.IntN(6) {
			nodeTell.At(st.any()).Notice(s, s.Req-1)
		}
		return s.Return(-2)
	default:
		n.fanOut(s)
	}
	return n.wait(s)
}

func deepen(_ context.Context, n int) (int, error) { return n + 1, nil }

// fanOut asks up to four others, one way or the other.
func (n *node) fanOut(s *nodeStack) {
	st := n.storm
	for i := range 1 + st.rng.IntN(4) {
		to := nodeAsk.At(st.any())
		if st.rng.IntN(3) == 0 {
			to = nodeCommit.At(st.any())
		}
		st.asks++
		if st.rng.IntN(3) == 0 {
			to.AskWithin(s, &s.f[i], s.Req-1, st.pause())
		} else {
			to.Ask(s, &s.f[i], s.Req-1)
		}
	}
}

// wait ends the step in one of the ways there are with something asked.
func (n *node) wait(s *nodeStack) core.Yield {
	switch n.storm.rng.IntN(6) {
	case 0:
		return s.Return(-3) // what was asked is cancelled
	case 1:
		return core.SuspendAny(s, (*node).some)
	case 2:
		s.wants = 1 + n.storm.rng.IntN(3)
		return core.SuspendUntil(s, (*node).enough, (*node).done)
	default:
		return core.Suspend(s, (*node).done)
	}
}

// look takes note of the answers that came.
func (n *node) look(s *nodeStack) (waiting int) {
	for i := range s.f {
		if s.f[i].Ready() && !s.seen[i] {
			s.seen[i] = true
			s.f[i].Get()
			n.storm.answers++
		}
		if s.f[i].Waiting() {
			waiting++
		}
	}
	return waiting
}

func (n *node) enough(s *nodeStack) bool { s.wants--; return s.wants == 0 }

func (n *node) some(s *nodeStack) core.Yield {
	if n.look(s) == 0 || n.storm.rng.IntN(4) == 0 {
		return s.Return(-4)
	}
	return core.SuspendAny(s, (*node).some)
}

func (n *node) done(s *nodeStack) core.Yield {
	n.look(s)
	if n.storm.rng.IntN(30) == 0 {
		panic("done")
	}
	return s.Return(-5)
}

func (n *node) commit(s *nodeBatch) core.Yield {
	switch n.storm.rng.IntN(8) {
	case 0:
		return s.ThrowAll(errStorm)
	case 1:
		panic("commit")
	case 2:
		return s.ReturnAll(1)
	case 3, 4:
		core.Timer.Ask(s, &s.tick, n.storm.pause())
		return core.Suspend(s, (*node).committed)
	}
	return n.committed(s)
}

func (n *node) committed(s *nodeBatch) core.Yield {
	return s.ReturnEach(func(req *int) (int, error) {
		if n.storm.rng.IntN(5) == 0 {
			return 0, errStorm
		}
		return *req, nil
	})
}

func (n *node) tell(s *nodeNotice) core.Yield {
	st := n.storm
	switch st.rng.IntN(10) {
	case 0:
		return s.Throw(errStorm)
	case 1:
		panic("tell")
	case 2:
		core.Timer.Ask(s, &s.tick, st.pause())
		return core.Suspend(s, (*node).told)
	case 3, 4:
		st.asks++
		nodeAsk.At(st.any()).Ask(s, &s.f, s.Msg-1)
		return core.Suspend(s, (*node).told)
	case 5:
		if s.Msg > 0 { // to itself
			nodeTell.At(core.Self[node](s)).Notice(s, s.Msg-1)
		}
	}
	return s.Return()
}

func (n *node) told(s *nodeNotice) core.Yield {
	if s.f.Ready() {
		n.storm.answers++
	}
	return s.Return()
}

// blow runs a storm to its end.
func blow(t testing.TB, seed uint64) *storm {
	st := &storm{rng: rand.New(rand.NewPCG(seed, 17))}
	st.sim = housetest.New(t, seed, house.Config{Supervise: resumes,
		Workers: 3, Budget: 1 + int(seed%5), AskTimeout: 2 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	})
	for i := range st.nodes {
		st.spawn(i)
	}
	var calls []core.Pending[int]
	for range 40 {
		for range 1 + st.rng.IntN(4) {
			st.asks++
			c := core.Begin(nodeAsk.At(st.any()), 4)
			if c.Ready() { // that has stopped
				st.asks--
			}
			calls = append(calls, c)
		}
		core.Notice(nodeTell.At(st.any()), 3)
		st.sim.Run(time.Duration(st.rng.IntN(100_000)))
	}
	st.sim.Run(10 * time.Millisecond) // all deadlines have passed
	for i, c := range calls {
		if !c.Ready() {
			t.Fatalf("seed %d: a guest's ask %d has no end", seed, i)
		}
		if _, err := c.Get(); err != nil && !expected(err) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	return st
}

func expected(err error) bool {
	for _, e := range []error{errStorm, core.ErrStopped, core.ErrTimeout, core.ErrPanic} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// TestStorms: a storm's events depend on its seed and on nothing
// else, and each of its asks ends once: 200 storms, each twice.
func TestStorms(t *testing.T) {
	hashes := map[uint64]uint64{}
	events := 0
	for seed := range seeds(200) {
		first, second := blow(t, seed), blow(t, seed)
		a, b := first.sim, second.sim
		if a.Hash() != b.Hash() || a.Events() != b.Events() || a.Now != b.Now {
			t.Errorf("seed %d: %d events with hash %x until %d, then %d with %x until %d",
				seed, a.Events(), a.Hash(), a.Now, b.Events(), b.Hash(), b.Now)
		}
		if other, ok := hashes[a.Hash()]; ok {
			t.Errorf("seeds %d and %d have the same hash", seed, other)
		}
		hashes[a.Hash()] = seed
		events += a.Events()
		first.identity(t)
	}
	if events < 200*int(seeds(200)) {
		t.Errorf("%d events: the storms are too calm", events)
	}
	t.Logf("%d events in %d storms", events, seeds(200))
}

// seeds is how many to run of n: fewer under the race detector, which slows one
// goroutine down and finds nothing in it.
func seeds(n uint64) uint64 {
	if invariant.Race {
		return n / 10
	}
	return n
}

// identity requires that each ask ended once: its stack went home once, nothing
// waits for answers, nothing is left in the pools.
func (st *storm) identity(t *testing.T) {
	t.Helper()
	sim, seed := st.sim, st.sim.Seed
	for i, a := range st.nodes {
		if n := a.House().Waiting(); n != 0 {
			t.Errorf("seed %d: node %d waits for %d answers at rest", seed, i, n)
		}
	}
	if err := sim.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	s := sim.Stats()
	if st.asks != s.Answers {
		t.Errorf("seed %d: %d asks, %d answers came home", seed, st.asks, s.Answers)
	}
	if st.answers > s.Answers-s.Late+s.Timeouts {
		t.Errorf("seed %d: %d answers seen, but only %d came, %d of them late, beside %d timeouts", seed, st.answers, s.Answers, s.Late, s.Timeouts)
	}
	if n := sim.Outstanding(); n != 0 {
		t.Errorf("seed %d: %d pooled objects are out", seed, n)
	}
}
