package core_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// This file: two systems in one process. Guests reach both; steps reach their own.

var playerGone = core.HandleNotice(func(*player, *core.NoticeStack[core.Terminated]) core.Yield { panic("nobody has gone") })

// TestOtherSystem: whatever a step sends to an actor of another system is refused, and that actor
// never hears of it.
func TestOtherSystem(t *testing.T) {
	for workers := range 3 {
		here, there := stage(t, 1, workers+1), stage(t, 2, workers+1)
		_, a := cast(here, 0)
		foreigner := &player{}
		far := core.Spawn(there.Workers()[workers], func() *player { return foreigner })
		there.Rest()
		lost := core.Events[core.DeadLetter](here).Listen(100)
		defer lost.Close()

		for range 3 { // also behind a refusal
			wantError(t, here, a, relay(play.At(far), answer(1)), core.ErrOtherSystem)
			wantError(t, here, a, func(_ *player, s *scene) core.Yield {
				return play.At(far).Forward(s, answer(1))
			}, core.ErrOtherSystem)
			wantAnswer(t, here, a, func(_ *player, s *scene) core.Yield {
				for range 3 { // from the third on they would share an envelope
					if err := hint.At(far).Notice(s, nil); err != core.ErrOtherSystem {
						t.Errorf("a notice: %v", err)
					}
				}
				return s.Return(2)
			}, 2)
		}
		require.Len(t, drained(lost), 9)
		require.Equal(t, map[string]uint64{"func(*core_test.player, *core_test.cue) stack.Yield: another system": 9}, letterCounts(here))
		require.Empty(t, letterCounts(there))

		_, err := housetest.Ask(t, here, a, func(_ *player, s *scene) core.Yield {
			core.Watch(s, far, playerGone)
			return s.Return(0)
		})
		wantPanic(t, err, "watches one of another system")
		wantAnswer(t, here, a, func(_ *player, s *scene) core.Yield {
			core.Unwatch(s, far, playerGone)
			return s.Return(3)
		}, 3)
		for _, w := range there.Workers() {
			require.False(t, w.Turn(), "something has arrived")
		}
		require.Zero(t, foreigner.steps)
		wantAnswer(t, there, play.At(far), answer(4), 4)
	}
}

// TestRoutersOfTwoSystems: a group may have members in several, of which a step reaches its own;
// whom it draws elsewhere refuses it.
func TestRoutersOfTwoSystems(t *testing.T) {
	here, there := stage(t, 1, 2), stage(t, 2, 2)
	_, a := cast(here, 0)
	var g core.Group[player]
	for i := range 4 {
		g.Join(core.Spawn([]*housetest.Sim{here, there}[i%2].Workers()[i/2], func() *player { return &player{} }))
	}
	all, first, turns := core.Broadcast(play, &g), core.First(play, &g), play.RoundRobin(&g)
	wantAnswer(t, here, a, relay(first, answer(1)), 1)
	wantAnswer(t, here, a, func(_ *player, s *scene) core.Yield {
		for i := range 4 {
			turns.Ask(s, &s.f[i], answer(1))
		}
		return s.wait(func(_ *player, s *scene) core.Yield {
			sum := 0
			for i := range 4 {
				n, err := s.f[i].Get()
				if err != nil && err != core.ErrOtherSystem {
					t.Error(err)
				}
				sum += n
			}
			return s.Return(sum)
		})
	}, 2)
	c := core.Begin(all, answer(1)) // beside the first member
	here.Rest()
	require.NoError(t, c.GetInto(func(answers *core.Answers[int]) {
		replies := 0
		for i := range answers.Len() {
			if _, err := answers.Get(i); err == nil {
				replies++
			} else {
				require.Equal(t, core.ErrOtherSystem, err)
			}
		}
		require.Equal(t, 2, replies)
	}))
}

// TestNamedOfAnotherSystem: no actor is made for a step that couldn't reach it; guests have them
// made anywhere.
func TestNamedOfAnotherSystem(t *testing.T) {
	here, there := stage(t, 1, 2), stage(t, 2, 2)
	_, a := cast(here, 0)
	all, book := tenants(there, core.NamedConfig[tenant]{})
	ask, tell := core.ByName(tenantRent, all, nameOfRent), core.NoticeByName(tenantTold, all, nameOfRent)
	for made := range 2 {
		wantError(t, here, a, func(_ *player, s *scene) core.Yield {
			ask.Ask(s, &s.f[0], rent{name: "a", n: 1})
			return s.wait(func(_ *player, s *scene) core.Yield {
				_, err := s.f[0].Get()
				return s.Throw(err)
			})
		}, core.ErrOtherSystem)
		wantError(t, here, a, func(_ *player, s *scene) core.Yield {
			return s.Throw(tell.Notice(s, rent{name: "a", n: 1}))
		}, core.ErrOtherSystem)
		require.Equal(t, map[string]uint64{"core_test.rent: another system": uint64(made + 1)}, letterCounts(here))
		require.Equal(t, made, book.made)
		_, err := housetest.Ask(t, there, ask, rent{name: "a"})
		require.NoError(t, err)
	}
}

// TestTwoSystems: each runs its own traffic, of guests that reach both, on threads of its own.
func TestTwoSystems(t *testing.T) {
	first, second := open(t, house.Config{Workers: 2}), open(t, house.Config{Workers: 1})
	testMesh(t, 500, first)
	testMesh(t, 500, second)
}

// TestTwoSystemsOneShutDown: a function that is offloaded reaches another system, as does any
// goroutine. When that shuts down its asks end with ErrStopped.
func TestTwoSystemsOneShutDown(t *testing.T) {
	for _, workers := range []int{1, 2} {
		living, dying := open(t, house.Config{Workers: workers}), open(t, house.Config{Workers: workers})
		a := play.At(core.Spawn(living, func() *player { return &player{} }))
		b := play.At(core.Spawn(dying, func() *player { return &player{} }))
		across := func(ctx context.Context, act script) (int, error) { return core.Ask(ctx, b, act) }
		g := newGate()
		if n, err := core.Ask(t.Context(), a, offloads(answer(2), across)); n != 2 || err != nil {
			t.Errorf("answer %d, %v", n, err)
		}
		waits := core.Begin(a, offloads(offloads(g, hold), across))
		<-g.entered
		if err := dying.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := waits.Get(); err != core.ErrStopped {
			t.Errorf("error %v", err)
		}
		for range 10 {
			if _, err := core.Ask(t.Context(), a, offloads(answer(1), across)); err != core.ErrStopped {
				t.Errorf("error %v", err)
			}
		}
		close(g.open)
		if n, err := core.Ask(t.Context(), a, answer(3)); n != 3 || err != nil {
			t.Errorf("the living one answers %d, %v", n, err)
		}
		closeSystem(t, living)
	}
}
