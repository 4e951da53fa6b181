package clustertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/cluster/clustertest"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// till is an actor that is paid: it notes how often, by number, in all its lives.
type till struct{ paid map[int]int }

type (
	payment struct {
		N     int
		Takes time.Duration
		Pad   []byte
		Payer core.AnyAddress
	}
	receipt struct {
		N     int
		Pad   []byte
		Payer core.AnyAddress
	}
	payStep struct {
		core.AskStack[payment, receipt]
		tick core.Future[core.Tick]
	}
)

func (l *till) pay(s *payStep) core.Yield {
	l.paid[s.Req.N]++
	core.Timer.Ask(s, &s.tick, s.Req.Takes)
	return core.Suspend(s, (*till).payed)
}

func (l *till) payed(s *payStep) core.Yield {
	return s.Return(receipt{s.Req.N, s.Req.Pad, s.Req.Payer})
}

var (
	pays = core.NewMethod[payment, receipt]("clustertest.till.pay")
	_    = core.Handle((*till).pay).As(pays)
)

// payer is an actor that pays, and notes what becomes of it.
type payer struct {
	by  core.Port[payment, receipt]
	got map[int]*paying
}

// paying is a payment that is away, or has ended.
type paying struct {
	ended   bool
	rep     receipt
	err     error
	crossed bool // it was away when a session was given up
}

type payerStep struct {
	core.NoticeStack[payment]
	got core.Future[receipt]
}

func (p *payer) pays(s *payerStep) core.Yield {
	p.by.Ask(s, &s.got, s.Msg)
	return core.Suspend(s, (*payer).payed)
}

func (p *payer) payed(s *payerStep) core.Yield {
	of := p.got[s.Msg.N]
	of.ended = true
	if of.rep, of.err = s.got.Get(); of.err == nil && len(of.rep.Pad) != len(s.Msg.Pad) {
		panic("other bytes")
	}
	of.rep.Pad = nil
	return s.Return()
}

var payerPays = core.HandleNotice((*payer).pays)

// shop is a world whose south has a till, and whose north has a payer.
type shop struct {
	*world
	paid map[int]int
	port core.Port[payment, receipt] // of the present life of north
	got  map[int]*paying             // of that
	by   core.NoticePort[payment]
}

func newShop(t *testing.T, seed uint64) *shop {
	w := &shop{paid: map[int]int{}}
	w.world = newWorld(t, seed, clustertest.Config{
		Nodes:  []string{"north", "south"},
		Node:   waits(time.Second),
		System: house.Config{AskTimeout: 5 * time.Minute},
	})
	w.opens()
	w.moves()
	return w
}

// opens is a new life of south.
func (w *shop) opens() {
	p := core.Props{Name: "till"}
	if w.rng.IntN(2) == 0 {
		p.Mailbox = core.Bounded(1+w.rng.IntN(4), core.Reject)
	}
	_, err := core.SpawnWith(w.Node("south").System, func() *till { return &till{w.paid} }, p)
	require.NoError(w.t, err)
}

// moves is a new life of north.
func (w *shop) moves() {
	w.port = cluster.AtLeastOnce(w.Node("north").Node, pays, cluster.Where{Node: "south", Path: "/user/till"})
	w.got = map[int]*paying{}
	w.by = payerPays.At(core.Spawn(w.Node("north").System, func() *payer { return &payer{w.port, w.got} }))
}

// again kills a node, and starts it.
func (w *shop) again(node string) {
	w.Kill(node)
	w.Start(node)
	if node == "south" {
		w.opens()
	} else {
		w.moves()
	}
}

// crosses notes what is away now.
func (w *shop) crosses() {
	for _, p := range w.got {
		p.crossed = p.crossed || !p.ended
	}
}

// TestG14AtLeastOnce: whatever becomes of sessions and of lives, no ask runs twice, each that was
// answered has run, and each of which it is said that it has not run hasn't.
func TestG14AtLeastOnce(t *testing.T) {
	var answered, late, lost, refused int
	twice(t, 60, func(t *testing.T, seed uint64) uint64 {
		w := newShop(t, seed)
		n := 0
		kills := w.rng.IntN(3) // 0: none
		for range 10 {
			for range w.rng.IntN(10) {
				p := payment{N: n, Takes: time.Duration(w.rng.IntN(1 << w.rng.IntN(32))), Pad: make([]byte, w.rng.IntN(1<<w.rng.IntN(18)))}
				if w.rng.IntN(3) == 0 {
					p.Payer = w.at["north"].Any()
				}
				w.got[n] = &paying{}
				require.NoError(t, core.Notice(w.by, p))
				n++
				w.pass(100 * time.Millisecond)
			}
			switch w.rng.IntN(5) {
			case 0:
				w.Cut("north", "south")
			case 1:
				w.CutOneWay("south", "north")
			case 2:
				w.Pause("south")
			case 3:
				w.Sim.Net.Break("10.0.0.2:7400")
			}
			if kills > 0 && w.rng.IntN(3) == 0 {
				w.pass(2 * time.Second)
				w.crosses()
				w.Resume("south")
				if w.rng.IntN(3) == 0 { // in order
					_ = w.Node("south").Close(context.Background())
				}
				w.again("south")
				if w.rng.IntN(3) == 0 {
					w.again("north") // nobody is left to be answered
				}
			}
			w.pass(6 * time.Second)
			w.crosses()
			w.Resume("south")
			w.Heal("north", "south")
			w.pass(2 * time.Second)
		}
		w.Run(10 * time.Minute)
		for n, times := range w.paid {
			require.Equal(t, 1, times, "seed %d: %d ran twice", seed, n)
		}
		for n, p := range w.got {
			require.True(t, p.ended, "seed %d: %d", seed, n)
			switch {
			case p.err == nil:
				require.Equal(t, 1, w.paid[n], "seed %d: %d", seed, n)
				require.Equal(t, n, p.rep.N)
				if answered++; p.crossed {
					late++
				} else if p.rep.Payer != (core.AnyAddress{}) { // otherwise the address ended with its session
					require.True(t, p.rep.Payer == w.at["north"].Any(), "seed %d: %d", seed, n)
				}
			case errors.Is(p.err, core.ErrLost), p.err == core.ErrTimeout:
				lost++
			default:
				require.Condition(t, func() bool {
					return p.err == core.ErrNotFound || p.err == core.ErrMailboxFull || errors.Is(p.err, core.ErrNotSent)
				}, "seed %d: %v", seed, p.err)
				require.Zero(t, w.paid[n], "seed %d: %v", seed, p.err)
				refused++
			}
		}
		return w.Hash()
	})
	t.Logf("%d answered, of these %d by a later session; %d lost, %d refused", answered, late, lost, refused)
	require.Greater(t, late, answered/50)
	require.Positive(t, lost)
	require.True(t, refused > 0 || housetest.Slow, "none was refused")
}

// TestRetryInAnotherLife: an ask has run, but its answer is lost, and its node dies: before a
// retry, or while the retry waits for a connection. It doesn't run again in the next life.
func TestRetryInAnotherLife(t *testing.T) {
	for name, dies := range map[string]func(w *shop){
		"before": func(w *shop) { w.again("south") },
		"while it waits": func(w *shop) {
			w.Run(3 * time.Second) // the session is given up
			w.again("south")
		},
		"while it waits, in order": func(w *shop) {
			w.Run(3 * time.Second)
			_ = w.Node("south").Close(context.Background())
			w.again("south")
		},
		"in order": func(w *shop) {
			w.Heal("north", "south")
			_ = w.Node("south").Close(context.Background())
			w.again("south")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newShop(t, 1)
			w.Sim.Net.Faults = housetest.Faults{}
			_, err := housetest.Ask(t, w.Sim, w.port, payment{N: 1})
			require.NoError(t, err)
			p := core.Begin(w.port, payment{N: 2, Takes: 500 * time.Millisecond})
			w.Run(100 * time.Millisecond)
			w.Cut("north", "south")
			dies(w)
			w.Run(time.Second)
			w.Heal("north", "south")
			w.Run(time.Minute)
			require.True(t, p.Ready())
			_, err = p.Get()
			require.ErrorIs(t, err, core.ErrLost)
			require.Equal(t, map[int]int{1: 1, 2: 1}, w.paid)
			_, err = housetest.Ask(t, w.Sim, w.port, payment{N: 3})
			require.NoError(t, err)
		})
	}
}

// TestAnswerWithTheEnd: an answer comes together with the end of its node, to a node that was
// paused meanwhile. Either it is read, or the ask is lost.
func TestAnswerWithTheEnd(t *testing.T) {
	w := newShop(t, 1)
	w.Sim.Net.Faults = housetest.Faults{}
	_, err := housetest.Ask(t, w.Sim, w.port, payment{N: 1})
	require.NoError(t, err)
	p := core.Begin(w.port, payment{N: 2, Takes: 500 * time.Millisecond})
	w.Run(100 * time.Millisecond)
	w.Pause("north")
	w.Run(450 * time.Millisecond)
	require.NoError(t, w.Node("south").System.Shutdown(context.Background()))
	w.Resume("north")
	w.Run(time.Second)
	w.again("south")
	w.Run(time.Minute)
	require.True(t, p.Ready())
	if err = p.GetInto(func(r *receipt) { require.Equal(t, 2, r.N) }); err != nil {
		require.ErrorIs(t, err, core.ErrLost)
	}
	require.Equal(t, map[int]int{1: 1, 2: 1}, w.paid)
	_, err = housetest.Ask(t, w.Sim, w.port, payment{N: 3})
	require.NoError(t, err, "the hub is there")
}

// TestRetryLostInAnotherLife: the retry of an ask whose node has died since meets the next life,
// and the answer, that it can't be known, is lost, too: at any time. It doesn't run there either.
func TestRetryLostInAnotherLife(t *testing.T) {
	for at := time.Duration(0); at < 3*time.Second; at += 20 * time.Millisecond {
		t.Run(at.String(), func(t *testing.T) {
			w := newShop(t, 1)
			w.Sim.Net.Faults = housetest.Faults{}
			w.Sim.Net.Lag("south", "north", 50*time.Millisecond)
			p := core.Begin(w.port, payment{N: 1, Takes: time.Hour})
			w.Run(time.Second)
			require.Equal(t, map[int]int{1: 1}, w.paid)
			w.Cut("north", "south")
			w.Run(3 * time.Second)
			w.again("south")
			w.Heal("north", "south")
			w.Run(at)
			w.CutOneWay("south", "north")
			w.Run(5 * time.Second)
			w.Heal("south", "north")
			w.Run(time.Minute)
			require.True(t, p.Ready())
			_, err := p.Get()
			require.ErrorIs(t, err, core.ErrLost)
			require.Equal(t, map[int]int{1: 1}, w.paid)
		})
	}
}

// TestFirstTryInAnotherLife: of what has never left nothing is lost with a life, or a session.
func TestFirstTryInAnotherLife(t *testing.T) {
	for _, met := range []bool{false, true} {
		w := newShop(t, 1)
		if met {
			_, err := housetest.Ask(t, w.Sim, w.port, payment{N: 2})
			require.NoError(t, err)
		}
		w.Cut("north", "south")
		w.Sim.Net.Break("10.0.0.2:7400") // what is written now stays here
		w.Run(500 * time.Millisecond)
		p := core.Begin(w.port, payment{N: 1})
		w.Run(5 * time.Second)
		w.again("south")
		w.Run(3 * time.Second)
		w.Heal("north", "south")
		w.Run(time.Minute)
		require.True(t, p.Ready())
		_, err := p.Get()
		require.NoError(t, err, "met before: %v", met)
		require.Equal(t, 1, w.paid[1])
	}
}
