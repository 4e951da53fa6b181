package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// meshPeers is how many actors a mesh has.
const meshPeers = 16

// peer sends numbered notices and asks to all others, itself included. All its
// fields are plain: only one thread at a time may run it.
type peer struct {
	index int
	tells [meshPeers]core.NoticePort[parcel]
	asks  [meshPeers]core.Port[parcel, parcel]
	rng   *rand.Rand

	sent [meshPeers]int // messages to each
	seen [meshPeers]int // the number of the last from each
	bad  string
}

// parcel is one numbered message, or its echo.
type parcel struct{ From, N int }

type (
	parcelTell struct{ core.NoticeStack[parcel] }
	parcelAsk  struct {
		core.AskStack[parcel, parcel]
		tick core.Future[core.Tick]
	}
	runStack struct {
		core.AskStack[int, int] // how many messages to send
		f                       [4]core.Future[parcel]
		want                    [4]int
		n                       int
		left                    int
	}
	reportStack struct {
		core.AskStack[struct{}, report]
	}
	report struct {
		Sent, Seen [meshPeers]int
		Bad        string
	}
)

var (
	meshTell   = core.HandleNotice((*peer).tell)
	meshAsk    = core.Handle((*peer).ask)
	meshRun    = core.Handle((*peer).run)
	meshReport = core.Handle((*peer).report)
)

func (p *peer) see(m parcel) {
	if p.seen[m.From]++; m.N != p.seen[m.From] && p.bad == "" {
		p.bad = fmt.Sprintf("message %d of %d to %d came as number %d", m.N, m.From, p.index, p.seen[m.From])
	}
}

func (p *peer) tell(s *parcelTell) core.Yield { p.see(s.Msg); return s.Return() }

// ask answers at once, or a little later.
func (p *peer) ask(s *parcelAsk) core.Yield {
	p.see(s.Req)
	if s.Req.N%64 == 0 {
		core.Timer.Ask(s, &s.tick, 1000)
		return core.Suspend(s, (*peer).askLater)
	}
	return s.Return(s.Req)
}

func (p *peer) askLater(s *parcelAsk) core.Yield { return s.Return(s.Req) }

func (p *peer) run(s *runStack) core.Yield {
	s.left = s.Req
	return p.again(s)
}

func (p *peer) next() (to int, m parcel) {
	to = p.rng.IntN(meshPeers)
	p.sent[to]++
	return to, parcel{p.index, p.sent[to]}
}

func (p *peer) again(s *runStack) core.Yield {
	for i := range s.n {
		if m, err := s.f[i].Get(); err != nil || m != (parcel{p.index, s.want[i]}) {
			return s.Throw(fmt.Errorf("answer %v, %w to message %d", m, err, s.want[i]))
		}
	}
	if s.left == 0 {
		return s.Return(s.Req)
	}
	for range min(s.left-1, p.rng.IntN(12)) {
		to, m := p.next()
		p.tells[to].Notice(s, m)
		s.left--
	}
	s.n = min(s.left, 1+p.rng.IntN(4))
	for i := range s.n {
		to, m := p.next()
		p.asks[to].Ask(s, &s.f[i], m)
		s.want[i] = m.N
		s.left--
	}
	return core.Suspend(s, (*peer).again)
}

func (p *peer) report(s *reportStack) core.Yield {
	return s.Return(report{p.sent, p.seen, p.bad})
}

// newMesh spawns the peers of a mesh on all workers of the systems in turn.
func newMesh(seed uint64, systems ...*house.System) (all []core.Address[peer]) {
	var peers [meshPeers]*peer
	for i := range peers {
		sys := systems[i%len(systems)]
		w := sys.Workers()[i/len(systems)%len(sys.Workers())]
		peers[i] = &peer{index: i, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		all = append(all, core.Spawn(w, func() *peer { return peers[i] }))
	}
	for _, p := range peers { // nobody runs them yet
		for j, a := range all {
			p.tells[j], p.asks[j] = meshTell.At(a), meshAsk.At(a)
		}
	}
	return all
}

// wantMesh requires that nothing was lost or overtaken.
func wantMesh(t *testing.T, seed uint64, ask func(core.Port[struct{}, report]) report, all []core.Address[peer], n int) {
	t.Helper()
	var reports [meshPeers]report
	total := 0
	for i, a := range all {
		reports[i] = ask(meshReport.At(a))
		if reports[i].Bad != "" {
			t.Errorf("seed %d: %s", seed, reports[i].Bad)
		}
	}
	for from := range reports {
		for to := range reports {
			sent, seen := reports[from].Sent[to], reports[to].Seen[from]
			if total += seen; sent != seen {
				t.Errorf("seed %d: %d sent %d messages to %d, who saw %d", seed, from, sent, to, seen)
			}
		}
	}
	if total != n {
		t.Errorf("seed %d: %d messages of %d arrived", seed, total, n)
	}
}

// TestG1RandomTrafficOnThreads: 100,000 numbered messages between 16 actors on 4
// workers: no inversion, no loss, and every answer is the asker's.
func TestG1RandomTrafficOnThreads(t *testing.T) {
	before := descriptors(t)
	ignore := goleak.IgnoreCurrent()
	const each = 100_000 / meshPeers
	sys := open(t, house.Config{Workers: 4})
	testMesh(t, each, sys)
	closeSystem(t, sys)
	if n := descriptors(t); n != before {
		t.Errorf("%d descriptors are open, %d were", n, before)
	}
	goleak.VerifyNone(t, ignore)
}

// testMesh runs a mesh over started systems.
func testMesh(t *testing.T, each int, systems ...*house.System) {
	t.Helper()
	const seed = 5
	all := newMesh(seed, systems...)
	done := make(chan error)
	for _, a := range all {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), deadlineOfTests)
			defer cancel()
			_, err := core.Ask(ctx, meshRun.At(a), each)
			done <- err
		}()
	}
	for range all {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	wantMesh(t, seed, func(p core.Port[struct{}, report]) report {
		r, err := core.Ask(t.Context(), p, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}, all, each*meshPeers)
}

// TestRandomTraffic is the same in simulations, with small budgets.
func TestRandomTraffic(t *testing.T) {
	for seed := range uint64(20) {
		sim := drawn(t, seed, house.Config{Workers: 1 + int(seed%4), Budget: 1 + int(seed%7), Supervise: resumes}, briskSteps)
		all := newMesh(seed, sim.System)
		var calls []core.Pending[int]
		for _, a := range all {
			calls = append(calls, core.Begin(meshRun.At(a), 100))
		}
		sim.Run(time.Second)
		for i, c := range calls {
			if !c.Ready() {
				t.Fatalf("seed %d: %d hasn't sent its messages", seed, i)
			}
			if _, err := c.Get(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		wantMesh(t, seed, func(p core.Port[struct{}, report]) report {
			r, err := housetest.Ask(t, sim, p, struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}, all, 100*meshPeers)
	}
}
