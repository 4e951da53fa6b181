package housetest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// TestRunPassesTime: as much as it is told to, and the cost of the turns.
func TestRunPassesTime(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{AskTimeout: 24 * time.Hour})
	core.Spawn(sim, func() *Door { return &Door{} })
	for _, d := range []time.Duration{0, time.Nanosecond, time.Millisecond, 3 * time.Hour} {
		before := sim.Now
		sim.Run(d)
		if passed := time.Duration(sim.Now - before); passed < d || passed > d+time.Millisecond {
			t.Errorf("Run(%v) took %v", d, passed)
		}
	}
}

// TestSimAsk: the simulation runs, timers and all, until the answer is there.
func TestSimAsk(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{AskTimeout: 24 * time.Hour})
	door := core.Spawn(sim, func() *Door { return &Door{} })
	if got, err := housetest.Ask(t, sim, doorPass.At(door), 30*time.Minute); got != "shut" || err != nil {
		t.Errorf("answer %q, %v", got, err)
	}
	if sim.Now < int64(30*time.Minute) || sim.Now > int64(31*time.Minute) {
		t.Errorf("it took %v", time.Duration(sim.Now))
	}
}

// TestSimAfterShutdown: it may still be asked and run; nothing happens.
func TestSimAfterShutdown(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	door := core.Spawn(sim, func() *Door { return &Door{} })
	if err := sim.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		sim.Rest()
		sim.Run(time.Second)
		if _, err := housetest.Ask(t, sim, doorLook.At(door), struct{}{}); !errors.Is(err, core.ErrStopped) {
			t.Errorf("error %v", err)
		}
	}
}

// TestHashTellsEventsApart: one message more, and another order, are another hash.
func TestHashTellsEventsApart(t *testing.T) {
	run := func(looks ...int) uint64 {
		sim := housetest.New(t, 1, house.Config{})
		doors := []core.Address[Door]{
			core.Spawn(sim, func() *Door { return &Door{} }),
			core.Spawn(sim, func() *Door { return &Door{} }),
		}
		for _, i := range looks {
			if _, err := housetest.Ask(t, sim, doorLook.At(doors[i]), struct{}{}); err != nil {
				t.Fatal(err)
			}
		}
		if sim.Events() < len(looks) {
			t.Errorf("%d events of %d messages", sim.Events(), len(looks))
		}
		return sim.Hash()
	}
	if first, again := run(0, 1), run(0, 1); first != again {
		t.Error("the same events have two hashes")
	}
	seen := map[uint64][]int{}
	for _, looks := range [][]int{{}, {0}, {1}, {0, 1}, {1, 0}, {0, 0}, {0, 1, 1}} {
		hash := run(looks...)
		if other, ok := seen[hash]; ok {
			t.Errorf("%v and %v have the same hash", other, looks)
		}
		seen[hash] = looks
	}
}
