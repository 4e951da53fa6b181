package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// forHours waits for so long that only who gives it up ends it.
func forHours(_ *player, s *scene) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Hour)
	return s.wait(func(*player, *scene) core.Yield { panic("nobody waits for it") })
}

// serial spawns a player on a worker that handles one ask at a time.
func serial(t *testing.T, at core.Place, mailbox core.Mailbox) core.Port[script, int] {
	t.Helper()
	a, err := core.SpawnWith(at, func() *player { return &player{} }, core.Props{Serial: true, Mailbox: mailbox})
	require.NoError(t, err)
	return play.At(a)
}

// TestGivenUpWhileSuspended: what waits for another is told that its own asker has given up, in
// time, whoever that was and wherever the ask is by now. Otherwise a serial actor would handle
// nothing more.
func TestGivenUpWhileSuspended(t *testing.T) {
	const soon = time.Millisecond
	type port = core.Port[script, int]
	ways := map[string]func(b, c, busy port) (port, script){
		"asked":           func(_, _, busy port) (port, script) { return busy, forHours },
		"relayed":         func(b, c, busy port) (port, script) { return b, relay(c, relay(busy, forHours)) },
		"forwarded":       func(b, _, busy port) (port, script) { return b, forward(busy, forHours) },
		"forwarded twice": func(b, c, busy port) (port, script) { return b, forward(c, forward(busy, forHours)) },
		"forwarded late": func(b, c, busy port) (port, script) {
			return c, func(_ *player, s *scene) core.Yield {
				core.Timer.Ask(s, &s.tick, soon/2)
				return s.wait(forward(b, forward(busy, forHours)))
			}
		},
		"forwarded to itself": func(_, _, busy port) (port, script) { return busy, forward(busy, forward(busy, forHours)) },
	}
	ends := map[string]func(to port, act script) script{
		"times out": func(to port, act script) script { return askWithin(to, soon, act) },
		"goes on": func(to port, act script) script {
			return func(_ *player, s *scene) core.Yield {
				to.Ask(s, &s.f[0], act)
				core.Timer.Ask(s, &s.tick, soon)
				return s.waitAny(answer(1))
			}
		},
	}
	each := func(t *testing.T, sim *housetest.Sim, way func(b, c, busy port) (port, script), end func(port, script) script, box core.Mailbox) {
		for at := range 8 {
			_, a := cast(sim, at&1)
			_, b := cast(sim, at>>1&1)
			_, c := cast(sim, (at>>1^at)&1)
			busy := serial(t, sim.Workers()[at>>2], box)
			first := core.Begin(a, end(way(b, c, busy)))
			sim.Run(soon * 3 / 4)
			next := core.Begin(busy, answer(7))
			sim.Run(10 * soon)
			if !first.Ready() || !next.Ready() {
				t.Fatalf("seed %d: the ask that was given up has ended: %v, the next: %v", sim.Seed, first.Ready(), next.Ready())
			}
			first.Get()
			if n, err := next.Get(); n != 7 || err != nil {
				t.Errorf("seed %d: answer %d, %v", sim.Seed, n, err)
			}
		}
		nothingLeft(t, sim)
	}
	for name, way := range ways {
		for why, end := range ends {
			for mailbox, box := range mailboxes {
				t.Run(name+", "+why+", "+mailbox, func(t *testing.T) {
					eachSeedOf(t, 3, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) { each(t, sim, way, end, box) })
				})
			}
		}
	}
}

// TestGivenUpByAGuest: so it is if that was a guest, whose context ends.
func TestGivenUpByAGuest(t *testing.T) {
	sys := open(t, house.Config{Workers: 2, AskTimeout: time.Hour})
	for name, way := range map[string]func(b, busy core.Port[script, int], act script) (core.Port[script, int], script){
		"asked": func(_, busy core.Port[script, int], act script) (core.Port[script, int], script) { return busy, act },
		"relayed": func(b, busy core.Port[script, int], act script) (core.Port[script, int], script) {
			return b, relay(busy, act)
		},
		"forwarded": func(b, busy core.Port[script, int], act script) (core.Port[script, int], script) {
			return b, forward(busy, act)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for at := range 4 {
				b := play.At(core.Spawn(sys.Workers()[at&1], func() *player { return &player{} }))
				busy := serial(t, sys.Workers()[at>>1], core.Mailbox{})
				ctx, cancel := context.WithCancel(t.Context())
				to, act := way(b, busy, func(p *player, s *scene) core.Yield {
					go cancel()
					return forHours(p, s)
				})
				_, err := core.Ask(ctx, to, act)
				require.ErrorIs(t, err, core.ErrCancelled)
				ctx, cancel = context.WithTimeout(t.Context(), deadlineOfTests/8)
				n, err := core.Ask(ctx, busy, answer(7))
				cancel()
				require.NoError(t, err)
				require.Equal(t, 7, n)
			}
		})
	}
}

// TestGivenUpByFirst: who is asked by First, and isn't the first, is told when that answers,
// whether an actor or a guest asked.
func TestGivenUpByFirst(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		for at := range 8 {
			group := &core.Group[player]{}
			quick, _ := cast(sim, at&1)
			group.Join(quick)
			slow, err := core.SpawnWith(sim.Workers()[at>>1&1], func() *player { return &player{} }, core.Props{Serial: true})
			require.NoError(t, err)
			group.Join(slow)
			first, act := core.First(play, group), func(p *player, s *scene) core.Yield {
				if core.Self[player](s) == quick {
					return answerIn(time.Millisecond, 3)(p, s)
				}
				return forHours(p, s)
			}
			if at>>2 == 0 {
				wantAnswer(t, sim, first, act, 3)
			} else {
				_, a := cast(sim, 0)
				wantAnswer(t, sim, a, relay(first, act), 3)
			}
			next := core.Begin(play.At(slow), answer(7))
			sim.Rest()
			endedAs(t, nil, next)
		}
		nothingLeft(t, sim)
	})
}
