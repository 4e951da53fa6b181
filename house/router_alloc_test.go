//go:build linux && !portable

package house_test

import (
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// routed is a loader that asks and tells by routers.
type (
	routed struct {
		loader
		all core.Port[uint64, core.Answers[uint64]]
	}
	routedLane struct { // operations one after the other
		core.AskStack[int, uint64]
		all  core.Future[core.Answers[uint64]]
		left int
		sum  uint64
	}
)

// broadcasts is one broadcast after the other; each stands for as many operations
// as there are members.
func (l *routed) broadcasts(s *routedLane) core.Yield {
	if s.left == 0 {
		s.left = s.Req
	} else {
		answers, err := s.all.Get()
		if err != nil {
			return s.Throw(err)
		}
		for rep, err := range answers.All() {
			if err != nil || rep != 2 {
				return s.Throw(core.ErrUnanswered)
			}
			s.sum++
		}
	}
	if s.sum == uint64(s.left) {
		return s.Return(s.sum)
	}
	l.all.Ask(s, &s.all, 1)
	return core.Suspend(s, (*routed).broadcasts)
}

var onBroadcasts = core.Handle((*routed).broadcasts)

// routedZeroAlloc does a hundred thousand operations by routers that ports makes for a group of
// four targets, two on each worker.
func routedZeroAlloc(t *testing.T, lanes int, kind core.Handler[loader, int, uint64], ports func(g *core.Group[target], r core.Replicas[target]) loader) {
	routedRun(t, lanes, func(sys *house.System, g *core.Group[target], r core.Replicas[target]) core.Port[int, uint64] {
		l := ports(g, r)
		return kind.At(core.Spawn(sys.Workers()[0], func() *loader { return &l }))
	})
}

func routedRun(t *testing.T, lanes int, lane func(*house.System, *core.Group[target], core.Replicas[target]) core.Port[int, uint64]) {
	if invariant.Race {
		t.Skip("the race detector makes a hundred thousand operations long, and finds nothing here that it doesn't elsewhere")
	}
	sys := started(t, house.Config{Workers: 2, AskTimeout: 10 * time.Minute})
	g := &core.Group[target]{}
	for i := range 4 {
		g.Join(core.Spawn(sys.Workers()[i%2], func() *target { return &target{} }))
	}
	p := lane(sys, g, core.Replicate(sys, func() *target { return &target{} }))
	near := core.Spawn(sys.Workers()[0], func() *loader { return &loader{} })
	count := operations / 10 / (64 * lanes) * 64 * lanes
	run := func(lanes, n int) {
		if got, err := core.Begin(onLoad.At(near), load{lanes, n, p}).Get(); err != nil || got != uint64(n) {
			t.Fatalf("%d of %d operations, %v", got, n, err)
		}
	}
	for range 10 { // twice as much in flight
		run(2*lanes, 2*64*lanes)
	}
	for range 100 { // the runtime caches for each P what a goroutine needs to wait
		run(1, 64)
	}
	housetest.ZeroAlloc(t, count, func(n int) { run(lanes, n) })
}

func targetKey(n *uint64) uint64 { return *n }

func TestZeroAllocLocal(t *testing.T) {
	routedZeroAlloc(t, 64, onAsks, func(_ *core.Group[target], r core.Replicas[target]) loader {
		return loader{ask: onTargetAsk.Local(r)}
	})
}

func TestZeroAllocRoundRobin(t *testing.T) {
	routedZeroAlloc(t, 64, onAsks, func(g *core.Group[target], _ core.Replicas[target]) loader {
		return loader{ask: onTargetAsk.RoundRobin(g)}
	})
}

func TestZeroAllocRandom(t *testing.T) {
	routedZeroAlloc(t, 64, onAsks, func(g *core.Group[target], _ core.Replicas[target]) loader {
		return loader{ask: onTargetAsk.Random(g, 1)}
	})
}

func TestZeroAllocByKey(t *testing.T) {
	routedZeroAlloc(t, 64, onAsks, func(g *core.Group[target], _ core.Replicas[target]) loader {
		return loader{ask: onTargetAsk.ByKey(g, targetKey)}
	})
}

func TestZeroAllocLeastQueued(t *testing.T) {
	routedZeroAlloc(t, 64, onAsks, func(g *core.Group[target], _ core.Replicas[target]) loader {
		return loader{ask: onTargetAsk.LeastQueued(g)}
	})
}

func TestZeroAllocLeastQueuedBatch(t *testing.T) {
	routedZeroAlloc(t, 4, onBatches, func(g *core.Group[target], _ core.Replicas[target]) loader {
		return loader{batch: onTargetBatch.LeastQueued(g)}
	})
}

// targetNames are what a number names a target by.
var targetNames = [4][]byte{[]byte("ann"), []byte("bob"), []byte("cid"), []byte("dan")}

func targets(sys *house.System) core.Named[target] {
	return core.NewNamed(sys, core.NamedConfig[target]{Kind: "target", New: func(string) *target { return &target{} }})
}

func TestZeroAllocByName(t *testing.T) {
	routedRun(t, 64, func(sys *house.System, _ *core.Group[target], _ core.Replicas[target]) core.Port[int, uint64] {
		ask := core.ByName(onTargetAsk, targets(sys), func(n *uint64) []byte { return targetNames[*n%4] })
		return onAsks.At(core.Spawn(sys.Workers()[0], func() *loader { return &loader{ask: ask} }))
	})
}

// forwarder has a target answer, by a router.
type forwarder struct{ to core.Port[uint64, uint64] }

func (f *forwarder) pass(s *core.AskStack[uint64, uint64]) core.Yield { return f.to.Forward(s, s.Req) }

var onForward = core.Handle((*forwarder).pass)

// TestZeroAllocForward: asks go to the other worker, and from there to targets on both.
func TestZeroAllocForward(t *testing.T) {
	routedRun(t, 64, func(sys *house.System, g *core.Group[target], _ core.Replicas[target]) core.Port[int, uint64] {
		f := onForward.At(core.Spawn(sys.Workers()[1], func() *forwarder { return &forwarder{onTargetAsk.RoundRobin(g)} }))
		return onAsks.At(core.Spawn(sys.Workers()[0], func() *loader { return &loader{ask: f} }))
	})
}

// All members are on one worker: if those beside the asker always won, the others would fall
// behind without a bound.
func TestZeroAllocFirst(t *testing.T) {
	routedRun(t, 16, func(sys *house.System, _ *core.Group[target], _ core.Replicas[target]) core.Port[int, uint64] {
		g := &core.Group[target]{}
		for range 4 {
			g.Join(core.Spawn(sys.Workers()[1], func() *target { return &target{} }))
		}
		return onAsks.At(core.Spawn(sys.Workers()[0], func() *loader { return &loader{ask: core.First(onTargetAsk, g)} }))
	})
}

func TestZeroAllocBroadcast(t *testing.T) {
	routedRun(t, 16, func(sys *house.System, g *core.Group[target], _ core.Replicas[target]) core.Port[int, uint64] {
		return onBroadcasts.At(core.Spawn(sys.Workers()[0], func() *routed {
			return &routed{all: core.Broadcast(onTargetAsk, g)}
		}))
	})
}

// TestZeroAllocRoutedNotices: the asks between keep the targets up.
func TestZeroAllocRoutedNotices(t *testing.T) {
	for name, port := range map[string]func(*core.Group[target]) core.NoticePort[uint64]{
		"round robin":  func(g *core.Group[target]) core.NoticePort[uint64] { return onTargetTake.RoundRobin(g) },
		"random":       func(g *core.Group[target]) core.NoticePort[uint64] { return onTargetTake.Random(g, 1) },
		"by key":       func(g *core.Group[target]) core.NoticePort[uint64] { return onTargetTake.ByKey(g, targetKey) },
		"least queued": func(g *core.Group[target]) core.NoticePort[uint64] { return onTargetTake.LeastQueued(g) },
		"broadcast":    func(g *core.Group[target]) core.NoticePort[uint64] { return onTargetTake.Broadcast(g) },
		"by name":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			routedRun(t, 4, func(sys *house.System, g *core.Group[target], _ core.Replicas[target]) core.Port[int, uint64] {
				port := port
				if port == nil {
					all := targets(sys)
					port = func(*core.Group[target]) core.NoticePort[uint64] {
						return core.NoticeByName(onTargetTake, all, func(*uint64) string { return "ann" })
					}
					g = &core.Group[target]{} // the broadcast reaches whom the notices reach
					a, _ := all.Get("ann")
					g.Join(a)
				}
				return onRoutedNotices.At(core.Spawn(sys.Workers()[0], func() *routed {
					return &routed{loader: loader{take: port(g)}, all: core.Broadcast(onTargetAsk, g)}
				}))
			})
		})
	}
}

// notices is 63 notices and a broadcast, behind which all of them are taken.
func (l *routed) notices(s *routedLane) core.Yield {
	if s.left == 0 {
		s.left = s.Req
	} else if _, err := s.all.Get(); err != nil {
		return s.Throw(err)
	}
	if s.sum == uint64(s.left) {
		return s.Return(s.sum)
	}
	for range 63 {
		l.take.Notice(s, 1)
	}
	s.sum += 64
	l.all.Ask(s, &s.all, 1)
	return core.Suspend(s, (*routed).notices)
}

var onRoutedNotices = core.Handle((*routed).notices)

// TestZeroAllocRoutedGuests: a guest's ask and notice by a router, one after the other.
func TestZeroAllocRoutedGuests(t *testing.T) {
	if invariant.Race {
		t.Skip("as above")
	}
	sys := started(t, house.Config{Workers: 2, AskTimeout: 10 * time.Minute})
	g := &core.Group[target]{}
	for i := range 4 {
		g.Join(core.Spawn(sys.Workers()[i%2], func() *target { return &target{} }))
	}
	asks := []core.Port[uint64, uint64]{
		onTargetAsk.RoundRobin(g), onTargetAsk.Random(g, 1), onTargetAsk.ByKey(g, targetKey),
		onTargetAsk.LeastQueued(g), core.First(onTargetAsk, g),
	}
	takes := []core.NoticePort[uint64]{
		onTargetTake.RoundRobin(g), onTargetTake.ByKey(g, targetKey), onTargetTake.LeastQueued(g), onTargetTake.Broadcast(g),
	}
	run := func(n int) {
		for i := range n {
			for _, p := range takes {
				core.Notice(p, 1)
			}
			if got, err := core.Begin(asks[i%len(asks)], 1).Get(); err != nil || got != 2 {
				t.Fatal(got, err)
			}
		}
	}
	run(5000)
	housetest.ZeroAlloc(t, 5000, run)
}
