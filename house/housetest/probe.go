package housetest

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
)

// Probe is an actor of the test: in place of those that the actor under test tells and asks, as the
// subscriber of a topic, as who watches. What it gets stands in one queue, in the order in which it
// came, for the test to take from its front:
//
//	p := housetest.NewProbe(t, sim)
//	clerk := core.Spawn(sim, func() *Clerk {
//		return &Clerk{store: housetest.Port[Read, Row](p), log: housetest.NoticePort[string](p)}
//	})
//	call := core.Begin(clerkFind.At(clerk), "ann")
//	housetest.ExpectAsk[Read, Row](p, time.Second).Return(Row{"ann", 7})
//	housetest.ExpectEqual(p, time.Second, "found ann")
//	p.ExpectNone(time.Minute)
//
// Expect and its kin, SkipTo and ExpectNone wait: in a simulation they run turns, and time is
// virtual, until the message is there and nothing is left to do at that time, or until the time is
// over. They take none if the message is there already, and a time of 0 is for what is left to do
// at the present time. In a system with threads they block, and time is real. What isn't as
// expected ends the test by FailNow, and says what came instead. They, and what answers an Asked,
// are for the goroutine of the test; any goroutine may call the rest.
//
// An expectation is about the next message, of whatever type: for messages whose order isn't known
// make several probes. What always answers alike needs no probe, but core.SpawnFunc.
type Probe struct {
	Address core.Address[Probe]

	t   testing.TB
	sim *Sim // nil: a system with threads

	mu   sync.Mutex
	came []any // what the test hasn't taken: notices, and asks as *Asked
}

var (
	probeDo   = core.HandleNotice((*Probe).do)
	probeWait = core.Handle((*Probe).wait)
)

// NewProbe spawns a probe. Its mailbox has no bound.
func NewProbe(t testing.TB, at core.Place) *Probe {
	t.Helper()
	p := &Probe{t: t}
	var err error
	p.Address, err = core.SpawnWith(at, func() *Probe { return p }, core.Props{Mailbox: core.Unbounded()})
	if err != nil {
		t.Fatal(err)
	}
	p.sim = simOf(p.Address)
	return p
}

// NoticePort returns the port by which p is told a Msg. Bytes in a message that live only as long
// as its stack are dead when the test takes it.
func NoticePort[Msg any](p *Probe) core.NoticePort[Msg] { return told[Msg]().At(p.Address) }

// Port returns the port by which p is asked. Asks are held until the test answers them: see Asked.
func Port[Req, Rep any](p *Probe) core.Port[Req, Rep] {
	return handler(func() core.Handler[Probe, Req, Rep] { return core.Handle(hold[Req, Rep]) }).At(p.Address)
}

// Watch has p told core.Terminated once target has stopped, or at once if it has; see core.Watch.
func Watch[A any](p *Probe, target core.Address[A]) {
	p.act(func(s core.Running) { core.Watch(s, target, told[core.Terminated]()) })
}

// handlers holds the handlers of probes by their types; a handler lives for ever.
var handlers sync.Map

func handler[H any](make func() H) H {
	key := reflect.TypeFor[H]()
	h, ok := handlers.Load(key)
	if !ok {
		h, _ = handlers.LoadOrStore(key, make())
	}
	return h.(H)
}

func told[Msg any]() core.NoticeHandler[Probe, Msg] {
	return handler(func() core.NoticeHandler[Probe, Msg] { return core.HandleNotice(hear[Msg]) })
}

func hear[Msg any](p *Probe, s *core.NoticeStack[Msg]) core.Yield {
	p.put(s, s.Msg)
	return s.Return()
}

// put adds a message to the queue.
func (p *Probe) put(s core.Running, m any) {
	p.mu.Lock()
	p.came = append(p.came, m)
	p.mu.Unlock()
	core.Unstash(s) // wait
}

// act has f called in a step of p.
func (p *Probe) act(f func(core.Running)) {
	_ = core.Notice(probeDo.At(p.Address), f) // if p has stopped, nobody waits for it
}

func (p *Probe) do(s *core.NoticeStack[func(core.Running)]) core.Yield {
	s.Msg(s)
	return s.Return()
}

// wait answers when there is a message.
func (p *Probe) wait(s *core.AskStack[struct{}, struct{}]) core.Yield {
	if !p.any() {
		return core.Stash(s)
	}
	return s.Return(struct{}{})
}

func (p *Probe) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.came) > 0
}

// within returns a function that takes the next message, and waits for it until d from now; false:
// none came. done ends its use.
func (p *Probe) within(d time.Duration) (next func() (m any, ok bool), done func()) {
	if s := p.sim; s != nil {
		end := s.Now + int64(d)
		return func() (any, bool) {
			s.until(end, p.any)
			return p.take()
		}, func() {}
	}
	ctx, done := context.WithTimeout(context.Background(), d)
	return func() (any, bool) {
		if !p.any() {
			_, _ = core.Ask(ctx, probeWait.At(p.Address), struct{}{}) // whatever ends it, the queue tells
		}
		return p.take()
	}, done
}

// take removes the first message; false: there is none.
func (p *Probe) take() (m any, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.came) == 0 {
		return nil, false
	}
	m = p.came[0]
	p.came[0] = nil
	p.came = p.came[1:]
	return m, true
}
