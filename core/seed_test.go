package core_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// drawn is a simulation whose seed draws what c leaves open: how many messages a visit and how
// long a turn has, what counts as slow, whether messages are traced, and the time that steps
// take. What costs no time hides starvation and early timers.
func drawn(t testing.TB, seed uint64, c house.Config, steps []time.Duration) *housetest.Sim {
	t.Helper()
	name := fnv.New64a() // so that few seeds are many settings
	name.Write([]byte(t.Name()))
	rng := rand.New(rand.NewPCG(seed, name.Sum64()))
	if budget := [...]int{1, 2, 1 + rng.IntN(7), 32}[rng.IntN(4)]; c.Budget == 0 {
		c.Budget = budget
	}
	c.TurnTime = [...]time.Duration{-1, 10 * time.Microsecond, 200 * time.Microsecond}[rng.IntN(3)]
	c.SlowStep = [...]time.Duration{-1, 15 * time.Microsecond, 100 * time.Millisecond}[rng.IntN(3)]
	if c.Logger == nil {
		c.Logger = quiet
	}
	if rng.IntN(3) == 0 { // what isn't traced goes other ways; its steps take no time
		return housetest.Untraced(t, seed, c)
	}
	sim := housetest.New(t, seed, c)
	switch n := rng.IntN(len(steps) + 1); {
	case n < len(steps): // all take as long
		sim.Steps = func() time.Duration { return steps[n] }
	default:
		sim.Steps = func() time.Duration { return steps[rng.IntN(len(steps))] }
	}
	return sim
}

// What a step of a simulation may take: of most; of those that count milliseconds; of those that
// count microseconds.
var (
	anySteps   = []time.Duration{0, time.Microsecond, 20 * time.Microsecond, time.Millisecond}
	briskSteps = anySteps[:3]
	noSteps    = anySteps[:1]
)

// eachSeed runs f on n simulations of a number of workers, with what their seeds have drawn.
func eachSeed(t *testing.T, n, workers int, f func(t *testing.T, sim *housetest.Sim)) {
	t.Helper()
	eachSeedOf(t, n, workers, anySteps, f)
}

func eachSeedOf(t *testing.T, n, workers int, steps []time.Duration, f func(t *testing.T, sim *housetest.Sim)) {
	t.Helper()
	if invariant.Race { // all of it is one goroutine, ten times as slow
		n = (n + 3) / 4
	}
	for seed := range uint64(n) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			f(t, drawn(t, seed, house.Config{Workers: workers, Supervise: resumes}, steps))
		})
	}
}
