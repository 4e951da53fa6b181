package housetest_test

import (
	"errors"
	"io"
	"strings"
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

// TestSteps: a step begins when the time has passed that it takes, in its order; one that isn't
// traced takes none.
func TestSteps(t *testing.T) {
	for _, traced := range []bool{true, false} {
		build, takes := housetest.New, 5*time.Millisecond
		if !traced {
			build, takes = housetest.Untraced, 0
		}
		sim := build(t, 1, house.Config{})
		var at []int64
		_, tell := core.SpawnNoticeFunc(sim, func(s *core.NoticeStack[int]) core.Yield {
			at = append(at, sim.Now)
			return s.Return()
		})
		sim.Steps = func() time.Duration { return 5 * time.Millisecond }
		before, events := sim.Now, sim.Events()
		for n := range 4 {
			if err := core.Notice(tell, n); err != nil {
				t.Fatal(err)
			}
		}
		sim.Rest()
		if len(at) != 4 {
			t.Fatalf("%d steps, want 4", len(at))
		}
		for i, now := range at {
			if least := before + int64(i+1)*int64(takes); now < least || now > least+int64(time.Millisecond) {
				t.Errorf("traced %t: step %d is at %d, want %d", traced, i, now, least)
			}
		}
		if n := sim.Events() - events; n > 0 != traced {
			t.Errorf("traced %t: %d events", traced, n)
		}
	}
}

// TestUntracedLeavesNoTrace: the caller's neither, or messages wouldn't take the shorter ways.
func TestUntracedLeavesNoTrace(t *testing.T) {
	events := 0
	sim := housetest.Untraced(t, 1, house.Config{Trace: func(int, uint64, string, uint64) { events++ }})
	door := core.Spawn(sim, func() *Door { return &Door{} })
	if _, err := housetest.Ask(t, sim, doorLook.At(door), struct{}{}); err != nil || events > 0 {
		t.Errorf("the caller's Trace was told of %d messages, %v", events, err)
	}
}

// heard is a test whose log can be read.
type heard struct {
	testing.TB
	log strings.Builder
}

func (h *heard) Output() io.Writer { return &h.log }

// TestSimLogsToTheTest: who failed is told there, and not on the terminal.
func TestSimLogsToTheTest(t *testing.T) {
	h := &heard{TB: t}
	sim := housetest.New(h, 1, house.Config{})
	_, tell := core.SpawnNoticeFunc(sim, func(*core.NoticeStack[int]) core.Yield { panic("at the disco") })
	if err := core.Notice(tell, 1); err != nil {
		t.Fatal(err)
	}
	sim.Rest()
	if text := h.log.String(); !strings.Contains(text, "at the disco") {
		t.Errorf("the log of the test: %q", text)
	}
}

// TestTurnsTakeTime: also those that look whether anything is left to do.
func TestTurnsTakeTime(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	if n := len(sim.Workers()); n != 2 {
		t.Errorf("%d workers, want 2", n)
	}
	for range 100 {
		before := sim.Now
		sim.Turn()
		if sim.Now-before != 1000 {
			t.Errorf("a turn took %d ns", sim.Now-before)
		}
	}
	before := sim.Now
	sim.Rest() // one turn, then one of each worker
	if sim.Now-before != 3000 {
		t.Errorf("a rest took %d ns", sim.Now-before)
	}
}

// complaints is a test that notes how it fails.
type complaints struct {
	testing.TB
	said []string
	ends []func()
}

func (c *complaints) Helper()                      {}
func (c *complaints) Failed() bool                 { return len(c.said) > 0 }
func (c *complaints) Cleanup(f func())             { c.ends = append(c.ends, f) }
func (c *complaints) Errorf(text string, _ ...any) { c.said = append(c.said, text) }

// TestSimTellsOfLeaks: the test fails whose simulation has pooled objects out in the end.
func TestSimTellsOfLeaks(t *testing.T) {
	for _, leaks := range []bool{false, true} {
		c := &complaints{TB: t}
		sim := housetest.New(c, 1, house.Config{})
		door := core.Spawn(sim, func() *Door { return &Door{} })
		call := core.Begin(doorLook.At(door), struct{}{})
		sim.Rest()
		if !leaks {
			call.Get()
		}
		for _, f := range c.ends {
			f()
		}
		if c.Failed() != leaks {
			t.Errorf("leaks %t: %q", leaks, c.said)
		}
	}
}

// TestBeside: another system passes the same time, its steps are in the same hash, and one seed
// makes one order of both.
func TestBeside(t *testing.T) {
	run := func(seed uint64, beside time.Duration) uint64 {
		sim := housetest.New(t, seed, house.Config{AskTimeout: time.Hour})
		other := sim.Beside(t, house.Config{AskTimeout: time.Hour})
		here := core.Spawn(sim, func() *Door { return &Door{} })
		there := core.Spawn(other, func() *Door { return &Door{} })
		first := core.Begin(doorPass.At(there), beside)
		second := core.Begin(doorPass.At(here), 2*time.Second)
		before := sim.Now
		sim.Run(time.Minute)
		if took := time.Duration(sim.Now - before); took > 61*time.Second {
			t.Errorf("a minute took %v", took)
		}
		for _, p := range []core.Pending[string]{first, second} {
			if got, err := p.Get(); got != "shut" || err != nil {
				t.Errorf("answer %q, %v", got, err)
			}
		}
		return sim.Hash()
	}
	if a, b := run(1, time.Second), run(1, time.Second); a != b {
		t.Errorf("hashes %x and %x of one seed", a, b)
	}
	if a, b := run(1, time.Second), run(1, 3*time.Second); a == b {
		t.Error("what another system does isn't in the hash")
	}
}
