package core_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/stack"
)

// The tests of this file have actors find out that nothing begins.

// listener writes down when each of its messages begins.
type listener struct {
	sim   *housetest.Sim
	beats []beat
}

type beat struct {
	at    int64
	quiet bool
}

type listenStack struct {
	core.AskStack[func(l *listener, s *listenStack) core.Yield, int]
	wait, again core.Future[core.Tick]
}

func (l *listener) hear(s *core.NoticeStack[bool]) core.Yield {
	l.beats = append(l.beats, beat{l.sim.Now, false})
	if s.Msg {
		panic(errHot)
	}
	return s.Return()
}

// hearWord hears a message of one machine word.
func (l *listener) hearWord(s *core.NoticeStack[uint64]) core.Yield {
	l.beats = append(l.beats, beat{l.sim.Now, false})
	return s.Return()
}

func (l *listener) hearAll(s *core.BatchNoticeStack[int]) core.Yield {
	l.beats = append(l.beats, beat{l.sim.Now, false})
	return s.Return()
}

func (l *listener) do(s *listenStack) core.Yield {
	l.beats = append(l.beats, beat{l.sim.Now, false})
	return s.Req(l, s)
}

func (l *listener) quiet(s *core.NoticeStack[core.Quiet]) core.Yield {
	l.beats = append(l.beats, beat{l.sim.Now, true})
	return s.Return()
}

var (
	listenerDo    = core.Handle((*listener).do)
	listenerHear  = core.HandleNotice((*listener).hear)
	listenerHears = core.HandleNoticeBatch((*listener).hearAll, 4)
	listenerWord  = core.HandleNotice((*listener).hearWord)
	listenerQuiet = core.HandleNotice((*listener).quiet)
)

// timesOut sets, changes or ends the receive timeout.
func timesOut(d time.Duration) func(*listener, *listenStack) core.Yield {
	return func(_ *listener, s *listenStack) core.Yield {
		core.ReceiveTimeout(s, d, listenerQuiet)
		return s.Return(0)
	}
}

// naps answers in d.
func naps(d time.Duration) func(*listener, *listenStack) core.Yield {
	return func(_ *listener, s *listenStack) core.Yield {
		core.Timer.Ask(s, &s.wait, d)
		return core.Suspend(s, func(_ *listener, s *listenStack) core.Yield { return s.Return(0) })
	}
}

// listensLate sleeps for a second, sets a timeout of 50 ms, and 40 ms later one of 100 ms.
func listensLate(_ *listener, s *listenStack) core.Yield {
	core.Timer.Ask(s, &s.wait, time.Second)
	return core.Suspend(s, func(_ *listener, s *listenStack) core.Yield {
		core.ReceiveTimeout(s, 50*time.Millisecond, listenerQuiet)
		core.Timer.Ask(s, &s.again, 40*time.Millisecond)
		return core.Suspend(s, (*listener).listensOn)
	})
}

func (l *listener) listensOn(s *listenStack) core.Yield {
	core.ReceiveTimeout(s, 100*time.Millisecond, listenerQuiet)
	return s.Return(0)
}

// listen spawns a listener.
func listen(t *testing.T, sim *housetest.Sim, p core.Props) (*listener, core.Address[listener]) {
	t.Helper()
	l := &listener{sim: sim}
	a, err := core.SpawnWith(sim.Workers()[0], func() *listener { return l }, p)
	require.NoError(t, err)
	return l, a
}

// late is what the turns of a test take at most.
const late = 100 * time.Microsecond

// A receive timeout comes never early, comes again, and moves with each message, whatever comes
// by whatever way.
func TestReceiveTimeout(t *testing.T) {
	for name, mailbox := range mailboxes {
		t.Run(name, func(t *testing.T) {
			eachSeedOf(t, 20, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
				rng := rand.New(rand.NewPCG(sim.Seed, 1))
				l, a := listen(t, sim, core.Props{Mailbox: mailbox, Serial: sim.Seed%3 == 2})
				const after = 10 * time.Millisecond
				_, err := housetest.Ask(t, sim, listenerDo.At(a), timesOut(after))
				require.NoError(t, err)
				for range 60 {
					switch rng.IntN(6) {
					case 0:
						housetest.Ask(t, sim, listenerDo.At(a), naps(time.Duration(rng.Int64N(int64(5*time.Millisecond)))))
					case 1:
						core.Notice(listenerHear.At(a), true)
					case 2:
						for range rng.IntN(20) {
							core.Notice(listenerHear.At(a), rng.IntN(50) == 0)
						}
					case 3:
						for range rng.IntN(10) {
							core.Notice(listenerHears.At(a), 0)
						}
					case 4:
						housetest.Ask(t, sim, listenerDo.At(a), timesOut(after))
					}
					sim.Run(time.Duration(rng.Int64N(int64(3 * after))))
				}
				told := 0
				for i, b := range l.beats[1:] {
					gap := time.Duration(b.at - l.beats[i].at)
					if b.quiet {
						told++
						require.GreaterOrEqual(t, gap, after, "seed %d: early", sim.Seed)
					}
					require.Less(t, gap, after+late, "seed %d: not told", sim.Seed)
				}
				require.NotZero(t, told)
			})
		})
	}
}

// A timeout can be shorter and longer than the one before it, and end.
func TestReceiveTimeoutChanges(t *testing.T) {
	eachSeedOf(t, 5, 1, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		l, a := listen(t, sim, core.Props{})
		var gaps []time.Duration
		for _, d := range []time.Duration{time.Second, time.Millisecond, time.Minute, 0, time.Millisecond} {
			housetest.Ask(t, sim, listenerDo.At(a), timesOut(d))
			from := sim.Now
			l.beats = nil
			sim.Run(2*d + time.Millisecond/2)
			if d == 0 {
				sim.Run(time.Hour)
				require.Empty(t, l.beats)
				continue
			}
			require.Len(t, l.beats, 2)
			gaps = append(gaps, time.Duration(l.beats[0].at-from).Round(time.Millisecond/2))
		}
		require.Equal(t, []time.Duration{time.Second, time.Millisecond, time.Minute, time.Millisecond}, gaps)
	})
}

// Who begins nothing because it is held is told once, when it begins again.
func TestReceiveTimeoutWhileHeld(t *testing.T) {
	sim := stage(t, 1, 1)
	l, a := listen(t, sim, core.Props{})
	housetest.Ask(t, sim, listenerDo.At(a), timesOut(time.Millisecond))
	a.Pause()
	sim.Run(time.Second)
	require.Len(t, l.beats, 1)
	a.Continue()
	sim.Rest()
	require.Len(t, l.beats, 2)
	sim.Run(time.Millisecond * 3 / 2)
	require.Len(t, l.beats, 3)
}

// Who has been told, and holds its calls, is told again if it asks anew.
func TestReceiveTimeoutAskedForAnewWhileHeld(t *testing.T) {
	sim := stage(t, 1, 1)
	l, a := listen(t, sim, core.Props{})
	call := core.Begin(listenerDo.At(a), func(_ *listener, s *listenStack) core.Yield {
		core.ReceiveTimeout(s, 10*time.Millisecond, listenerQuiet)
		core.Timer.Ask(s, &s.again, 25*time.Millisecond)
		return core.Suspend(s, (*listener).listensOn)
	})
	sim.Rest()
	a.Pause()
	sim.Run(200 * time.Millisecond)
	endedAs(t, nil, call)
	a.Continue()
	sim.Rest()
	require.Len(t, l.beats, 3)
}

// A timeout counts from when it was asked for, however long before that the last message began.
func TestReceiveTimeoutCountsFromTheRequest(t *testing.T) {
	sim := stage(t, 1, 1)
	l, a := listen(t, sim, core.Props{})
	from := sim.Now
	_, err := housetest.Ask(t, sim, listenerDo.At(a), listensLate)
	require.NoError(t, err)
	sim.Run(120 * time.Millisecond)
	require.Len(t, l.beats, 2)
	gap := time.Duration(l.beats[1].at - from)
	require.GreaterOrEqual(t, gap, 1140*time.Millisecond)
	require.Less(t, gap, 1140*time.Millisecond+late)
}

// Who has both stops by itself when it has been idle for long enough, before it is told or behind
// it: to be told is a message as any.
func TestReceiveTimeoutAndPassivation(t *testing.T) {
	sim := stage(t, 1, 1)
	l, a := listen(t, sim, core.Props{Passivate: core.Passivation{Idle: 20 * time.Millisecond}})
	housetest.Ask(t, sim, listenerDo.At(a), timesOut(50*time.Millisecond))
	sim.Run(10 * time.Millisecond)
	core.Notice(listenerHear.At(a), false)
	sim.Run(20*time.Millisecond + late)
	require.Zero(t, sim.Actors())
	require.Len(t, l.beats, 2)

	l, a = listen(t, sim, core.Props{Passivate: core.Passivation{Idle: 20 * time.Millisecond}})
	housetest.Ask(t, sim, listenerDo.At(a), timesOut(15*time.Millisecond))
	sim.Run(100 * time.Millisecond)
	require.Equal(t, 1, sim.Actors())
	require.Len(t, l.beats, 7)
}

// A message that waits in a full mailbox isn't dropped for the sake of the news that none has
// begun.
func TestReceiveTimeoutOfFullMailbox(t *testing.T) {
	sim := stage(t, 1, 1)
	l, a := listen(t, sim, core.Props{Mailbox: core.Bounded(1, core.DropOldest)})
	housetest.Ask(t, sim, listenerDo.At(a), timesOut(time.Millisecond))
	a.Pause()
	sim.Rest()
	require.NoError(t, core.Notice(listenerHear.At(a), false))
	sim.Run(time.Second)
	a.Continue()
	sim.Rest()
	require.Len(t, l.beats, 2)
	require.False(t, l.beats[1].quiet)
	wantStat(t, "full", stats(sim).Full, 0)
}

// Who drains can't ask for a timeout, which would keep it.
func TestReceiveTimeoutInDrain(t *testing.T) {
	sim := stage(t, 1, 1)
	l, a := listen(t, sim, core.Props{})
	asked := core.Begin(listenerDo.At(a), func(_ *listener, s *listenStack) core.Yield {
		core.Timer.Ask(s, &s.wait, time.Millisecond)
		return core.Suspend(s, (*listener).listensOn)
	})
	sim.Rest()
	a.Drain()
	sim.Run(time.Second)
	_, err := asked.Get()
	require.NoError(t, err)
	require.Zero(t, sim.Actors())
	require.Len(t, l.beats, 1)
}

// A fresh instance has no timeout, unless its hook asks for one; a stopped actor leaves none.
func TestReceiveTimeoutEnds(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		l, a := listen(t, sim, core.Props{OnFailure: always(core.Restart)})
		housetest.Ask(t, sim, listenerDo.At(a), timesOut(time.Millisecond))
		core.Notice(listenerHear.At(a), true)
		sim.Run(time.Second)
		require.Len(t, l.beats, 2)
		core.Notice(listenerHear.At(a), false)
		sim.Run(time.Second)
		require.Len(t, l.beats, 3)
		l.beats = l.beats[:2]
		housetest.Ask(t, sim, listenerDo.At(a), timesOut(time.Millisecond))
		sim.Run(3 * time.Millisecond)
		require.Greater(t, len(l.beats), 4)
		drained := core.Begin(listenerDo.At(a), naps(10*time.Millisecond))
		sim.Rest()
		a.Drain()
		sim.Run(time.Second)
		_, err := drained.Get()
		require.NoError(t, err)
		require.Zero(t, sim.Actors(), "its timeout doesn't keep it")

		_, b := listen(t, sim, core.Props{})
		housetest.Ask(t, sim, listenerDo.At(b), timesOut(time.Millisecond))
		b.Stop()
		sim.Run(time.Second)
		require.Zero(t, sim.Actors())
	})
}

// moves has an actor, which is told something, go to the worker of another.
func moves(sim *housetest.Sim, a core.Address[listener], to *stack.Engine) {
	sim.Now += int64(time.Second) // it has settled where it is
	w := a.House().Owner()
	sim.Rest()
	core.Notice(listenerHear.At(a), false)
	w.TakeRungs()
	w.HandOver(to, 1)
}

// A timeout goes along with its actor to another worker and back.
func TestReceiveTimeoutMoves(t *testing.T) {
	eachSeedOf(t, 10, 2, noSteps, func(t *testing.T, sim *housetest.Sim) {
		l := &listener{sim: sim}
		there, _ := cast(sim, 1)
		here, _ := cast(sim, 0)
		a := core.Spawn(here.Beside(), func() *listener { return l }) // it doesn't stay
		const after = 10 * time.Second
		housetest.Ask(t, sim, listenerDo.At(a), timesOut(after))
		for i := range 6 {
			to := there.House().Owner()
			if i%2 == 1 {
				to = here.House().Owner()
			}
			moves(sim, a, to)
			sim.Rest()
			require.Same(t, to, a.House().Owner())
			from := len(l.beats)
			sim.Run(after*3/2 - time.Duration(i)*time.Second)
			require.Len(t, l.beats[from:], 1)
			gap := time.Duration(l.beats[from].at - l.beats[from-1].at)
			require.GreaterOrEqual(t, gap, after)
			require.Less(t, gap, after+late)
		}
	})
}
