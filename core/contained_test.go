package core_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// quits is middleware that fails when a call begins.
type quits struct{ how func() }

func (m quits) Begins(core.Running) error { m.how(); return nil }
func (m quits) Ended(core.Running, error) {}

// What a user wrote, and the runtime calls outside of steps, may panic and call runtime.Goexit:
// who asked hears of it, and the actor goes on, or stops if that was its decider.
func TestCallsOutsideOfSteps(t *testing.T) {
	for name, how := range map[string]func(){"panic": func() { panic("mine") }, "Goexit": runtime.Goexit} {
		decides := &core.Strategy{Decide: func(error) core.Directive { how(); return core.Restart }}
		fails := func(g *ghost) { g.fails = "start" }
		child := func(with core.Props, how ...func(*ghost)) func(*testing.T, *house.System) core.Port[func(*ghost, *ghostStack) core.Yield, int] {
			return func(t *testing.T, sys *house.System) core.Port[func(*ghost, *ghostStack) core.Yield, int] {
				made := make(chan core.Address[ghost], 1)
				_, err := core.Ask(t.Context(), ghostDo.At(haunt(t, sys, &diary{}, "p", with)), func(g *ghost, s *ghostStack) core.Yield {
					made <- haunt(t, core.Under(s), &diary{}, "c", core.Props{}, how...)
					return s.Return(0)
				})
				require.NoError(t, err)
				return ghostDo.At(<-made)
			}
		}
		type port = core.Port[func(*ghost, *ghostStack) core.Yield, int]
		for _, c := range []struct {
			name string
			at   func(*testing.T, *house.System) port
		}{
			{"of itself", func(t *testing.T, sys *house.System) port {
				return ghostDo.At(haunt(t, sys, &diary{}, "g", core.Props{OnFailure: decides}))
			}},
			{"of a start", func(t *testing.T, sys *house.System) port {
				return ghostDo.At(haunt(t, sys, &diary{}, "g", core.Props{OnFailure: decides}, fails))
			}},
			{"of a child", child(core.Props{Children: decides})},
			{"of a child's start", child(core.Props{Children: decides}, fails)},
			{"of a group", child(core.Props{Children: &core.Strategy{Scope: core.AllForOne, Decide: decides.Decide}})},
			{"of who escalates", child(core.Props{OnFailure: decides, Children: always(core.Escalate)})},
		} {
			t.Run(name+" in a decider "+c.name, func(t *testing.T) {
				sys := open(t, house.Config{Workers: 1, WakeForGuests: true})
				p := c.at(t, sys)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				_, err := core.Ask(ctx, p, panics(errHot))
				if err != core.ErrStopped {
					require.ErrorIs(t, err, core.ErrPanic)
					_, err = core.Ask(ctx, p, says("a"))
				}
				require.ErrorIs(t, err, core.ErrStopped)
				require.NoError(t, sys.Shutdown(ctx))
				require.Zero(t, sys.Outstanding())
			})
		}
		t.Run(name+" elsewhere", func(t *testing.T) {
			sys := open(t, house.Config{Workers: 1, WakeForGuests: true})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			w := sys.Workers()[0]
			one := func() *player { return &player{} }
			idle := play.At(core.Spawn(w, one))
			judged := core.NewBreaker(core.BreakerConfig{Failures: 1, Failed: func(error) bool { how(); return false }})
			own := core.NewBreaker(core.BreakerConfig{Failures: 1, Failed: func(error) bool { how(); return false }})
			pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: "judged", Breaker: judged})
			require.NoError(t, err)
			class, err := core.SpawnWith(w, one, core.Props{Mailbox: core.ByPriority(8, hintOrPlay.Class(func(*script) int { how(); return 0 }))})
			require.NoError(t, err)
			before := core.Handle((*player).open, quits{how})
			var members core.Group[player]
			members.Join(core.Spawn(w, one))
			key := func(*script) uint64 { how(); return 0 }
			keyed := play.ByKey(&members, key)
			through := play.At(core.Spawn(w, one)).Through(func(s script) (script, error) { how(); return s, nil })
			for _, c := range []struct {
				name string
				to   core.Port[script, int]
				does script
			}{
				{"a predicate", play.At(core.Spawn(w, one)), func(_ *player, s *scene) core.Yield {
					core.Timer.Ask(s, &s.tick, 0)
					idle.Ask(s, &s.f[0], never)
					return s.waitUntil(func(*scene) bool { how(); return true }, answer(1))
				}},
				{"a class", hintOrPlay.At(class), answer(1)},
				{"middleware", before.At(core.Spawn(w, one)), answer(1)},
				{"a key", play.At(core.Spawn(w, one)), func(_ *player, s *scene) core.Yield {
					keyed.Ask(s, &s.f[0], answer(1))
					return s.wait(get)
				}},
				{"a key of a forward", play.At(core.Spawn(w, one)), func(_ *player, s *scene) core.Yield { return keyed.Forward(s, answer(1)) }},
				{"what is asked through", play.At(core.Spawn(w, one)), func(_ *player, s *scene) core.Yield {
					through.Ask(s, &s.f[0], answer(1))
					return s.wait(get)
				}},
				{"a judge", play.At(core.Spawn(w, one)), func(_ *player, s *scene) core.Yield {
					call, _ := own.Begin(core.Now(s))
					own.End(core.Now(s), call, errDown)
					panic("behind the end")
				}},
			} {
				_, err := core.Ask(ctx, c.to, c.does)
				require.ErrorIs(t, err, core.ErrPanic, c.name)
			}
			require.Equal(t, core.BreakerOpen, own.State())
			for _, want := range []error{errDown, core.ErrBreakerOpen} {
				_, err := core.Ask(ctx, idle, func(_ *player, s *scene) core.Yield {
					core.OffloadTo(s, &s.f[0], pool, 1, func(context.Context, int) (int, error) { return 0, errDown })
					return s.wait(get)
				})
				require.ErrorIs(t, err, want, "a judge of a pool")
			}
			for _, to := range []core.Port[script, int]{idle, play.At(class)} {
				n, err := core.Ask(ctx, to, answer(7))
				require.NoError(t, err)
				require.Equal(t, 7, n)
			}
			require.NoError(t, sys.Shutdown(ctx))
			require.Zero(t, sys.Outstanding())
		})
	}
}

// hintOrPlay is another handler of scripts, whose class fails.
var hintOrPlay = core.Handle((*player).open)

// never answers in time.
func never(_ *player, s *scene) core.Yield {
	core.Timer.Ask(s, &s.tick, time.Hour)
	return s.wait(answer(1))
}
