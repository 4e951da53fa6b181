package core_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// failTimes has a ghost fail so often.
func failTimes(sim *housetest.Sim, a core.Address[ghost], n int) {
	for range n {
		core.Notice(ghostFail.At(a), errHot)
		sim.Rest()
	}
}

// failsIn is a step that waits for d before it fails.
func failsIn(d time.Duration) func(*ghost, *ghostStack) core.Yield {
	return func(_ *ghost, s *ghostStack) core.Yield {
		core.Timer.Ask(s, &s.wait, d)
		s.Req = panics(errHot)
		return core.Suspend(s, (*ghost).do)
	}
}

// At the default limit an actor is held: for 1 s at first, at most for 30, and anew behind a
// minute without a failure, or what is said to be the window; a hold is no such time.
func TestHoldAtTheDefaultLimit(t *testing.T) {
	for _, window := range []time.Duration{0, 10 * time.Second} {
		t.Run(window.String(), func(t *testing.T) { holdsAtTheDefaultLimit(t, window) })
	}
}

func holdsAtTheDefaultLimit(t *testing.T, window time.Duration) {
	sim := stage(t, 1, 2)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: &core.Strategy{Window: window}})
	p := ghostDo.At(a)
	sim.Rest()
	for range 2 {
		failTimes(sim, a, 5)
		_, err := housetest.Ask(t, sim, p, says("a"))
		require.NoError(t, err)
		for _, seconds := range []int64{1, 2, 4, 8, 16, 30, 30} {
			failTimes(sim, a, 1)
			sim.Run(time.Duration(seconds)*time.Second - time.Millisecond)
			_, err := housetest.Ask(t, sim, p, says("never"))
			require.ErrorIs(t, err, core.ErrRestarted)
			sim.Run(2 * time.Millisecond)
			_, err = housetest.Ask(t, sim, p, says("b"))
			require.NoError(t, err)
		}
		sim.Run(time.Minute)
		require.NotContains(t, d.took(), "never")
	}
}

// Who is held has ended: its children, what it began and its timers. Asks end at once, notices
// wait within the bound, and the next instance takes them.
func TestWhatAHoldEnds(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: &core.Strategy{}, Mailbox: core.Bounded(4, core.Reject)})
	p := ghostDo.At(a)
	failTimes(sim, a, 5)
	d.took()
	_, err := housetest.Ask(t, sim, p, func(_ *ghost, s *ghostStack) core.Yield {
		haunt(t, core.Under(s), d, "c", core.Props{})
		return s.Return(0)
	})
	require.NoError(t, err)
	begun, fails := core.Begin(p, sleeps(100*time.Millisecond, "never")), core.Begin(p, failsIn(50*time.Millisecond))
	sim.Rest()
	a.Pause()
	sim.Rest()
	waits := core.Begin(p, says("never"))
	sim.Run(60 * time.Millisecond)
	endedAs(t, core.ErrPanic, fails)
	endedAs(t, core.ErrRestarted, begun, waits)
	require.Equal(t, "c1:start c1:stop g6:end/hot", d.took())
	for i := range 6 {
		if err := core.Notice(ghostNotes.At(a), fmt.Sprint(i)); i < 4 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, core.ErrMailboxFull)
		}
	}
	a.Continue()
	sim.Run(900 * time.Millisecond)
	require.Empty(t, d.took())
	sim.Run(200 * time.Millisecond)
	require.Equal(t, "g7:again/hot g7:0 g7:1 g7:2 g7:3", d.took())
	a.Pause()
	sim.Rest()
	waits = core.Begin(p, says("b"))
	sim.Rest()
	require.False(t, waits.Ready(), "a pause is no hold")
	a.Continue()
	sim.Rest()
	endedAs(t, nil, waits)
}

// However many asks wait for who is held: a turn ends no more of them than its Budget, and the
// hold ends though they go on coming.
func TestManyAsksOfWhoIsHeld(t *testing.T) {
	for _, mailbox := range []core.Mailbox{core.Unbounded(), core.FairBySender(1 << 16)} {
		sim := stage(t, 1, 1)
		d := &diary{}
		a := haunt(t, sim, d, "g", core.Props{OnFailure: &core.Strategy{}, Mailbox: mailbox})
		failTimes(sim, a, 6)
		var waits []core.Pending[int]
		for range 20_000 {
			waits = append(waits, core.Begin(ghostDo.At(a), says("never")))
		}
		before := sim.Stats().Turns
		sim.Rest()
		require.Greater(t, sim.Stats().Turns-before, uint64(10))
		endedAs(t, core.ErrRestarted, waits...)
		sim.Run(2 * time.Second)
		_, err := housetest.Ask(t, sim, ghostDo.At(a), says("a"))
		require.NoError(t, err)
	}
}

// manyStack has asked for a lot when its actor is held.
type manyStack struct {
	core.AskStack[core.Port[script, int], int]
	f [40]core.Future[int]
}

func (g *ghost) askMany(s *manyStack) core.Yield {
	for i := range s.f {
		s.Req.Ask(s, &s.f[i], answerIn(time.Hour, 1))
	}
	return core.Suspend(s, (*ghost).gotMany)
}

func (g *ghost) gotMany(s *manyStack) core.Yield { return s.Return(0) }

var ghostMany = core.Handle((*ghost).askMany)

// Late answers to what was asked before a hold come to it first, and asks that come with them end
// at once all the same.
func TestHoldBesideLateAnswers(t *testing.T) {
	for seed := range uint64(50) {
		sim := stage(t, seed, 2)
		d := &diary{}
		a := haunt(t, sim.Workers()[0], d, "g", core.Props{OnFailure: &core.Strategy{}})
		_, other := cast(sim, 1)
		failTimes(sim, a, 5)
		many := core.Begin(ghostMany.At(a), other)
		sim.Rest()
		core.Notice(ghostFail.At(a), errHot)
		var asks []core.Pending[int]
		for range 30 {
			asks = append(asks, core.Begin(ghostDo.At(a), says("never")))
			sim.Turn()
		}
		sim.Rest()
		endedAs(t, core.ErrRestarted, append(asks, many)...)
		require.NotContains(t, d.took(), "never", "seed %d", seed)
	}
}

// A drain stands behind what waits in a hold, and asks behind the drain end at once too.
func TestDrainBehindAHold(t *testing.T) {
	for name, mailbox := range mailboxes {
		sim := stage(t, 1, 1)
		d := &diary{}
		a := haunt(t, sim, d, "g", core.Props{OnFailure: &core.Strategy{}, Mailbox: mailbox})
		failTimes(sim, a, 5)
		d.took()
		core.Notice(ghostFail.At(a), errHot)
		core.Notice(ghostNotes.At(a), "a")
		a.Drain()
		late := core.Begin(ghostDo.At(a), says("never"))
		sim.Rest()
		endedAs(t, core.ErrRestarted, late)
		sim.Run(1100 * time.Millisecond)
		require.Equal(t, "g6:end/hot g7:again/hot g7:a g7:stop", d.took(), name)
	}
}

// A Strategy that says how many restarts there may be stops at one more, and one that has all
// restart at once never holds.
func TestHoldIsTheDefaults(t *testing.T) {
	for restarts, actors := range map[int]int{5: 0, -1: 1} {
		sim := stage(t, 1, 1)
		a := haunt(t, sim, &diary{}, "g", core.Props{OnFailure: &core.Strategy{Restarts: restarts}})
		failTimes(sim, a, 6)
		require.Equal(t, actors, sim.Actors())
		if actors > 0 {
			_, err := housetest.Ask(t, sim, ghostDo.At(a), says("a"))
			require.NoError(t, err)
		}
	}
}

// A group is held as one actor is.
func TestHoldOfAGroup(t *testing.T) {
	sim := stage(t, 1, 1)
	d := &diary{}
	_, all := family(t, sim, d, core.Props{Children: &core.Strategy{Scope: core.RestForOne}})
	failTimes(sim, all[1], 6)
	for _, one := range all[1:3] {
		_, err := housetest.Ask(t, sim, ghostDo.At(one), says("never"))
		require.ErrorIs(t, err, core.ErrRestarted)
	}
	_, err := housetest.Ask(t, sim, ghostDo.At(all[0]), says("a"))
	require.NoError(t, err)
	sim.Run(1100 * time.Millisecond)
	_, err = housetest.Ask(t, sim, ghostDo.At(all[2]), says("a"))
	require.NoError(t, err)
	require.NotContains(t, d.took(), "never")
}

// note writes down what it is told.
func (g *ghost) noted(s *core.NoticeStack[string]) core.Yield {
	g.diary.note("%s%d:%s", g.name, g.life, s.Msg)
	return s.Return()
}

var ghostNotes = core.HandleNotice((*ghost).noted)

// Whatever comes in whichever order, from goroutines and actors, to a mailbox of any kind, before
// a hold and in it, with calls that are held or stashed: each ask ends once, at once in the hold,
// and all notices of one sender are taken in their order.
func TestHoldAtRandom(t *testing.T) {
	for name, mailbox := range mailboxes {
		for seed := range uint64(100) {
			holdAtRandom(t, name, mailbox, seed)
		}
	}
}

func holdAtRandom(t *testing.T, name string, mailbox core.Mailbox, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	sim := stage(t, seed, 1+rng.IntN(2))
	d := &diary{}
	a := haunt(t, sim, d, "g", core.Props{OnFailure: &core.Strategy{}, Mailbox: mailbox, Serial: rng.IntN(3) == 0})
	p, notes := ghostDo.At(a), ghostNotes.At(a)
	_, other := cast(sim, rng.IntN(len(sim.Workers())))
	failTimes(sim, a, 5)
	d.took()
	var asks, relayed []core.Pending[int]
	sent := map[string]int{}
	next := func(who string) string {
		sent[who]++
		return fmt.Sprintf("%s.%d", who, sent[who])
	}
	stashed, paused := 0, false
	step := func() {
		switch rng.IntN(9) {
		case 0, 1:
			asks = append(asks, core.Begin(p, says("a")))
		case 2:
			asks = append(asks, core.Begin(p, sleeps(time.Hour, "never")))
		case 3:
			n := 1 + rng.IntN(4) // of one step, and an ask behind them
			relayed = append(relayed, core.Begin(other, func(_ *player, s *scene) core.Yield {
				for range n {
					notes.Notice(s, next("actor"))
				}
				p.Ask(s, &s.f[0], says("a"))
				return s.wait(get)
			}))
		case 4:
			if stashed++; stashed < 4 {
				once := true
				asks = append(asks, core.Begin(p, func(g *ghost, s *ghostStack) core.Yield {
					if once {
						once = false
						return core.Stash(s)
					}
					return s.Return(0)
				}))
			}
		case 5:
			if paused = !paused; paused {
				a.Pause()
			} else {
				a.Continue()
			}
		default:
			for range 1 + rng.IntN(4) {
				core.Notice(notes, next("guest"))
			}
		}
		if rng.IntN(3) == 0 {
			sim.Turn()
		}
	}
	fails := core.Begin(p, failsIn(time.Second))
	sim.Rest()
	for range rng.IntN(12) {
		step()
	}
	sim.Run(1100 * time.Millisecond)
	endedAs(t, core.ErrPanic, fails)
	for i, c := range append(slices.Clone(asks), relayed...) {
		require.True(t, c.Ready(), "%s, seed %d: ask %d waits", name, seed, i)
	}
	for range rng.IntN(12) {
		step()
	}
	a.Continue()
	sim.Rest()
	for i, c := range append(asks, relayed...) {
		require.True(t, c.Ready(), "%s, seed %d: ask %d waits in the hold", name, seed, i)
		if _, err := c.Get(); err != nil {
			require.ErrorIs(t, err, core.ErrRestarted, "%s, seed %d: ask %d", name, seed, i)
		}
	}
	sim.Run(1100 * time.Millisecond)
	took := map[string]int{}
	for _, word := range strings.Fields(d.took()) {
		_, said, _ := strings.Cut(word, ":")
		who, number, _ := strings.Cut(said, ".")
		if number != "" {
			took[who]++
			require.Equal(t, fmt.Sprint(took[who]), number, "%s, seed %d: of %s", name, seed, who)
		}
	}
	require.Equal(t, sent, took, "%s, seed %d", name, seed)
	_, err := housetest.Ask(t, sim, p, says("a"))
	require.NoError(t, err, "%s, seed %d", name, seed)
	a.Drain()
	sim.Rest()
	require.NoError(t, sim.Shutdown(t.Context()))
	require.Zero(t, sim.Outstanding(), "%s, seed %d", name, seed)
}
