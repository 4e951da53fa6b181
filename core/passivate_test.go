package core_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// The tests of this file have actors stop by themselves.

// keeps pauses passivation, or resumes it.
func keeps(keep bool) func(*ghost, *ghostStack) core.Yield {
	return func(_ *ghost, s *ghostStack) core.Yield {
		core.KeepActive(s, keep)
		return s.Return(0)
	}
}

// Who is idle for long enough, and not sooner, stops as by a drain, and its name is free.
func TestPassivateByTime(t *testing.T) {
	const idle = 10 * time.Millisecond
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			eachSeedOf(t, 10, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
				rng := rand.New(rand.NewPCG(sim.Seed, 2))
				d := &diary{}
				for range 3 {
					a := haunt(t, sim, d, "g", core.Props{Mailbox: mailbox, Passivate: core.Passivation{Idle: idle}}, func(g *ghost) { g.slow = time.Duration(sim.Seed%2) * time.Millisecond })
					sim.Run(2 * time.Millisecond) // it starts
					housetest.Ask(t, sim, ghostDo.At(a), says("a"))
					for range 20 {
						sim.Run(time.Duration(rng.Int64N(int64(idle * 9 / 10))))
						require.Equal(t, 1, sim.Actors(), "seed %d: early", sim.Seed)
						switch rng.IntN(3) {
						default:
							_, err := housetest.Ask(t, sim, ghostDo.At(a), says("a"))
							require.NoError(t, err)
						case 1:
							core.Notice(ghostFail.At(a), errHot)
							sim.Rest()
						case 2: // it isn't idle while it answers
							call := core.Begin(ghostDo.At(a), sleeps(9*idle/2, "b"))
							sim.Run(5 * idle)
							endedAs(t, nil, call)
							require.Equal(t, 1, sim.Actors(), "it counts anew from when it isn't idle")
							housetest.Ask(t, sim, ghostDo.At(a), says("a"))
						}
					}
					d.took()
					sim.Run(idle - late)
					require.Equal(t, 1, sim.Actors())
					sim.Run(2*late + time.Duration(sim.Seed%2)*time.Millisecond)
					require.Zero(t, sim.Actors(), "seed %d: late", sim.Seed)
					require.Equal(t, "g1:stop", d.took())
					_, err := core.Lookup[ghost](sim, "/user/g")
					require.ErrorIs(t, err, core.ErrNotFound)
				}
			})
		})
	}
}

// Nobody has to send anything to an actor that passivates by time, without hooks or a name.
func TestPassivateUntouched(t *testing.T) {
	sim := stage(t, 1, 2)
	for range 10 {
		listen(t, sim, core.Props{Passivate: core.Passivation{Idle: time.Second}})
	}
	sim.Run(time.Second - late)
	require.Equal(t, 10, sim.Actors())
	sim.Run(2 * late)
	require.Zero(t, sim.Actors())
	require.Panics(t, func() { listen(t, sim, core.Props{Passivate: core.Passivation{Idle: -1}}) })
}

// After so many messages the actor stops, behind what was queued. What comes behind gets
// ErrStopped.
func TestPassivateByCount(t *testing.T) {
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 10, 2, func(t *testing.T, sim *housetest.Sim) {
				d := &diary{}
				a := haunt(t, sim, d, "g", core.Props{Mailbox: mailbox, Passivate: core.Passivation{Messages: 5}})
				for range 3 {
					_, err := housetest.Ask(t, sim, ghostDo.At(a), says("a"))
					require.NoError(t, err)
				}
				core.Notice(ghostFail.At(a), errHot)
				sim.Run(time.Hour)
				require.Equal(t, 1, sim.Actors())
				a.Pause()
				sim.Rest()
				var calls []core.Pending[int]
				for range 4 {
					calls = append(calls, core.Begin(ghostDo.At(a), sleeps(time.Second, "b")))
				}
				sim.Rest()
				a.Continue()
				sim.Rest()
				behind := core.Begin(ghostDo.At(a), says("never"))
				sim.Run(2 * time.Second)
				endedAs(t, nil, calls...)
				endedAs(t, core.ErrStopped, behind)
				require.Zero(t, sim.Actors())
				require.Equal(t, "g1:start g1:a g1:a g1:a g1:b g1:b g1:b g1:b g1:stop", d.took())
				haunt(t, sim, d, "g", core.Props{})
			})
		})
	}
}

// Messages of each kind count: bare ones, in envelopes or alone, and those of batches.
func TestPassivateCountsEach(t *testing.T) {
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			eachSeed(t, 20, 2, func(t *testing.T, sim *housetest.Sim) {
				const most = 40
				_, a := listen(t, sim, core.Props{Mailbox: mailbox, Passivate: core.Passivation{Messages: most}})
				rng := rand.New(rand.NewPCG(sim.Seed, 3))
				for left := most - 1; left > 0; {
					n := 1 + rng.IntN(left)
					left -= n
					kind := rng.IntN(3)
					for range n {
						switch kind {
						case 0:
							core.Notice(listenerHear.At(a), false)
						case 1:
							core.Notice(listenerHears.At(a), 0)
						default:
							core.Notice(listenerWord.At(a), 0)
						}
					}
					if rng.IntN(2) == 0 {
						sim.Rest()
					}
				}
				sim.Rest()
				require.Equal(t, 1, sim.Actors(), "seed %d: early", sim.Seed)
				core.Notice(listenerHear.At(a), false)
				sim.Rest()
				require.Zero(t, sim.Actors(), "seed %d: late", sim.Seed)
			})
		})
	}
}

// TestPassivateCountsAcrossRestarts: the messages of all instances count.
func TestPassivateCountsAcrossRestarts(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: always(core.Restart), Passivate: core.Passivation{Messages: 4}})
	housetest.Ask(t, sim, ghostDo.At(a), says("a"))
	failTimes(sim, a, 2)
	require.Equal(t, 1, sim.Actors())
	housetest.Ask(t, sim, ghostDo.At(a), says("b"))
	sim.Rest()
	require.Zero(t, sim.Actors())
	require.Equal(t, "g1:start g1:a g1:end/hot g2:again/hot g2:end/hot g3:again/hot g3:b g3:stop", d.took())
}

// TestKeepActiveAndReceiveTimeout: who is kept active doesn't stop when it is told, or found to be
// told already, that nothing has come.
func TestKeepActiveAndReceiveTimeout(t *testing.T) {
	sim := stage(t, 1, 1)
	l, a := listen(t, sim, core.Props{Passivate: core.Passivation{Idle: time.Millisecond}})
	_, err := housetest.Ask(t, sim, listenerDo.At(a), func(_ *listener, s *listenStack) core.Yield {
		core.KeepActive(s, true)
		core.ReceiveTimeout(s, 10*time.Millisecond, listenerQuiet)
		return s.Return(0)
	})
	require.NoError(t, err)
	a.Pause()
	sim.Run(25 * time.Millisecond)
	a.Continue()
	sim.Run(25 * time.Millisecond)
	require.Equal(t, 1, sim.Actors())
	require.Greater(t, len(l.beats), 2)
}

// What an instance has asked for ends with it, also if there is a pause before the next: that one
// passivates, and isn't told of quiet.
func TestPassivationBehindAPause(t *testing.T) {
	for _, with := range []*core.Strategy{{}, {Backoff: 10 * time.Millisecond}} {
		for _, asks := range []func(*listener, *listenStack) core.Yield{
			timesOut(20 * time.Millisecond),
			func(_ *listener, s *listenStack) core.Yield { core.KeepActive(s, true); return s.Return(0) },
		} {
			sim := stage(t, 1, 1)
			l, a := listen(t, sim, core.Props{OnFailure: with, Passivate: core.Passivation{Idle: 10 * time.Second}})
			_, err := housetest.Ask(t, sim, listenerDo.At(a), asks)
			require.NoError(t, err)
			core.Notice(listenerHear.At(a), true)
			sim.Run(9 * time.Second)
			for _, b := range l.beats {
				require.False(t, b.quiet)
			}
			require.Equal(t, 1, sim.Actors())
			sim.Run(10 * time.Second)
			require.Zero(t, sim.Actors())
		}
	}
}

// It pauses and goes on; an instance that is made anew passivates.
func TestKeepActive(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		d := &diary{}
		with := core.Props{OnFailure: always(core.Restart), Passivate: core.Passivation{Idle: time.Second, Messages: 5}}
		a := haunt(t, sim, d, "g", with)
		housetest.Ask(t, sim, ghostDo.At(a), keeps(true))
		for range 9 {
			sim.Run(time.Minute)
			housetest.Ask(t, sim, ghostDo.At(a), says("a"))
		}
		require.Equal(t, 1, sim.Actors())
		housetest.Ask(t, sim, ghostDo.At(a), keeps(false))
		sim.Rest()
		require.Zero(t, sim.Actors(), "it has had enough")

		a = haunt(t, sim, d, "g", with)
		housetest.Ask(t, sim, ghostDo.At(a), keeps(true))
		sim.Run(time.Minute)
		housetest.Ask(t, sim, ghostDo.At(a), keeps(false))
		sim.Run(time.Second - late)
		require.Equal(t, 1, sim.Actors())
		sim.Run(2 * late)
		require.Zero(t, sim.Actors())

		a = haunt(t, sim, d, "g", with)
		housetest.Ask(t, sim, ghostDo.At(a), keeps(true))
		sim.Run(time.Minute)
		core.Notice(ghostFail.At(a), errHot)
		sim.Run(time.Second - late)
		require.Equal(t, 1, sim.Actors())
		sim.Run(2 * late)
		require.Zero(t, sim.Actors())

		housetest.Ask(t, sim, ghostDo.At(haunt(t, sim, d, "n", core.Props{})), keeps(true))
	})
}

// Who is held isn't idle.
func TestPassivateWhileHeld(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{Passivate: core.Passivation{Idle: time.Second}})
	a.Pause()
	sim.Run(time.Minute)
	call := core.Begin(ghostDo.At(a), says("a"))
	sim.Rest()
	a.Continue()
	sim.Rest()
	endedAs(t, nil, call)
	sim.Run(time.Second + late)
	require.Zero(t, sim.Actors())
}

// watchman is kept active by an ask until that ends.
type watchman struct{}

type vigil struct {
	core.AskStack[time.Duration, int]
	tick core.Future[core.Tick]
}

func (*watchman) begin(s *vigil) core.Yield {
	core.KeepActive(s, true)
	core.Timer.Ask(s, &s.tick, s.Req)
	return core.Suspend(s, (*watchman).end)
}

func (*watchman) end(s *vigil) core.Yield {
	core.KeepActive(s, false)
	return s.Return(0)
}

var watchmanKeep = core.Handle((*watchman).begin)

// TestKeepActiveCountsAnew: from when it was kept active last, though the last call began long
// before.
func TestKeepActiveCountsAnew(t *testing.T) {
	const idle = 10 * time.Millisecond
	sim := stage(t, 1, 2)
	a, err := core.SpawnWith(sim, func() *watchman { return &watchman{} }, core.Props{Passivate: core.Passivation{Idle: idle}})
	require.NoError(t, err)
	call := core.Begin(watchmanKeep.At(a), 5*idle)
	sim.Run(6*idle - late)
	endedAs(t, nil, call)
	require.Equal(t, 1, sim.Actors())
	sim.Run(2 * late)
	require.Zero(t, sim.Actors())
}

// TestPassivateWithAStash: who has put messages back isn't idle.
func TestPassivateWithAStash(t *testing.T) {
	const idle = 10 * time.Millisecond
	sim := stage(t, 1, 1)
	d := &door{}
	a := hang(t, sim, d, core.Props{Passivate: core.Passivation{Idle: idle}})
	knock := core.Begin(doorKnocks.At(a), 1)
	sim.Run(5 * idle)
	require.Equal(t, 1, sim.Actors())
	open := core.Begin(doorTurn.At(a), "open")
	sim.Run(3 * idle)
	endedAs(t, nil, knock, open)
	require.Zero(t, sim.Actors())
}
