package core_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/command"
)

// What an actor says of a contract: two types of actors handle one method, a third doesn't.
type (
	doubler   struct{ told int }
	tripler   struct{}
	bystander struct{}
)

func (*doubler) times(s *core.AskStack[int, int]) core.Yield { return s.Return(2 * s.Req) }
func (*tripler) times(s *core.AskStack[int, int]) core.Yield { return s.Return(3 * s.Req) }
func (d *doubler) note(s *core.NoticeStack[int]) core.Yield  { d.told += s.Msg; return s.Return() }
func (*bystander) other(s *core.AskStack[int, int]) core.Yield {
	panic("nobody asks it")
}

var (
	times  = core.NewMethod[int, int]("test.times")
	noteIt = core.NewNoticeMethod[int]("test.note")
	take   = core.NewNoticeMethod[slip]("test.take")

	doublerTimes   = core.Handle((*doubler).times).As(times)
	doublerNote    = core.HandleNotice((*doubler).note).As(noteIt)
	triplerTimes   = core.Handle((*tripler).times).As(times)
	bystanderOther = core.Handle((*bystander).other)
)

// slip is a message that is released.
type slip struct{ released *int }

func (c *slip) Release() {
	if c.released != nil {
		*c.released++
	}
}

// A method at an address is the handler of the actor's type, for steps and for guests.
func TestMethod(t *testing.T) {
	sim := stage(t, 1, 2)
	d := &doubler{}
	two := core.Spawn(sim.Workers()[0], func() *doubler { return d })
	three := core.Spawn(sim.Workers()[1], func() *tripler { return &tripler{} })
	_, asker := cast(sim, 0)
	for _, c := range []struct {
		at   core.AnyAddress
		want int
	}{{two.Any(), 14}, {three.Any(), 21}} {
		got, err := housetest.Ask(t, sim, times.At(c.at), 7)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
		wantAnswer(t, sim, asker, func(_ *player, s *scene) core.Yield {
			times.At(c.at).Ask(s, &s.f[0], 7)
			return s.wait(get)
		}, c.want)
	}
	require.Equal(t, doublerTimes.At(two), times.At(two.Any()))
	require.Equal(t, triplerTimes.At(three), times.At(three.Any()))
	require.Equal(t, doublerNote.At(two), noteIt.At(two.Any()))
	require.NoError(t, core.Notice(noteIt.At(two.Any()), 5))
	sim.Rest()
	require.Equal(t, 5, d.told)
}

// An actor whose type doesn't handle the method refuses it, whoever asks.
func TestMethodWithoutHandler(t *testing.T) {
	sim := stage(t, 1, 1)
	at := core.Spawn(sim.Workers()[0], func() *bystander { return &bystander{} }).Any()
	_, asker := cast(sim, 0)
	_, err := housetest.Ask(t, sim, times.At(at), 7)
	require.ErrorIs(t, err, core.ErrNoHandler)
	require.ErrorIs(t, core.Notice(noteIt.At(at), 1), core.ErrNoHandler)
	wantError(t, sim, asker, func(_ *player, s *scene) core.Yield {
		times.At(at).Ask(s, &s.f[0], 7)
		return s.wait(get)
	}, core.ErrNoHandler)
	released := 0
	wantAnswer(t, sim, asker, func(_ *player, s *scene) core.Yield {
		require.ErrorIs(t, noteIt.At(at).Notice(s, 1), core.ErrNoHandler)
		require.ErrorIs(t, take.At(at).Notice(s, slip{&released}), core.ErrNoHandler)
		return s.Return(1)
	}, 1)
	require.Equal(t, 1, released)
}

func TestMethodMisuse(t *testing.T) {
	for text, f := range map[string]func(){
		"without a name":                       func() { core.NewMethod[int, int]("") },
		"two methods have the name test.times": func() { core.NewNoticeMethod[int]("test.times") },
		"handles test.times twice":             func() { core.Handle((*doubler).times).As(times) },
		"handled as two methods":               func() { doublerTimes.As(core.NewMethod[int, int]("test.again")) },
		"zero method":                          func() { bystanderOther.As(core.Method[int, int]{}) },
		"zero Handler":                         func() { core.Handler[bystander, int, int]{}.As(times) },
		"zero handler":                         func() { core.NoticeHandler[bystander, int]{}.As(noteIt) },
	} {
		require.PanicsWithError(t, "", func() {
			defer func() {
				require.Contains(t, recover(), text)
				panic(errors.New(""))
			}()
			f()
		}, text)
	}
	require.Panics(t, func() { _, _ = core.Ask(t.Context(), times.At(core.AnyAddress{}), 1) })
}

// misuses is how often TestMisuseChangesNothing has run: each name is for one method.
var misuses int

// TestMisuseChangesNothing: a handler that can't be As a second method doesn't handle it, and
// the first one as before.
func TestMisuseChangesNothing(t *testing.T) {
	misuses++
	name := fmt.Sprint("test.misuse", misuses)
	again, told := core.NewMethod[int, int](name), core.NewNoticeMethod[int](name+".told")
	require.Panics(t, func() { doublerTimes.As(again) })
	require.Panics(t, func() { doublerNote.As(told) })
	other := core.Handle((*doubler).times)
	require.Panics(t, func() { other.As(times) })
	sim := stage(t, 1, 1)
	at := core.Spawn(sim.Workers()[0], func() *doubler { return &doubler{} })
	_, err := housetest.Ask(t, sim, again.At(at.Any()), 7)
	require.ErrorIs(t, err, core.ErrNoHandler)
	require.ErrorIs(t, core.Notice(told.At(at.Any()), 1), core.ErrNoHandler)
	require.Equal(t, doublerTimes.At(at), times.At(at.Any()))
	require.Equal(t, doublerNote.At(at), noteIt.At(at.Any()))
	got, err := housetest.Ask(t, sim, other.As(again).At(at), 7)
	require.NoError(t, err)
	require.Equal(t, 14, got)
	require.Equal(t, other.At(at), again.At(at.Any()))
}

// TestHandlerOf: routers by a method reach actors whose type handles it, and refuse for others.
func TestHandlerOf(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{Logger: quiet})
	var doublers core.Group[doubler]
	doublers.Join(core.Spawn(sim, func() *doubler { return &doubler{} }))
	rep, err := housetest.Ask(t, sim, core.HandlerOf[doubler](times).RoundRobin(&doublers), 3)
	require.NoError(t, err)
	require.Equal(t, 6, rep)
	require.NoError(t, core.Notice(core.NoticeHandlerOf[doubler](noteIt).RoundRobin(&doublers), 3))
	sim.Rest()

	var others core.Group[sampled]
	others.Join(core.Spawn(sim, func() *sampled { return &sampled{} }))
	_, err = housetest.Ask(t, sim, core.HandlerOf[sampled](times).RoundRobin(&others), 3)
	require.Equal(t, core.ErrNoHandler, err)
	failures := core.Events[core.Failure](sim).Listen(1)
	require.NoError(t, core.Notice(core.NoticeHandlerOf[sampled](noteIt).RoundRobin(&others), 3))
	sim.Rest()
	require.ErrorIs(t, (<-failures.C()).Err, core.ErrNoHandler)
}

// wire does the calls of a stand-in for a player by asking that player in its place: a Remote and a
// Server without bytes in between.
type wire struct {
	w      *stack.Engine
	at     *stack.House // where it stands
	to     *stack.House // the player
	far    *stack.House // its stand-in
	away   []*stack.Stack
	served []*stack.Stack
	asked  []command.Verb
	awaits []bool
}

func (r *wire) Ready(*stack.House) bool { return true }

func (r *wire) Command(_ *stack.House, what command.Verb) { r.asked = append(r.asked, what) }
func (r *wire) Node() string                              { return "shop" }
func (r *wire) Await(_ *stack.House, is bool)             { r.awaits = append(r.awaits, is) }

func (r *wire) Take(_ *stack.House, c *stack.Stack) {
	if c.Handler() == hint.Machine() {
		s := r.w.Begin(c.Handler())
		*stack.Message[func(*player, *cue) core.Yield](s) = *stack.Message[func(*player, *cue) core.Yield](c)
		r.w.Discard(c)
		r.w.Push(r.to, s)
		return
	}
	n := uint32(len(r.away))
	c.SetSlot(n)
	s := r.w.Serve(r.at, c.Handler(), n, c.Deadline())
	*stack.Request[script, int](s) = *stack.Request[script, int](c)
	r.away, r.served = append(r.away, c), append(r.served, s)
	r.w.Push(r.to, s)
}

func (r *wire) Forget(_ *stack.House, c *stack.Stack) {
	n := c.Slot()
	r.away[n] = nil
	if s := r.served[n]; s != nil {
		r.served[n] = nil
		r.w.Unserve(s)
	}
}

// Answered implements away.Server.
func (r *wire) Answered(s *stack.Stack) bool {
	n := uint32(s.ID())
	c := r.away[n]
	if r.served[n] == nil {
		return false
	}
	r.away[n], r.served[n] = nil, nil
	*stack.Reply[int](c) = *stack.Reply[int](s)
	r.w.Answer(c, pool.Bytes{}, s.Err())
	r.w.Discard(s)
	return true
}

// begin makes the stand-in, in a step.
func (r *wire) begin(s *core.NoticeStack[struct{}]) core.Yield {
	st := stack.Of(s)
	r.w, r.at = st.Engine(), st.House()
	r.at.Stay()
	r.far = stack.NewStandIn(r.w, 1<<20, reflect.TypeFor[player](), 0, r)
	return s.Return()
}

// end ends the stand-in, in a step.
func (r *wire) end(s *core.NoticeStack[error]) core.Yield {
	r.w.Vanish(r.far, s.Msg)
	return s.Return()
}

var (
	wireBegin = core.HandleNotice((*wire).begin)
	wireEnd   = core.HandleNotice((*wire).end)
)

// wired returns the address of a stand-in on a worker for a player on another.
func wired(t *testing.T, sim *housetest.Sim, worker int, to core.Address[player]) (*wire, core.Address[wire], core.Address[player]) {
	r := &wire{to: to.House()}
	at := core.Spawn(sim.Workers()[worker], func() *wire { return r })
	require.NoError(t, core.Notice(wireBegin.At(at), struct{}{}))
	sim.Rest()
	far, ok := core.As[player](r.far.Any(reflect.TypeFor[player]()))
	require.True(t, ok)
	return r, at, far
}

// Ports, forwards, routers, fans, watches and guests work with an actor elsewhere as with any.
func TestActorElsewhere(t *testing.T) {
	for seed := range uint64(30) {
		sim := stage(t, seed, 2)
		to, _ := cast(sim, 1)
		r, at, far := wired(t, sim, 0, to)
		p := play.At(far)
		wantAnswer(t, sim, p, answer(1), 1)
		for worker := range 2 {
			_, a := cast(sim, worker)
			wantAnswer(t, sim, a, relay(p, answerIn(time.Second, 2)), 2)
			wantAnswer(t, sim, a, relay(a, relay(p, answer(3))), 3)
			wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield { return p.Forward(s, answer(4)) }, 4)
			wantAnswer(t, sim, a, relay(p.Through(func(s script) (script, error) { return answer(5), nil }), answer(0)), 5)
			_, err := housetest.Ask(t, sim, a, relay(p, func(*player, *scene) core.Yield { panic("over there") }))
			wantPanic(t, err, "over there")
			wantError(t, sim, a, func(_ *player, s *scene) core.Yield {
				p.AskWithin(s, &s.f[0], answerIn(time.Hour, 0), time.Second)
				return s.wait(get)
			}, core.ErrTimeout)

			near, _ := cast(sim, worker)
			var group core.Group[player]
			group.Join(near)
			group.Join(far)
			for i := range 4 {
				wantAnswer(t, sim, a, relay(play.RoundRobin(&group), answer(i)), i)
				wantAnswer(t, sim, play.LeastQueued(&group), answer(i), i)
			}
			all, err := housetest.Ask(t, sim, core.Broadcast(play, &group), answer(6))
			require.NoError(t, err)
			require.Equal(t, 2, all.Len())
			wantAnswer(t, sim, core.First(play, &group), answer(7), 7)

			told := 0
			for range 5 {
				wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
					require.NoError(t, hint.At(far).Notice(s, func(_ *player, s *cue) core.Yield { told++; return s.Return() }))
					return s.Return(0)
				}, 0)
			}
			sim.Rest()
			require.Equal(t, 5, told)
		}

		gone := []core.Terminated{}
		watcher := core.Spawn(sim.Workers()[1], func() *mourner { return &mourner{&gone} })
		_, err := housetest.Ask(t, sim, mournerWatch.At(watcher), far)
		require.NoError(t, err)
		far.Stop()
		sim.Rest()
		require.Equal(t, []command.Verb{command.Stop}, r.asked)
		require.Equal(t, []bool{true}, r.awaits)
		require.Empty(t, gone)
		lost := errors.New("lost")
		require.NoError(t, core.Notice(wireEnd.At(at), lost))
		sim.Rest()
		require.Equal(t, []core.Terminated{{Actor: far.Any(), Lost: lost}}, gone)
		wantError(t, sim, p, answer(1), lost)
	}
}

// mourner watches a player.
type mourner struct{ gone *[]core.Terminated }

func (w *mourner) watch(s *core.AskStack[core.Address[player], int]) core.Yield {
	core.Watch(s, s.Req, mournerGone)
	return s.Return(0)
}

func (w *mourner) hear(s *core.NoticeStack[core.Terminated]) core.Yield {
	*w.gone = append(*w.gone, s.Msg)
	return s.Return()
}

var (
	mournerWatch = core.Handle((*mourner).watch)
	mournerGone  = core.HandleNotice((*mourner).hear)
)
