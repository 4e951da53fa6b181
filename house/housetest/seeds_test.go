package housetest_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// The scenario: clerks on three workers handle orders. Each order asks a till, which
// takes its asks in batches, tells a ledger, waits a while, and now and then
// asks another clerk, panics, or stops one.

type (
	order struct{ N, Depth int }

	clerk struct {
		till   core.Port[int, int]
		ledger core.NoticePort[int]
		others []core.Port[order, int]
		stops  func()
	}
	orderStack struct {
		core.AskStack[order, int]
		paid  core.Future[int]
		tick  core.Future[core.Tick]
		other core.Future[int]
	}

	till      struct{ taken int }
	tillBatch struct {
		core.BatchAskStack[int, int]
		tick core.Future[core.Tick]
	}

	ledger      struct{ sum int }
	ledgerStack struct{ core.NoticeStack[int] }
)

func (c *clerk) handle(s *orderStack) core.Yield {
	c.till.AskWithin(s, &s.paid, s.Req.N, time.Duration(1+s.Req.N%7)*time.Millisecond)
	c.ledger.Notice(s, s.Req.N)
	core.Timer.Ask(s, &s.tick, time.Duration(s.Req.N%5)*time.Millisecond)
	return core.SuspendAny(s, (*clerk).either)
}

func (c *clerk) either(s *orderStack) core.Yield {
	if !s.paid.Ready() {
		return core.SuspendAny(s, (*clerk).either)
	}
	n, err := s.paid.Get()
	switch {
	case err != nil:
		return s.Throw(err)
	case s.Req.N%31 == 0:
		panic("order 31")
	case s.Req.N%47 == 0:
		c.stops()
	case s.Req.N%3 == 0 && s.Req.Depth > 0:
		c.others[s.Req.N%len(c.others)].Ask(s, &s.other, order{s.Req.N + n, s.Req.Depth - 1})
		return core.SuspendAny(s, (*clerk).passed)
	}
	return s.Return(n)
}

func (c *clerk) passed(s *orderStack) core.Yield {
	if !s.other.Ready() {
		return core.SuspendAny(s, (*clerk).passed)
	}
	n, err := s.other.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n + 1)
}

func (t *till) take(s *tillBatch) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Duration(s.Len())*time.Millisecond)
	return core.Suspend(s, (*till).taken1)
}

func (t *till) taken1(s *tillBatch) core.Yield {
	return s.ReturnEach(func(n *int) (int, error) {
		if *n%13 == 0 {
			return 0, errRefused
		}
		t.taken++
		return *n, nil
	})
}

func (l *ledger) note(s *ledgerStack) core.Yield { l.sum += s.Msg; return s.Return() }

var (
	errRefused = errors.New("refused")

	clerkHandle = core.Handle((*clerk).handle)
	tillTake    = core.HandleBatch((*till).take, 5)
	ledgerNote  = core.HandleNotice((*ledger).note)
)

// orders runs the scenario and returns the hash and the number of its events.
func orders(t *testing.T, seed uint64) (hash uint64, events int) {
	sim := housetest.New(t, seed, house.Config{Workers: 3, Supervise: resumes, Logger: slog.New(slog.DiscardHandler)})
	tl := core.Spawn(sim, func() *till { return &till{} })
	lg := core.Spawn(sim, func() *ledger { return &ledger{} })
	ports := make([]core.Port[order, int], 4)
	for i := range ports {
		var at core.Address[clerk]
		at = core.Spawn(sim, func() *clerk {
			return &clerk{till: tillTake.At(tl), ledger: ledgerNote.At(lg), others: ports, stops: func() { at.Stop() }}
		})
		ports[i] = clerkHandle.At(at)
	}
	var calls []core.Pending[int]
	for n := range 60 {
		calls = append(calls, core.Begin(ports[n%len(ports)], order{N: n, Depth: 2}))
		sim.Turn()
	}
	sim.Run(10 * time.Second)
	answered, failed := 0, 0
	for _, call := range calls {
		require.True(t, call.Ready(), "seed %d: an ask has no end", seed)
		if _, err := call.Get(); err != nil {
			failed++
		} else {
			answered++
		}
	}
	require.NotZero(t, answered, "seed %d", seed)
	require.NotZero(t, failed, "seed %d", seed)
	return sim.Hash(), sim.Events()
}

// TestG27SameSeedSameHash runs 200 seeds twice each.
func TestG27SameSeedSameHash(t *testing.T) {
	seen := map[uint64]uint64{}
	for seed := range uint64(200) {
		hash, events := orders(t, seed)
		again, eventsAgain := orders(t, seed)
		require.Equal(t, events, eventsAgain, "seed %d", seed)
		require.Equal(t, hash, again, "seed %d", seed)
		if other, ok := seen[hash]; ok {
			t.Errorf("seeds %d and %d have the same hash", other, seed)
		}
		seen[hash] = seed
	}
}
