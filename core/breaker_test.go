package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

var (
	errDown = errors.New("down")
	errNone = errors.New("no such row") // an answer, not a failure
)

func isDown(err error) bool { return err != errNone }

// modelBreaker is a breaker that remembers everything and counts anew each time. It has no jitter.
type modelBreaker struct {
	c      core.BreakerConfig
	state  core.BreakerState
	ended  []modelEnd      // since it closed
	out    map[uint64]bool // calls of this period that have begun and not ended
	probes []modelEnd      // of this period
	pause  time.Duration
	until  int64
	opened uint64
}

type modelEnd struct {
	at     int64
	failed bool
}

func (m *modelBreaker) begin(now int64, call uint64) bool {
	if m.state != core.BreakerClosed && now >= m.until {
		m.enter(core.BreakerHalfOpen, now+int64(m.pause))
	}
	if m.state == core.BreakerOpen || m.state == core.BreakerHalfOpen && len(m.out)+len(m.probes) >= m.c.Probes {
		return false
	}
	m.out[call] = true
	return true
}

func (m *modelBreaker) end(now int64, call uint64, err error) {
	if !m.out[call] {
		return
	}
	delete(m.out, call)
	if errors.Is(err, context.Canceled) {
		return
	}
	e := modelEnd{now, err != nil && isDown(err)}
	if m.state == core.BreakerHalfOpen {
		m.probes = append(m.probes, e)
		if e.failed {
			m.pause = min(2*m.pause, m.c.PauseMax)
			m.open(now)
		} else if len(m.probes) == m.c.Probes {
			m.enter(core.BreakerClosed, 0)
			m.ended = nil
		}
		return
	}
	m.ended = append(m.ended, e)
	row := 0
	for i := len(m.ended) - 1; i >= 0 && m.ended[i].failed; i-- {
		row++
	}
	part := int64(m.c.Window) / 10
	calls, failed := 0, 0
	for _, e := range m.ended {
		if e.at/part > now/part-10 {
			calls++
			if e.failed {
				failed++
			}
		}
	}
	often := m.c.Ratio > 0 && calls >= m.c.Calls && float64(failed) >= m.c.Ratio*float64(calls)
	if e.failed && (row == m.c.Failures || often) {
		m.pause = m.c.Pause
		m.open(now)
	}
}

func (m *modelBreaker) open(now int64) {
	m.opened++
	m.enter(core.BreakerOpen, now+int64(m.pause))
}

func (m *modelBreaker) enter(s core.BreakerState, until int64) {
	m.state, m.until, m.out, m.probes = s, until, map[uint64]bool{}, nil
}

// TestBreakerAgainstModel: random calls, that end in any order and in all ways, or never, at
// random times.
func TestBreakerAgainstModel(t *testing.T) {
	reached := map[core.BreakerState]int{}
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			c := core.BreakerConfig{
				Failures: []int{-1, 1, 3, 6}[rnd.IntN(4)], Ratio: []float64{0, 0.3, 0.5, 1}[rnd.IntN(4)], Calls: 1 + rnd.IntN(12),
				Window: time.Duration(10 + rnd.IntN(1000)), Pause: time.Duration(1 + rnd.IntN(100)), Jitter: -1,
				Probes: 1 + rnd.IntN(4), Failed: isDown,
			}
			c.PauseMax = c.Pause * time.Duration(1+rnd.IntN(6))
			b, m := core.NewBreaker(c), modelBreaker{c: c, out: map[uint64]bool{}, pause: c.Pause}
			sick := 0.5
			type call struct{ real, model uint64 }
			var out []call
			now := int64(0)
			for i := range uint64(3000) {
				if rnd.IntN(100) == 0 {
					sick = []float64{0, 0.1, 0.5, 0.9, 1}[rnd.IntN(5)]
				}
				if rnd.IntN(2) == 0 {
					now += rnd.Int64N(int64(c.Window)/3 + 2)
				}
				if rnd.IntN(2) == 0 {
					peek := b.Refuses(now)
					n, err := b.Begin(now)
					require.Equal(t, m.begin(now, i), err == nil, "call %d at %d", i, now)
					require.Equal(t, err, peek, "Refuses")
					if err == nil {
						out = append(out, call{n, i})
					} else {
						require.Equal(t, core.ErrBreakerOpen, err)
					}
				} else if len(out) > 0 {
					j := rnd.IntN(len(out))
					e := out[j]
					out[j] = out[len(out)-1]
					out = out[:len(out)-1]
					err := []error{nil, nil, errNone, core.ErrCancelled, fmt.Errorf("gave up: %w", context.Canceled)}[rnd.IntN(5)]
					if rnd.Float64() < sick {
						err = errDown
					}
					if rnd.IntN(10) > 0 { // otherwise it never ends
						b.End(now, e.real, err)
						m.end(now, e.model, err)
					}
				}
				require.Equal(t, m.state, b.State(), "operation %d at %d", i, now)
				require.Equal(t, m.opened, b.Opened(), "operation %d at %d", i, now)
				reached[b.State()]++
			}
		})
	}
	for _, s := range []core.BreakerState{core.BreakerClosed, core.BreakerOpen, core.BreakerHalfOpen} {
		require.Greater(t, reached[s], 1000, "%v", s)
	}
}

// TestBreakerJitter: a pause is never shorter than configured, is longer by at most the
// jitter, and differs from one breaker to another.
func TestBreakerJitter(t *testing.T) {
	const pause = int64(time.Second)
	ends := map[int64]bool{}
	for seed := range uint64(200) {
		b := core.NewBreaker(core.BreakerConfig{Failures: 1, Jitter: 0.5, Seed: seed})
		n, _ := b.Begin(7)
		b.End(7, n, errDown)
		from, to := int64(7), 7+2*pause
		for from+1 < to {
			if mid := (from + to) / 2; b.Refuses(mid) != nil {
				from = mid
			} else {
				to = mid
			}
		}
		require.GreaterOrEqual(t, to, 7+pause, "seed %d", seed)
		require.LessOrEqual(t, to, 7+pause*3/2, "seed %d", seed)
		ends[to/int64(5*time.Millisecond)] = true
	}
	require.Greater(t, len(ends), 50, "of 100 slices of the jitter, those that were met")
}

// TestBreakerConfig: what makes no sense panics, what is not said has a good value.
func TestBreakerConfig(t *testing.T) {
	year := 366 * 24 * time.Hour
	nan := 0.0
	nan /= nan
	for _, c := range []core.BreakerConfig{{Ratio: -1}, {Ratio: 1.1}, {Ratio: nan}, {Jitter: 2}, {Calls: -1}, {Window: -1}, {Pause: -1},
		{PauseMax: -1}, {Probes: -1}, {Pause: year}, {PauseMax: year}, {Window: year}} {
		require.Panics(t, func() { core.NewBreaker(c) }, "%+v", c)
	}
	b := core.NewBreaker(core.BreakerConfig{})
	for range 5 {
		require.Equal(t, "closed", b.String())
		n, err := b.Begin(1)
		require.NoError(t, err)
		b.End(1, n, errDown)
	}
	require.Equal(t, "open", b.String())
	_, err := b.Begin(1)
	require.ErrorIs(t, err, core.ErrBreakerOpen)
	require.ErrorIs(t, err, core.ErrOverloaded)
	require.NotErrorIs(t, core.ErrOverloaded, core.ErrBreakerOpen)
	_, err = b.Begin(int64(1300 * time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, "half open", b.String())
}

// TestBreakerWhoseJudgePanics: the error counts as a failure, of a pool too.
func TestBreakerWhoseJudgePanics(t *testing.T) {
	sys := open(t, house.Config{Workers: 1})
	b := core.NewBreaker(core.BreakerConfig{Failures: 2, Failed: func(error) bool { panic("mine") }})
	pool, err := sys.NewOffloadPool(house.OffloadConfig{Name: "judged", Breaker: b})
	require.NoError(t, err)
	a := play.At(core.Spawn(sys, func() *player { return &player{} }))
	for _, want := range []error{errDown, errDown, core.ErrBreakerOpen} {
		_, err := core.Ask(t.Context(), a, func(_ *player, s *scene) core.Yield {
			core.OffloadTo(s, &s.f[0], pool, 1, func(context.Context, int) (int, error) { return 0, errDown })
			return s.wait(get)
		})
		require.ErrorIs(t, err, want)
	}
}

func TestBreakerAllocatesNothing(t *testing.T) {
	b := core.NewBreaker(core.BreakerConfig{Ratio: 0.5})
	now := int64(0)
	housetest.ZeroAlloc(t, 100_000, func(n int) {
		for i := range n {
			now += int64(time.Millisecond)
			if call, err := b.Begin(now); err == nil {
				b.End(now, call, []error{nil, errDown, errDown, core.ErrCancelled}[i/100%4])
			}
		}
	})
	require.NotZero(t, b.Opened())
}

// careful asks a remote actor through a breaker of its own.
type careful struct {
	remote  core.Port[script, int]
	breaker *core.Breaker
}

type carefulStack struct {
	core.AskStack[script, int]
	answer core.Future[int]
	call   uint64
}

func (a *careful) ask(s *carefulStack) (y core.Yield) {
	var err error
	if s.call, err = a.breaker.Begin(core.Now(s)); err != nil {
		return s.Throw(err)
	}
	a.remote.Ask(s, &s.answer, s.Req)
	return core.Suspend(s, (*careful).answered)
}

func (a *careful) answered(s *carefulStack) core.Yield {
	n, err := s.answer.Get()
	a.breaker.End(core.Now(s), s.call, err)
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var carefulAsk = core.Handle((*careful).ask)

// TestBreakerAroundAnAsk: an actor stops asking one that fails, and goes on when that does.
func TestBreakerAroundAnAsk(t *testing.T) {
	eachSeed(t, 3, 2, func(t *testing.T, sim *housetest.Sim) {
		_, b := cast(sim, 0)
		a := carefulAsk.At(core.Spawn(sim, func() *careful { return &careful{b, core.NewBreaker(core.BreakerConfig{Failures: 3})} }))
		asked := 0
		fails := func(_ *player, s *scene) core.Yield { asked++; return s.Throw(errDown) }
		works := func(_ *player, s *scene) core.Yield { asked++; return s.Return(1) }
		for i := range 10 {
			want := errDown
			if i >= 3 {
				want = core.ErrBreakerOpen
			}
			wantError(t, sim, a, fails, want)
		}
		require.Equal(t, 3, asked)
		sim.Run(1300 * time.Millisecond)
		wantAnswer(t, sim, a, works, 1)
		wantAnswer(t, sim, a, works, 1)
	})
}
