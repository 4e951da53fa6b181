package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Each counter counts what its comment says.
func TestStatsOfActors(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 2, Logger: quiet, Supervise: resumes})
	_, a := cast(sim, 0)
	_, b := cast(sim, 1)
	asks := func(n int, to core.Port[script, int], act script) {
		for range n {
			_, _ = housetest.Ask(t, sim, to, act)
		}
	}
	throws := func(_ *player, s *scene) core.Yield { return s.Throw(errHot) }
	fails := func(_ *player, _ *scene) core.Yield { panic(errHot) }
	stopped, c := cast(sim, 0)
	stopped.Stop()
	sim.Rest()
	door := core.Spawn(sim, func() *door { return &door{} })
	small, err := core.SpawnWith(sim, func() *player { return &player{} }, core.Props{Mailbox: core.Bounded(2, core.Reject)})
	require.NoError(t, err)

	of := map[string]func(house.Stats) uint64{
		"answers":  func(s house.Stats) uint64 { return s.Answers },
		"messages": func(s house.Stats) uint64 { return s.Messages },
		"refused":  func(s house.Stats) uint64 { return s.Refused },
		"full":     func(s house.Stats) uint64 { return s.Full },
		"timeouts": func(s house.Stats) uint64 { return s.Timeouts },
		"failures": func(s house.Stats) uint64 { return s.Failures },
		"letters":  func(s house.Stats) uint64 { return s.DeadLetter },
	}
	for _, step := range []struct {
		what string
		f    func()
		want map[string]int
	}{
		{"asks", func() { asks(5, a, answer(1)) }, map[string]int{"answers": 5, "messages": 5}},
		// the answer is one to the asker
		{"asks of asks", func() { asks(3, a, relay(b, answer(1))) }, map[string]int{"answers": 6, "messages": 9}},
		{"throws", func() { asks(3, a, throws) }, map[string]int{"answers": 3, "messages": 3}},
		{"panics", func() { asks(2, a, fails) }, map[string]int{"answers": 2, "messages": 2, "failures": 2}},
		{"asks of who stopped", func() {
			asks(4, a, func(_ *player, s *scene) core.Yield { c.Ask(s, &s.f[0], answer(1)); return s.wait(get) })
		},
			map[string]int{"answers": 8, "messages": 8, "refused": 4}},
		{"limits", func() {
			asks(2, a, func(_ *player, s *scene) core.Yield {
				b.AskWithin(s, &s.f[0], answerIn(time.Second, 1), time.Millisecond)
				return s.wait(get)
			})
		}, map[string]int{"timeouts": 2, "answers": 4}},
		{"a full stash", func() {
			for n := range 1024 + 3 {
				require.NoError(t, core.Notice(doorThrow.At(door), n))
				sim.Rest()
			}
		}, map[string]int{"full": 3, "letters": 3, "messages": 1024 + 3}},
		{"a full mailbox", func() {
			small.Pause()
			sim.Rest()
			for range 7 {
				call := core.Begin(play.At(small), answer(1))
				defer func() { _, _ = call.Get() }()
			}
			small.Continue()
			sim.Rest()
		}, map[string]int{"full": 5, "answers": 2}},
	} {
		before := stats(sim)
		step.f()
		after := stats(sim)
		for name, n := range step.want {
			if got := int(of[name](after) - of[name](before)); got != n {
				t.Errorf("%s: counted %d %s, want %d", step.what, got, name, n)
			}
		}
	}
}

// The waits are those of who had its turn late.
func TestStatsOfWaits(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	_, a := cast(sim, 0)
	for range 16 * 20 {
		call := core.Begin(a, answer(1))
		sim.Now += int64(5 * time.Millisecond)
		sim.Rest()
		_, _ = call.Get()
	}
	w := stats(sim).QueueWait
	for _, d := range []time.Duration{w.P50, w.P99, w.Max} {
		require.InDelta(t, 5*time.Millisecond, d, float64(time.Millisecond), "%v", w)
	}
}
