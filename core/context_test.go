package core_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

const parentTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func traceOf(t testing.TB, text string) core.Trace {
	trace, err := core.ParseTrace(text)
	require.NoError(t, err)
	return trace
}

// brings requires that a stack brings a trace along, and a tenant's name.
func brings(t *testing.T, trace core.Trace, tenant string) script {
	return func(_ *player, s *scene) core.Yield {
		require.Equal(t, trace, core.TraceOf(s))
		require.Equal(t, tenant, string(core.PairOf(s, "tenant")))
		return s.Return(1)
	}
}

// TestContextTravels: what a guest's context says goes along with asks, forwards and fans, on any
// worker; what a step sets holds for what it asks from then on, and for nobody else.
func TestContextTravels(t *testing.T) {
	eachSeedOf(t, 5, 2, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		trace, other := traceOf(t, parentTrace), traceOf(t, parentTrace)
		other.Span[7]++
		ctx, err := core.WithPair(core.WithTrace(t.Context(), trace), "tenant", "seven")
		require.NoError(t, err)
		_, a := cast(sim, 0)
		for worker := range 2 {
			at, b := cast(sim, worker)
			var group core.Group[player]
			group.Join(at)
			_, c := cast(sim, worker)
			for name, act := range map[string]script{
				"asked":       brings(t, trace, "seven"),
				"asks":        relay(b, relay(c, brings(t, trace, "seven"))),
				"forwards":    func(_ *player, s *scene) core.Yield { return b.Forward(s, relay(c, brings(t, trace, "seven"))) },
				"by a router": relay(play.RoundRobin(&group), relay(c, brings(t, trace, "seven"))),
				"sets a trace": func(_ *player, s *scene) core.Yield {
					core.SetTrace(s, other)
					return relay(b, brings(t, other, "seven"))(nil, s)
				},
				"sets a pair": func(_ *player, s *scene) core.Yield {
					b.Ask(s, &s.f[0], relay(c, brings(t, trace, "seven"))) // before
					require.NoError(t, core.SetPair(s, "tenant", "eight"))
					b.Ask(s, &s.f[1], relay(c, brings(t, trace, "eight")))
					return s.wait(get)
				},
			} {
				n, err := core.Ask(ctx, a, act)
				require.NoError(t, err, name)
				require.Equal(t, 1, n, name)
				err = core.AskInto(ctx, a, act, func(*int) {})
				require.NoError(t, err, name)
			}
			// of earlier ones nothing is left
			wantAnswer(t, sim, a, relay(b, brings(t, core.Trace{}, "")), 1)
		}
	})
}

// TestContextsOfGuests: what is set later is added to what a context brings, in any order, and
// changes nothing of the context that it was made of, nor of others made of that.
func TestContextsOfGuests(t *testing.T) {
	eachSeedOf(t, 1, 1, briskSteps, func(t *testing.T, sim *housetest.Sim) {
		trace, other := traceOf(t, parentTrace), traceOf(t, parentTrace)
		other.Span[7]++
		with := func(ctx context.Context, tenant string) context.Context {
			ctx, err := core.WithPair(ctx, "tenant", tenant)
			require.NoError(t, err)
			return ctx
		}
		seven := with(t.Context(), "seven")
		both := core.WithTrace(seven, trace)
		eight, without, later := with(both, "eight"), with(both, ""), core.WithTrace(both, other)
		_, a := cast(sim, 0)
		for _, c := range []struct {
			ctx    context.Context
			trace  core.Trace
			tenant string
		}{
			{t.Context(), core.Trace{}, ""}, {seven, core.Trace{}, "seven"}, {both, trace, "seven"}, {eight, trace, "eight"},
			{without, trace, ""}, {later, other, "seven"}, {core.WithTrace(later, core.Trace{}), core.Trace{}, "seven"},
		} {
			_, err := core.Ask(c.ctx, a, brings(t, c.trace, c.tenant))
			require.NoError(t, err)
		}
	})
}

// TestContextOfNotices: notices bring nothing along. Their steps may set what they ask with.
func TestContextOfNotices(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	address, a := cast(sim, 0)
	_, b := cast(sim, 1)
	trace, told := traceOf(t, parentTrace), 0
	for range 3 { // the second and the third recycle
		wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
			core.SetTrace(s, trace)
			require.NoError(t, hint.At(address).Notice(s, func(_ *player, s *cue) core.Yield {
				require.True(t, core.TraceOf(s).IsZero())
				core.SetTrace(s, trace)
				b.Ask(s, &s.f, brings(t, trace, ""))
				return s.wait(func(_ *player, s *cue) core.Yield { told++; return s.Return() })
			}))
			return s.Return(1)
		}, 1)
		sim.Rest()
	}
	require.Equal(t, 3, told)
}

// TestContextEndsWithItsNotice: what a step sets that asks nothing isn't there for the next notice,
// which is handled behind it, or later.
func TestContextEndsWithItsNotice(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	trace, told := traceOf(t, parentTrace), 0
	_, marks := core.SpawnNoticeFunc(sim.Workers()[0], func(s *core.NoticeStack[int]) core.Yield {
		require.True(t, core.TraceOf(s).IsZero(), "%d", s.Msg)
		require.Empty(t, core.PairOf(s, "tenant"), "%d", s.Msg)
		core.SetTrace(s, trace)
		require.NoError(t, core.SetPair(s, "tenant", "seven"))
		told++
		return s.Return()
	})
	for n := range 6 {
		require.NoError(t, core.Notice(marks, n))
		if n > 2 {
			sim.Rest()
		}
	}
	require.Equal(t, 6, told)
}

// TestContextIsBounded: what doesn't fit is refused, and changes nothing.
func TestContextIsBounded(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	_, a := cast(sim, 0)
	wantAnswer(t, sim, a, func(_ *player, s *scene) core.Yield {
		require.NoError(t, core.SetPair(s, "tenant", "seven"))
		require.Equal(t, core.ErrPairTooLong, core.SetPair(s, "tenant", strings.Repeat("7", core.PairsMax)))
		require.Equal(t, core.ErrPairTooLong, core.SetPair(s, "", "7"))
		return brings(t, core.Trace{}, "seven")(nil, s)
	}, 1)
	ctx := core.WithTrace(context.Background(), traceOf(t, parentTrace))
	same, err := core.WithPair(ctx, strings.Repeat("n", 256), "v")
	require.Equal(t, core.ErrPairTooLong, err)
	require.Equal(t, ctx, same)
}

// sampler is middleware that begins a trace where there is none.
type sampler struct{ trace core.Trace }

func (m sampler) Begins(s core.Running) error {
	if core.TraceOf(s).IsZero() {
		core.SetTrace(s, m.trace)
	}
	return nil
}

func (m sampler) Ended(core.Running, error) {}

// sampled asks a player, in a trace that middleware has begun.
type sampled struct{}

type sampledAsk struct {
	core.AskStack[core.Port[script, int], int]
	f core.Future[int]
}

var middleTrace = core.Trace{ID: [16]byte{1}, Span: [8]byte{2}, Flags: 1}

func (a *sampled) ask(s *sampledAsk) core.Yield {
	s.Req.Ask(s, &s.f, func(_ *player, s *scene) core.Yield {
		if core.TraceOf(s) != middleTrace {
			return s.Throw(errHot)
		}
		return s.Return(1)
	})
	return core.Suspend(s, (*sampled).asked)
}

func (a *sampled) asked(s *sampledAsk) core.Yield {
	n, err := s.f.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var sampledAsks = core.Handle((*sampled).ask, sampler{middleTrace})

func TestContextByMiddleware(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{})
	_, b := cast(sim, 1)
	n, err := housetest.Ask(t, sim, sampledAsks.At(core.Spawn(sim, func() *sampled { return &sampled{} })), b)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
