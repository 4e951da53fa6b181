//go:build linux && !portable

package house_test

import (
	"fmt"
	"testing"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

type (
	// gazette publishes to its topic, or tells who has stopped, so many times.
	gazette struct {
		topic *core.Topic[uint64]
		gone  core.NoticePort[uint64]
	}
	gazetteStack struct {
		core.AskStack[int, int]
	}
	gazetteLetters struct {
		core.AskStack[int, int]
	}

	// clerk counts dead letters.
	clerk      struct{ seen uint64 }
	clerkStack struct {
		core.NoticeStack[core.DeadLetter]
	}
	clerkAsk struct{ core.AskStack[int, uint64] }
)

func (g *gazette) publish(s *gazetteStack) core.Yield {
	for n := range s.Req {
		g.topic.Publish(s, uint64(n))
	}
	return s.Return(s.Req)
}

func (g *gazette) letters(s *gazetteLetters) core.Yield {
	for n := range s.Req {
		g.gone.Notice(s, uint64(n))
	}
	return s.Return(s.Req)
}

func (c *clerk) note(s *clerkStack) core.Yield { c.seen++; return s.Return() }
func (c *clerk) count(s *clerkAsk) core.Yield  { return s.Return(c.seen) }

var (
	gazettePublish = core.Handle((*gazette).publish)
	gazetteLetter  = core.Handle((*gazette).letters)
	clerkNote      = core.HandleNotice((*clerk).note)
	clerkCount     = core.Handle((*clerk).count)
)

// byHand is a system whose turns the test takes; no trace of it takes memory.
type byHand struct {
	*house.System
	now int64
}

func newByHand(t *testing.T) *byHand {
	t.Helper()
	m := &byHand{}
	m.System = newSystem(t, house.Config{Workers: 2, Manual: true, Clock: func() int64 { return m.now }})
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shutdown(m.System); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		balanced(t, m.System)
	})
	return m
}

func (m *byHand) rest() {
	for busy := true; busy; {
		busy = false
		for _, w := range m.Workers() {
			m.now += 1000
			busy = w.Turn() || busy
		}
	}
}

// operate returns what does n operations of a port, some at a time, and lets all come to rest
// behind each.
func (m *byHand) operate(t *testing.T, p core.Port[int, int]) func(n int) {
	return func(n int) {
		for n > 0 {
			some := min(n, 200)
			call := core.Begin(p, some)
			m.rest()
			if got, err := call.Get(); got != some || err != nil {
				t.Fatalf("%d of %d operations, %v", got, some, err)
			}
			n -= some
		}
	}
}

// TestZeroAllocPublish: to nobody, to actors of both workers, and to a listener that has no room.
func TestZeroAllocPublish(t *testing.T) {
	for name, subscribe := range map[string]func(*byHand, *core.Topic[uint64]){
		"nobody":   func(*byHand, *core.Topic[uint64]) {},
		"listener": func(_ *byHand, topic *core.Topic[uint64]) { topic.Listen(100) },
		"actors": func(m *byHand, topic *core.Topic[uint64]) {
			for i := range 4 {
				topic.Subscribe(onTargetTake.At(core.Spawn(m.Workers()[i%2], func() *target { return &target{} })))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, topic := newByHand(t), &core.Topic[uint64]{}
			subscribe(m, topic)
			g := core.Spawn(m.Workers()[0], func() *gazette { return &gazette{topic: topic} })
			publish := m.operate(t, gazettePublish.At(g))
			publish(2000)
			housetest.ZeroAlloc(t, 20_000, publish)
			housetest.ZeroAlloc(t, 20_000, func(n int) {
				for i := range n {
					core.Publish(topic, uint64(i))
					if i%100 == 0 {
						m.rest()
					}
				}
				m.rest()
			})
		})
	}
}

// TestZeroAllocDeadLetters: of an actor of the own worker, and of another; while nobody listens,
// and while actors and a goroutine do.
func TestZeroAllocDeadLetters(t *testing.T) {
	for _, heard := range []bool{false, true} {
		t.Run(fmt.Sprintf("heard=%v", heard), func(t *testing.T) {
			m := newByHand(t)
			seen := clerkCount.At(core.Spawn(m.Workers()[1], func() *clerk { return &clerk{} }))
			if heard {
				core.Events[core.DeadLetter](m).Listen(1)
				for i := range 2 {
					c := core.Spawn(m.Workers()[i], func() *clerk { return &clerk{} })
					core.Events[core.DeadLetter](m).Subscribe(clerkNote.At(c))
					seen = clerkCount.At(c)
				}
			}
			for i := range 2 {
				to, err := core.SpawnWith(m.Workers()[i], func() *target { return &target{} }, core.Props{Mailbox: core.Bounded(1, core.Reject)})
				if err != nil {
					t.Fatal(err)
				}
				to.Pause()
				g := core.Spawn(m.Workers()[0], func() *gazette { return &gazette{gone: onTargetTake.At(to)} })
				letters := m.operate(t, gazetteLetter.At(g))
				letters(2000)
				housetest.ZeroAlloc(t, 20_000, letters)
			}
			call := core.Begin(seen, 0)
			m.rest()
			if n, err := call.Get(); err != nil || heard && n < 43_000 || !heard && n != 0 {
				t.Errorf("%d letters were told of, %v", n, err)
			}
			if n := m.Stats().DeadLetter; n < 43_000 {
				t.Errorf("%d letters were counted", n)
			}
		})
	}
}
