package housetest_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// disk is what functions write to; in a simulation one at a time does.
type disk struct {
	holds int
	runs  int  // writes
	exits bool // a write calls runtime.Goexit
}

type write struct {
	to *disk
	n  int
}

func put(ctx context.Context, w write) (int, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if w.to.exits {
		runtime.Goexit()
	}
	w.to.holds = w.n
	w.to.runs++
	return w.n, nil
}

// saver counts, and saves each count before it answers with it.
type (
	saver struct {
		disk  *disk
		count int
		alone bool // one write at a time
	}
	saverStack struct {
		core.AskStack[struct{}, int]
		saved core.Future[int]
	}
)

func (a *saver) add(s *saverStack) core.Yield {
	if a.alone {
		s.Barrier()
	}
	a.count++
	core.Offload(s, &s.saved, write{a.disk, a.count}, put)
	return core.Suspend(s, (*saver).added)
}

func (a *saver) added(s *saverStack) core.Yield {
	n, err := s.saved.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var saverAdd = core.Handle((*saver).add)

// saves has a saver, whose writes are alone or not, count to n, and returns the simulation and
// its disk.
func saves(t *testing.T, seed uint64, alone bool, n int) (*housetest.Sim, *disk) {
	t.Helper()
	sim := housetest.New(t, seed, house.Config{Workers: 2})
	d := &disk{}
	p := saverAdd.At(core.Spawn(sim, func() *saver { return &saver{disk: d, alone: alone} }))
	var calls []core.Pending[int]
	for range n {
		calls = append(calls, core.Begin(p, struct{}{}))
	}
	sim.Run(time.Second)
	for _, c := range calls {
		_, err := c.Get()
		require.NoError(t, err, "seed %d", seed)
	}
	require.Equal(t, n, d.runs, "seed %d", seed)
	return sim, d
}

// TestSimulationFindsTwoWritesInFlight: an actor that has two writes in flight loses one of 100
// seeds' at least; one that has one doesn't.
func TestSimulationFindsTwoWritesInFlight(t *testing.T) {
	lost := 0
	for seed := range uint64(100) {
		sim, d := saves(t, seed, false, 2)
		if d.holds != 2 {
			lost++
		}
		again, _ := saves(t, seed, false, 2)
		require.Equal(t, sim.Hash(), again.Hash(), "seed %d", seed)
		_, d = saves(t, seed, true, 2)
		require.Equal(t, 2, d.holds, "seed %d", seed)
	}
	t.Logf("%d of 100 seeds find it", lost)
	require.NotZero(t, lost, "no seed of 100 finds it")
}

// TestGoexitInASimulatedFunction: it ends the goroutine that drives the simulation, as a test's
// SkipNow does, and what that has deferred may shut the system down.
func TestGoexitInASimulatedFunction(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Workers: 1})
	p := saverAdd.At(core.Spawn(sim, func() *saver { return &saver{disk: &disk{exits: true}} }))
	call, ended := core.Begin(p, struct{}{}), make(chan error)
	go func() {
		defer func() { ended <- sim.Shutdown(context.Background()) }()
		sim.Run(time.Second)
	}()
	require.NoError(t, <-ended)
	_, err := call.Get()
	require.ErrorIs(t, err, core.ErrStopped)
}

// TestSimulatedFunctionsTakeTime: several are at work, as many as the pool has goroutines, others
// act meanwhile, and deadlines pass.
func TestSimulatedFunctionsTakeTime(t *testing.T) {
	for seed := range uint64(10) {
		sim := housetest.New(t, seed, house.Config{Workers: 2, OffloadMax: 2, OffloadQueue: 1, AskTimeout: 25 * time.Millisecond,
			OffloadTime: func() time.Duration { return 10 * time.Millisecond }})
		d := &disk{}
		p := saverAdd.At(core.Spawn(sim, func() *saver { return &saver{disk: d} }))
		var calls []core.Pending[int]
		for range 4 {
			calls = append(calls, core.Begin(p, struct{}{}))
		}
		sim.Run(5 * time.Millisecond)
		st := sim.OffloadStats()[0]
		require.Equal(t, house.OffloadStats{Name: "default", Goroutines: 2, Running: 2, Queued: 1, Refused: 1}, st, "seed %d", seed)
		require.Zero(t, d.runs, "seed %d", seed)
		sim.Run(10 * time.Millisecond)
		require.Equal(t, 2, d.runs, "seed %d", seed)
		require.Equal(t, 2, sim.OffloadStats()[0].Running, "seed %d: they have run, and aren't home", seed)
		sim.Run(time.Second)
		var errs []error
		for _, c := range calls {
			_, err := c.Get()
			errs = append(errs, err)
		}
		require.Equal(t, []error{nil, nil, core.ErrTimeout, core.ErrOverloaded}, errs, "seed %d", seed)
		require.Equal(t, 2, d.runs, "seed %d: the third heard at its begin that nobody waits", seed)
	}
}
