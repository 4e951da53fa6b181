package housetest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// turnCost is what a turn takes on the virtual clock, ns.
const turnCost = 1000

// Sim is a system in one goroutine: the caller's. Time is virtual and passes with turns and in Run.
// The seed determines the order in which workers take turns, and how long offloaded functions take.
type Sim struct {
	*house.System
	Seed uint64
	Now  int64    // virtual clock, ns
	Net  *Network // in which servers of package channel listen

	// Steps, if set, returns how long the next step takes; that time passes before the step begins.
	// nil: steps take no time, which hides delays behind slow steps, and timers that are early.
	Steps func() time.Duration

	rng    *rand.Rand
	hash   uint64
	events int
	hosts  []*host         // of all systems: see Beside
	turns  []*house.Worker // of those that are awake
}

// New returns a started simulation of a system with config c, but with Clock, Manual and Trace of
// its own, and 2 workers by default. If c.OffloadTime is nil, an offloaded function takes up to 17
// ms, often much less; it runs at some moment of that time, and others run before, meanwhile and
// after. If c.Logger is nil, the system logs to t. At the end of the test the system is shut down,
// which runs the offloaded functions that are left.
func New(t testing.TB, seed uint64, c house.Config) *Sim {
	t.Helper()
	return build(t, seed, c, true)
}

// Untraced is New for a system without Trace, whose messages take the shorter ways of a program
// that asks for none. Hash and Events don't change, and Steps isn't called.
func Untraced(t testing.TB, seed uint64, c house.Config) *Sim {
	t.Helper()
	return build(t, seed, c, false)
}

func build(t testing.TB, seed uint64, c house.Config, traced bool) *Sim {
	t.Helper()
	s := &Sim{Seed: seed, rng: rand.New(rand.NewPCG(seed, 0x57ac)), hash: fnvBasis}
	s.Net = newNetwork(s, seed)
	s.System = s.start(t, Machine{}, c, traced)
	return s
}

// Beside starts another system with config c, as New does: in the same time and network, and its
// steps are in the same hash. It is shut down before s is.
func (s *Sim) Beside(t testing.TB, c house.Config) *house.System {
	t.Helper()
	return s.BesideOn(t, Machine{}, c)
}

// start starts a system of the simulation.
func (s *Sim) start(t testing.TB, m Machine, c house.Config, traced bool) *house.System {
	t.Helper()
	h, first := m.host(s.Net), 0
	for _, before := range s.hosts {
		first += len(before.system.Workers())
	}
	if c.Trace = nil; traced {
		c.Trace = func(worker int, actor uint64, step string, ask uint64) {
			if h.state != dead {
				s.trace(first+worker, actor, step, ask)
			}
		}
	}
	if c.Logger == nil {
		c.Logger = Log(t)
	}
	c.Clock = h.clock
	c.Manual = true
	c.Await = func(ctx context.Context, over func() bool, limit int64) { s.await(ctx, over, h.away(limit)) }
	c.Network = h
	extensions := map[string]any{simExtension: s}
	maps.Copy(extensions, c.Extensions)
	c.Extensions = extensions
	if c.OffloadTime == nil {
		c.OffloadTime = func() time.Duration { return time.Duration(s.rng.Int64N(1 << s.rng.IntN(24))) }
	}
	if c.Workers == 0 {
		c.Workers = 2
	}
	sys, err := house.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err = sys.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.system = sys
	s.hosts = append(s.hosts, h)
	s.rouse()
	t.Cleanup(func() {
		if err := sys.Shutdown(context.Background()); err != nil {
			t.Errorf("seed %d: shutdown: %v", s.Seed, err)
		}
		if n := sys.Outstanding(); n != 0 && !t.Failed() {
			t.Errorf("seed %d: %d pooled objects are still out after shutdown", s.Seed, n)
		}
	})
	return sys
}

// simExtension is the house.Config.Extensions of a simulation that is itself.
const simExtension = "housetest.Sim"

// simOf returns the simulation in which an actor lives; nil: it is in a system with threads.
func simOf[A any](a core.Address[A]) *Sim {
	s, _ := a.House().Owner().Guests.Extensions[simExtension].(*Sim)
	return s
}

// Log returns a logger that writes to the log of t, which go test shows if t fails. Systems that
// use it must be shut down when t ends.
func Log(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// trace folds an event into the hash.
func (s *Sim) trace(worker int, actor uint64, step string, ask uint64) {
	for _, x := range [...]uint64{uint64(worker), actor, ask, uint64(s.Now)} {
		s.fold(x)
	}
	for i := range len(step) {
		s.hash = (s.hash ^ uint64(step[i])) * fnvPrime
	}
	s.events++
	if s.Steps != nil {
		s.Now += int64(s.Steps())
	}
}

// fnvBasis and fnvPrime are those of FNV-1a, 64 bits.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// fold folds x into the hash: a step of FNV-1a, but by a word, with its upper bits mixed in.
func (s *Sim) fold(x uint64) {
	s.hash = (s.hash ^ x) * fnvPrime
	s.hash ^= s.hash >> 32
}

// Hash identifies the events so far: which step of which actor ran on which worker, when, and in
// what order. The same seed gives the same hash.
func (s *Sim) Hash() uint64 { return s.hash }

// Events returns the number of events so far.
func (s *Sim) Events() int { return s.events }

// Turn gives one worker, picked by the seed, a turn.
func (s *Sim) Turn() {
	s.Now += turnCost
	s.Net.advance() // a worker without descriptors doesn't poll
	if all := s.turns; len(all) > 0 {
		all[s.rng.IntN(len(all))].Turn()
	}
}

// quiet gives every worker a turn, in an order picked by the seed, and reports
// whether none of them had anything to do, nor will have at the present time.
func (s *Sim) quiet() bool {
	busy := false
	s.Net.advance()
	all := s.turns
	for _, i := range s.rng.Perm(len(all)) {
		s.Now += turnCost
		busy = all[i].Turn() || busy
	}
	return !busy && !s.Net.due()
}

// Rest runs turns until there is nothing left to do at the present time. It panics after a million
// rounds: then the actors never rest.
func (s *Sim) Rest() {
	for range 1_000_000 {
		s.Turn()
		if s.quiet() {
			return
		}
	}
	panic(fmt.Sprintf("housetest: seed %d: no rest after a million rounds", s.Seed))
}

// Run lets d of virtual time pass, and runs whatever is due in it, timers included.
func (s *Sim) Run(d time.Duration) {
	s.until(s.Now+int64(d), func() bool { return false })
}

// until runs turns until there reports true, or end has come on the virtual clock, and nothing is
// left to do at that time. If there reports true now, it runs none.
func (s *Sim) until(end int64, there func() bool) {
	for !there() {
		s.Rest()
		if there() || s.Now >= end {
			return
		}
		s.Now = min(end, s.Now+s.sleep())
	}
}

// await is Config.Await: it runs turns until over reports true, ctx ends, or limit has passed, ns,
// but an hour at most.
func (s *Sim) await(ctx context.Context, over func() bool, limit int64) {
	if limit <= 0 {
		limit = int64(time.Hour)
	}
	for end := s.Now + limit; !over() && ctx.Err() == nil && s.Now < end; {
		if s.quiet() && !over() {
			s.Now = min(end, s.Now+s.sleep())
		}
	}
}

// sleep returns how long there will be nothing to do, at most an hour, ns.
func (s *Sim) sleep() int64 {
	least := int64(time.Hour)
	for _, h := range s.hosts {
		if h.state == awake {
			for _, w := range h.system.Workers() {
				least = min(least, h.away(w.NextWake()))
			}
		}
	}
	if at, any := s.Net.next(); any {
		least = min(least, max(0, at-s.Now))
	}
	return least
}

// Ask asks as a guest, and runs the simulation until the answer is there and nothing is left to do
// at that time. It fails the test after an hour of virtual time without an answer. If some actors
// always have something to do, use core.Begin and Sim.Turn instead. Bytes in the reply are gone
// when Ask returns: see AskInto.
func Ask[Req, Rep any](t testing.TB, s *Sim, p core.Port[Req, Rep], req Req) (rep Rep, err error) {
	t.Helper()
	err = AskInto(t, s, p, req, func(r *Rep) { rep = *r })
	return rep, err
}

// AskInto is Ask for replies that refer to bytes: read is called with the reply while they are
// valid. If there is no reply, read isn't called.
func AskInto[Req, Rep any](t testing.TB, s *Sim, p core.Port[Req, Rep], req Req, read func(*Rep)) error {
	t.Helper()
	call := core.Begin(p, req)
	s.until(s.Now+int64(time.Hour), call.Ready)
	if !call.Ready() {
		t.Fatalf("seed %d: no answer in an hour", s.Seed)
	}
	return call.GetInto(read)
}
