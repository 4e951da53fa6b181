package core_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// stranger is an actor of another type whose step takes a scene as well.
type stranger struct{}

func (x *stranger) next(s *scene) core.Yield { return s.Return(666) }

// TestMisuse has steps break the rules: each panics with a clear text, is
// contained, and costs nothing but its own stack.
func TestMisuse(t *testing.T) {
	var spare core.Future[int]
	for _, c := range []struct {
		name string
		act  func(b core.Port[script, int]) script
		want string
	}{
		{"suspend with nothing asked", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { return s.wait(get) }
		}, "Suspend with nothing asked in core_test.(*player).open"},
		{"suspend any with nothing asked", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { return s.waitAny(get) }
		}, "Suspend with nothing asked"},
		{"suspend until with nothing asked", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { return s.waitUntil(nil, get) }
		}, "Suspend with nothing asked"},
		{"suspend again with all answered", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				return s.wait(func(_ *player, s *scene) core.Yield { return s.wait(get) })
			}
		}, "Suspend with nothing asked"},
		{"suspend twice in a step", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				s.wait(get)
				return s.wait(get)
			}
		}, "a suspended stack can't end"},
		{"ask after suspend", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				y := s.wait(get)
				b.Ask(s, &s.f[1], answer(1))
				return y
			}
		}, "a suspended stack can't"},
		{"ask after return", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				y := s.Return(1)
				b.Ask(s, &s.f[0], answer(1))
				return y
			}
		}, "a stack ends twice"},
		{"next step of another actor", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				return core.Suspend(s, (*stranger).next)
			}
		}, "the next step belongs to another actor"},
		{"future asked again while it waits", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				b.Ask(s, &s.f[0], answer(2))
				return s.wait(get)
			}
		}, "a future is asked again before it is answered"},
		{"timer asked again while it waits", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				core.Timer.Ask(s, &s.tick, 1)
				core.Timer.Ask(s, &s.tick, 1)
				return s.wait(get)
			}
		}, "a future is asked again before it is answered"},
		{"get of a future not asked", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { return get(nil, s) }
		}, "Get of a future that was not asked"},
		{"get of any future not asked", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { spare.Get(); return s.Return(1) }
		}, "Get of a future that was not asked"},
		{"get of a future not ready", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				return get(nil, s)
			}
		}, "Get of a future that is not answered yet"},
		{"zero Yield", func(core.Port[script, int]) script {
			return func(*player, *scene) core.Yield { return core.Yield{} }
		}, "a step returned the zero Yield"},
		{"zero Yield after an ask", func(b core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				b.Ask(s, &s.f[0], answer(1))
				return core.Yield{}
			}
		}, "a step returned the zero Yield"},
		{"throw of nothing", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { return s.Throw(nil) }
		}, "Throw of a nil error"},
		{"zero port", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				var none core.Port[script, int]
				none.Ask(s, &s.f[0], answer(1))
				return s.wait(get)
			}
		}, "ask of a zero Port"},
		{"port at nobody", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				play.At(core.Address[player]{}).Ask(s, &s.f[0], answer(1))
				return s.wait(get)
			}
		}, "core: ask of a zero address: core_test.(*player).open"},
		{"method at nobody", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				times.At(core.AnyAddress{}).Ask(s, &s.f[0], 1)
				return s.wait(get)
			}
		}, "core: ask of a zero address: test.times"},
		{"forward to nobody", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { return times.At(core.AnyAddress{}).Forward(s, 1) }
		}, "core: Forward to a zero address: test.times"},
		{"notice port at nobody", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				hint.At(core.Address[player]{}).Notice(s, nil)
				return s.Return(1)
			}
		}, "core: notice to a zero address: core_test.(*player)."},
		{"notice of a method to nobody", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				noteIt.At(core.AnyAddress{}).Notice(s, 1)
				return s.Return(1)
			}
		}, "core: notice to a zero address: test.note"},
		{"zero notice port", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				var none core.NoticePort[int]
				none.Notice(s, 1)
				return s.Return(1)
			}
		}, "notice to a zero NoticePort"},
		{"self of another type", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				core.Self[stranger](s)
				return s.Return(1)
			}
		}, "core: Self[core_test.stranger] in a step of core_test.player#"},
		{"factory that makes nothing", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield {
				core.Spawn(core.Beside(s), func() *stranger { return nil })
				return s.Return(1)
			}
		}, "the factory of an actor returned nil"},
		{"index out of range", func(core.Port[script, int]) script {
			return func(_ *player, s *scene) core.Yield { return s.Return(make([]int, s.calls)[1]) }
		}, "index out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSeed(t, 2, 2, func(t *testing.T, sim *housetest.Sim) {
				_, a := cast(sim, 0)
				for worker := range 2 {
					_, b := cast(sim, worker)
					_, err := housetest.Ask(t, sim, a, c.act(b))
					wantPanic(t, err, c.want)
					wantAnswer(t, sim, a, relay(b, answer(5)), 5)
				}
				sim.Rest()
				wantStat(t, "failures", stats(sim).Failures, 2)
			})
		})
	}
}

// TestGuestsOfNobody: who isn't an actor is told, too, what it asked, or told, a zero address.
func TestGuestsOfNobody(t *testing.T) {
	var nobody core.AnyAddress
	require.PanicsWithValue(t, "core: a guest asks a zero address: test.times", func() { core.Begin(times.At(nobody), 1) })
	require.PanicsWithValue(t, "core: notice to a zero address: test.note", func() { core.Notice(noteIt.At(nobody), 1) })
}

// TestPanicIsContained: a step's panic is its asker's error, with the value, and
// neither its actor's other stacks nor the worker's other actors notice.
func TestPanicIsContained(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		address, a := cast(sim, 0)
		_, b := cast(sim, 1)
		sad := errors.New("sad")
		other := core.Begin(a, relay(b, answerIn(1e6, 3)))
		_, err := housetest.Ask(t, sim, a, func(_ *player, s *scene) core.Yield {
			b.Ask(s, &s.f[0], answer(1))
			return s.wait(func(*player, *scene) core.Yield { panic(sad) })
		})
		var p *core.PanicError
		if !errors.As(err, &p) || !errors.Is(err, sad) || p.Value != any(sad) {
			t.Fatalf("error %v doesn't carry the panic's value", err)
		}
		if p.Actor != address.String() || p.Step != "core_test.(*player).next" {
			t.Errorf("the panic is reported of %s in %s", p.Actor, p.Step)
		}
		for !other.Ready() {
			sim.Run(1e6)
		}
		if n, err := other.Get(); n != 3 || err != nil {
			t.Errorf("the other stack got %d, %v", n, err)
		}
	})
}

// TestPanicMidQueue: the messages behind one that panics are handled.
func TestPanicMidQueue(t *testing.T) {
	eachSeed(t, 5, 2, func(t *testing.T, sim *housetest.Sim) {
		_, a := cast(sim, 0)
		var calls []core.Pending[int]
		for i := range 100 {
			calls = append(calls, core.Begin(a, func(_ *player, s *scene) core.Yield {
				if i%3 == 0 {
					panic("third")
				}
				return s.Return(i)
			}))
		}
		sim.Rest()
		for i, c := range calls {
			n, err := c.Get()
			if i%3 == 0 {
				wantPanic(t, err, "third")
			} else if n != i || err != nil {
				t.Errorf("answer %d is %d, %v", i, n, err)
			}
		}
	})
}
