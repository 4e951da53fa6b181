package housetest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// customer asks a store for rows, all at once, and notes the answers as they come.
type (
	customer struct {
		store core.Port[Read, Row]
		got   []string
	}
	customerStack struct {
		core.NoticeStack[[]string]
		rows [10]core.Future[Row]
		seen [10]bool
	}
)

// patience is how long a customer waits.
const patience = time.Minute

var customerAsks = core.HandleNotice((*customer).asks)

func (c *customer) asks(s *customerStack) core.Yield {
	for i, key := range s.Msg {
		c.store.AskWithin(s, &s.rows[i], Read{key}, patience)
	}
	return core.SuspendAny(s, (*customer).answered)
}

func (c *customer) answered(s *customerStack) core.Yield {
	waits := false
	for i, key := range s.Msg {
		switch row := &s.rows[i]; {
		case row.Waiting():
			waits = true
		case !s.seen[i]:
			s.seen[i] = true
			c.got = append(c.got, answerOf(key)(row.Get()))
		}
	}
	if waits {
		return core.SuspendAny(s, (*customer).answered)
	}
	return s.Return()
}

// answerOf returns how a customer notes what it gets for a key.
func answerOf(key string) func(Row, error) string {
	return func(row Row, err error) string { return fmt.Sprint(key, " ", row.N, " ", err) }
}

// bell tells after a while.
type (
	bell      struct{ to core.NoticePort[string] }
	bellStack struct {
		core.NoticeStack[time.Duration]
		tick core.Future[core.Tick]
	}
)

var bellRings = core.HandleNotice((*bell).waits)

func (b *bell) waits(s *bellStack) core.Yield {
	core.Timer.Ask(s, &s.tick, s.Msg)
	return core.Suspend(s, (*bell).rings)
}

func (b *bell) rings(s *bellStack) core.Yield {
	_ = b.to.Notice(s, "ring")
	return s.Return()
}

// tell sends a message from the test.
func tell[Msg any](t testing.TB, p *housetest.Probe, msg Msg) {
	t.Helper()
	require.NoError(t, core.Notice(housetest.NoticePort[Msg](p), msg))
}

// TestExpectationsFail: each says what it wanted, what came instead, and the seed.
func TestExpectationsFail(t *testing.T) {
	type scene struct {
		*housetest.Sim
		p *housetest.Probe
	}
	ask := func(s scene) {
		a := core.Spawn(s, func() *customer { return &customer{store: housetest.Port[Read, Row](s.p)} })
		require.NoError(t, core.Notice(customerAsks.At(a), []string{"ann"}))
	}
	tells := func(s scene, all ...string) {
		for _, text := range all {
			tell(t, s.p, text)
		}
	}
	for _, c := range []struct {
		name string
		do   func(s scene)
		want string
	}{
		{"nothing comes", func(s scene) {
			housetest.Expect[string](s.p, time.Second)
		}, "want a notice of string, got nothing within 1s"},
		{"another type", func(s scene) {
			tell(t, s.p, 7)
			tells(s, "a")
			housetest.Expect[string](s.p, time.Second)
		}, "want a notice of string, got a notice of int: 7"},
		{"an ask", func(s scene) {
			ask(s)
			housetest.Expect[string](s.p, time.Second)
		}, "want a notice of string, got an ask of housetest_test.Read: {Key:ann}"},
		{"a notice of what is asked", func(s scene) {
			tell(t, s.p, Read{"ann"})
			housetest.ExpectAsk[Read, Row](s.p, time.Second)
		}, "want an ask of housetest_test.Read, got a notice of housetest_test.Read: {Key:ann}"},
		{"another value", func(s scene) {
			tells(s, "b", "a")
			housetest.ExpectEqual(s.p, time.Second, "a")
		}, "want a notice of string: a, got a notice of string: b"},
		{"no value", func(s scene) {
			housetest.ExpectEqual(s.p, 0, Row{"ann", 7})
		}, "want a notice of housetest_test.Row: {Key:ann N:7}, got nothing within 0s"},
		{"a message too early", func(s scene) {
			tells(s, "a")
			s.p.ExpectNone(time.Hour)
		}, "want nothing within 1h0m0s, got a notice of string: a"},
		{"a message left", func(s scene) {
			tells(s, "a", "b")
			housetest.Expect[string](s.p, 0)
			s.p.ExpectNone(0)
		}, "want nothing within 0s, got a notice of string: b"},
		{"another has stopped", func(s scene) {
			one, two := core.Spawn(s, func() *Door { return &Door{} }), core.Spawn(s, func() *Door { return &Door{} })
			housetest.Watch(s.p, one)
			housetest.Watch(s.p, two)
			two.Stop()
			housetest.ExpectTerminated(s.p, time.Second, one)
		}, "want a notice of core.Terminated: {Actor:housetest_test.Door#2 Lost:<nil>}, got a notice of core.Terminated: {Actor:housetest_test.Door#3 Lost:<nil>}"},
		{"nobody stops", func(s scene) {
			door := core.Spawn(s, func() *Door { return &Door{} })
			housetest.Watch(s.p, door)
			housetest.ExpectTerminated(s.p, time.Second, door)
		}, "want a notice of core.Terminated: {Actor:housetest_test.Door#2 Lost:<nil>}, got nothing within 1s"},
		{"nobody is watched", func(s scene) {
			door := core.Spawn(s, func() *Door { return &Door{} })
			door.Stop()
			housetest.ExpectTerminated(s.p, time.Second, door)
		}, "want a notice of core.Terminated: {Actor:housetest_test.Door#2 Lost:<nil>}, got nothing within 1s"},
		{"not among those skipped", func(s scene) {
			tells(s, "a", "b")
			ask(s)
			housetest.SkipTo(s.p, time.Second, func(text string) bool { return text == "c" })
		}, "want a notice of string as sought, got a notice of string: a, then a notice of string: b, " +
			"then an ask of housetest_test.Read: {Key:ann}, then nothing within 1s"},
		{"two answers", func(s scene) {
			ask(s)
			asked := housetest.ExpectAsk[Read, Row](s.p, time.Second)
			asked.Return(Row{})
			asked.Return(Row{})
		}, "an ask of housetest_test.Read: {Key:ann} is answered a second time"},
		{"no error", func(s scene) {
			ask(s)
			housetest.ExpectAsk[Read, Row](s.p, time.Second).Throw(nil)
		}, "an ask of housetest_test.Read: {Key:ann} is answered with a nil error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := housetest.New(t, 3, house.Config{Workers: 1})
			said := verdictOf(t, func(t testing.TB) { c.do(scene{sim, housetest.NewProbe(t, sim)}) })
			require.Equal(t, "seed 3: "+c.want, said)
		})
	}
}

// TestWithinIsVirtual: an expectation ends at the moment when the message comes, or its time is
// over; on whatever worker the probe is.
func TestWithinIsVirtual(t *testing.T) {
	for seed := range uint64(20) {
		sim := housetest.New(t, seed, house.Config{Workers: 2})
		far := core.Spawn(sim.Workers()[1], func() *Door { return &Door{} })
		for _, at := range []core.Place{sim, sim.System, sim.Workers()[0], sim.Workers()[1], far.Beside()} {
			p := housetest.NewProbe(t, at)
			took := func(f func()) time.Duration {
				before := sim.Now
				f()
				return time.Duration(sim.Now - before)
			}
			rings := func(after time.Duration) { // and tells p then
				require.NoError(t, core.Notice(bellRings.At(core.Spawn(sim, func() *bell { return &bell{housetest.NoticePort[string](p)} })), after))
			}
			check := func(want, got time.Duration) {
				t.Helper()
				require.InDelta(t, want.Seconds(), got.Seconds(), 1e-3, "seed %d", seed)
			}
			rings(time.Hour + 7*time.Second)
			check(59*time.Minute, took(func() { p.ExpectNone(59 * time.Minute) }))
			check(67*time.Second, took(func() { require.Equal(t, "ring", housetest.Expect[string](p, time.Hour)) }))
			rings(time.Hour)
			rings(2 * time.Hour)
			check(2*time.Hour, took(func() {
				n := 0
				housetest.SkipTo(p, 2*time.Hour+time.Second, func(string) bool { n++; return n == 2 })
			}))
			rings(0)
			check(0, took(func() { housetest.Expect[string](p, 0) }))
			tell(t, p, "a")
			sim.Rest()
			require.Zero(t, took(func() { housetest.ExpectEqual(p, time.Hour, "a") }))

			said := verdictOf(t, func(t testing.TB) { // the time of SkipTo is for all that it skips
				p = housetest.NewProbe(t, at)
				rings(time.Hour)
				rings(2 * time.Hour)
				housetest.SkipTo(p, 90*time.Minute, func(string) bool { return false })
			})
			require.Equal(t, fmt.Sprintf("seed %d: want a notice of string as sought, got a notice of string: ring, then nothing within 1h30m0s", seed), said)
		}
	}
}

// TestAsksAreAnsweredByTheTest: in the order of its answers, each with its own; an answer that
// comes too late is heard by nobody.
func TestAsksAreAnsweredByTheTest(t *testing.T) {
	late := 0
	for seed := range seeds(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		sim := housetest.New(t, seed, house.Config{Workers: 1 + int(seed%3)})
		store := housetest.NewProbe(t, sim)
		var waiting []*housetest.Asked[Read, Row]
		want := map[core.AnyAddress][]string{}
		owners := map[core.AnyAddress]*customer{}
		for range 3 {
			c := &customer{store: housetest.Port[Read, Row](store)}
			at := core.Spawn(sim, func() *customer { return c })
			owners[at.Any()] = c
			require.NoError(t, core.Notice(customerAsks.At(at), []string{"a", "b", "c", "d", "e"}))
		}
		begun := sim.Now
		for range 15 {
			waiting = append(waiting, housetest.ExpectAsk[Read, Row](store, 0))
		}
		store.ExpectNone(0)
		rng.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
		for n, a := range waiting {
			if rng.IntN(3) == 0 {
				sim.Run(time.Duration(rng.Int64N(int64(patience / 4))))
			}
			if left := patience - time.Duration(sim.Now-begun); left < time.Millisecond {
				late++
				a.Return(Row{N: n})
				continue
			}
			row, err := Row{N: n}, error(nil)
			if rng.IntN(2) == 0 {
				row, err = Row{}, errStorm
				a.Throw(err)
			} else {
				a.Return(row)
			}
			want[a.Sender] = append(want[a.Sender], answerOf(a.Req.Key)(row, err))
		}
		sim.Run(patience)
		for at, c := range owners {
			require.Equal(t, want[at], c.got[:len(want[at])], "seed %d", seed)
			require.Len(t, c.got, 5, "seed %d", seed)
			for _, got := range c.got[len(want[at]):] {
				require.Contains(t, got, core.ErrTimeout.Error(), "seed %d", seed)
			}
		}
	}
	require.NotZero(t, late)
}

// TestAskedEndsWithTheProbe: also at the end of the system, without an answer of the test.
func TestAskedEndsWithTheProbe(t *testing.T) {
	for _, ends := range []func(sim *housetest.Sim, p *housetest.Probe){
		func(_ *housetest.Sim, p *housetest.Probe) { p.Address.Stop() },
		func(sim *housetest.Sim, _ *housetest.Probe) { require.NoError(t, sim.Shutdown(t.Context())) },
	} {
		sim := housetest.New(t, 1, house.Config{})
		p := housetest.NewProbe(t, sim)
		call := core.Begin(housetest.Port[Read, Row](p), Read{"ann"})
		a := housetest.ExpectAsk[Read, Row](p, time.Second)
		require.Zero(t, a.Sender)
		before := sim.Now
		ends(sim, p)
		sim.Rest()
		_, err := call.Get()
		require.ErrorIs(t, err, core.ErrStopped)
		require.Less(t, sim.Now-before, int64(time.Second))
		a.Return(Row{}) // nobody hears it
		sim.Rest()
	}
}

// TestProbesWatch: Terminated comes once, behind all that the actor has told; at once if it has
// stopped.
func TestProbesWatch(t *testing.T) {
	for seed := range uint64(50) {
		sim := housetest.New(t, seed, house.Config{Workers: 3})
		p := housetest.NewProbe(t, sim)
		b := core.Spawn(sim, func() *bell { return &bell{housetest.NoticePort[string](p)} })
		housetest.Watch(p, b)
		housetest.Watch(p, b)
		require.NoError(t, core.Notice(bellRings.At(b), time.Second))
		sim.Run(time.Duration(seed) * time.Millisecond)
		b.Drain()
		housetest.ExpectEqual(p, time.Minute, "ring")
		housetest.ExpectTerminated(p, time.Second, b)
		p.ExpectNone(time.Minute)
		housetest.Watch(p, b)
		housetest.ExpectTerminated(p, 0, b)
	}
}

// TestProbesTakeAll: many messages that come at once, while asks are held, and however short
// mailboxes are.
func TestProbesTakeAll(t *testing.T) {
	sim := housetest.New(t, 1, house.Config{MailboxMax: 1})
	p := housetest.NewProbe(t, sim)
	var calls []core.Pending[int]
	for n := range 50 {
		tell(t, p, n)
		calls = append(calls, core.Begin(housetest.Port[int, int](p), n))
		tell(t, p, fmt.Sprint(n))
	}
	require.Empty(t, housetest.Take[int](p))
	sim.Rest()
	for n, got := range housetest.Take[int](p) {
		require.Equal(t, n, got)
	}
	asked := housetest.Take[*housetest.Asked[int, int]](p)
	require.Len(t, asked, 50)
	for _, a := range asked {
		a.Return(-a.Req)
	}
	for n := range 50 {
		require.Equal(t, any(fmt.Sprint(n)), housetest.Expect[any](p, 0))
	}
	p.ExpectNone(0)
	for n, call := range calls {
		require.True(t, call.Ready())
		got, err := call.Get()
		require.NoError(t, err)
		require.Equal(t, -n, got)
	}
}

// TestProbesWithThreads: in a system with threads expectations block until the message is there, or
// for as long as they are told.
func TestProbesWithThreads(t *testing.T) {
	sys, err := house.New(house.Config{Workers: 2, Logger: housetest.Log(t)})
	require.NoError(t, err)
	require.NoError(t, sys.Start(t.Context()))
	defer func() { require.NoError(t, sys.Shutdown(context.Background())) }()
	heard, asked := housetest.NewProbe(t, sys.Workers()[0]), housetest.NewProbe(t, sys.Workers()[1])

	b := core.Spawn(sys, func() *bell { return &bell{housetest.NoticePort[string](heard)} })
	housetest.Watch(heard, b)
	heard.ExpectNone(time.Millisecond)
	begun := time.Now()
	require.NoError(t, core.Notice(bellRings.At(b), 5*time.Millisecond))
	housetest.ExpectEqual(heard, time.Minute, "ring")
	require.Less(t, time.Since(begun), time.Minute)
	b.Stop()
	housetest.ExpectTerminated(heard, time.Minute, b)
	said := verdictOf(t, func(t testing.TB) {
		housetest.Expect[string](housetest.NewProbe(t, sys), time.Millisecond)
	})
	require.Equal(t, "want a notice of string, got nothing within 1ms", said)

	const each = 100
	var guests sync.WaitGroup
	for g := range 2 {
		guests.Go(func() {
			for n := range each {
				tell(t, heard, g*each+n)
				if got, err := core.Ask(t.Context(), housetest.Port[int, int](asked), g*each+n); got != -(g*each+n) || err != nil {
					t.Errorf("answer %d, %v to %d", got, err, g*each+n)
				}
			}
		})
	}
	last := [2]int{-1, each - 1}
	for range 2 * each {
		a := housetest.ExpectAsk[int, int](asked, time.Minute)
		a.Return(-a.Req)
		n := housetest.Expect[int](heard, time.Minute)
		require.Equal(t, last[n/each]+1, n)
		last[n/each] = n
	}
	guests.Wait()
}
