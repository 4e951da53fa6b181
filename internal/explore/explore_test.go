package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// orders returns every order in which threads pass their points.
func orders(t *testing.T, c Config, points ...int) (all []string, res Result) {
	res = Explore(c, func(r *Run) {
		order := ""
		for i, n := range points {
			r.Go(fmt.Sprint(i), func() {
				for range n {
					r.Point("")
					order += fmt.Sprint(i)
				}
			})
		}
		r.After(func() { all = append(all, order) })
	})
	require.Nil(t, res.Failure)
	return all, res
}

// Each order is run, and the number of schedules is that of interleavings: (a+b)!/(a!b!), where a
// thread's beginning counts as a point.
func TestAllOrders(t *testing.T) {
	for _, c := range []struct{ a, b, orders, schedules int }{
		{0, 0, 1, 2}, {1, 1, 2, 6}, {2, 2, 6, 20}, {3, 3, 20, 70}, {1, 4, 5, 21},
	} {
		all, res := orders(t, Config{}, c.a, c.b)
		slices.Sort(all)
		require.Len(t, slices.Compact(all), c.orders)
		require.Equal(t, c.schedules, res.Schedules)
		require.True(t, res.Complete)
	}
	all, _ := orders(t, Config{}, 2, 2, 2)
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 90)
}

func TestBound(t *testing.T) {
	all, res := orders(t, Config{Bound: 1}, 3, 3)
	require.Equal(t, 1, res.Bound)
	require.False(t, res.Complete)
	require.Contains(t, all, "000111")
	require.Contains(t, all, "011100")
	require.NotContains(t, all, "010101")
	_, res = orders(t, Config{Bound: 9}, 3, 3)
	require.True(t, res.Complete)
	_, res = orders(t, Config{Budget: 10}, 3, 3)
	require.Equal(t, 10, res.Schedules)
	require.False(t, res.Complete)
}

// A thread that waits is run when its condition holds, and not before.
func TestAwait(t *testing.T) {
	res := Explore(Config{}, func(r *Run) {
		sent := false
		r.Go("taker", func() {
			r.Await("take", func() bool { return sent })
			require.True(r, sent)
			sent = false
			r.Point("taken") // it waits no more
		})
		r.Go("sender", func() {
			r.Point("send")
			sent = true
		})
	})
	require.Nil(t, res.Failure)
	require.True(t, res.Complete)
}

// fails returns the failure of a scenario, having seen that a replay fails the same way.
func fails(t *testing.T, c Config, scenario func(*Run)) *Failure {
	f := Explore(c, scenario).Failure
	require.NotNil(t, f)
	again, err := Replay(c, f.Choices, scenario)
	require.NoError(t, err)
	require.NotNil(t, again)
	require.Equal(t, f.Schedule, again.Schedule)
	return f
}

func TestLostWakeUp(t *testing.T) {
	f := fails(t, Config{}, func(r *Run) {
		mail, parked, woken := false, false, false
		r.Go("taker", func() {
			r.Point("look")
			if mail {
				return
			}
			r.Point("park") // without a look behind
			parked = true
			r.Await("sleep", func() bool { return woken })
		})
		r.Go("sender", func() {
			r.Point("send")
			mail = true
			r.Point("wake")
			woken = parked
		})
	})
	require.Equal(t, "nobody can go on: taker waits at sleep", f.Why)
	require.Equal(t, 1, f.Preemptions)
	require.Equal(t, []string{"taker: look", "taker: park", "sender: send", "sender: wake", "taker: sleep"}, f.Schedule)
}

func TestPanicAndCheckAndNoEnd(t *testing.T) {
	for why, body := range map[string]func(r *Run){
		"panic: oh":                      func(*Run) { panic("oh") },
		"no 3":                           func(r *Run) { r.Fail("no %d", 3) },
		"\tError Trace":                  func(r *Run) { require.Fail(r, "so") },
		"still no end after 100 points":  func(r *Run) { endless(r) },
		"nobody can go on: a waits at b": func(r *Run) { r.Await("b", func() bool { return false }) },
	} {
		f := fails(t, Config{Steps: 100}, func(r *Run) { r.Go("a", func() { body(r) }) })
		require.Contains(t, f.Why, why)
		if strings.HasPrefix(why, "nobody") || strings.HasPrefix(why, "still") {
			continue
		}
		f = fails(t, Config{}, func(r *Run) { r.After(func() { body(r) }) })
		require.Contains(t, f.Why, why)
		f = fails(t, Config{}, func(r *Run) { body(r) })
		require.Contains(t, f.Why, why)
	}
}

func endless(r *Run) {
	for {
		r.Point("again")
	}
}

// The shortest failure of the fewest preemptions is reported.
func TestShortest(t *testing.T) {
	f := fails(t, Config{}, func(r *Run) {
		long := r.Choose(2) == 0
		r.Go("a", func() {
			r.Point("one")
			if long {
				r.Point("two")
			}
			r.Fail("it fails")
		})
	})
	require.Equal(t, []string{"a: one"}, f.Schedule)
	require.Equal(t, "0:1", f.Choices)
}

// Behind its last preemption a schedule has choices where a thread ends, and only there: also when
// it is replayed.
func TestReplayBehindLastPreemption(t *testing.T) {
	f := fails(t, Config{Bound: 2}, func(r *Run) {
		order := ""
		for _, name := range []string{"a", "b", "c", "d"} {
			r.Go(name, func() {
				r.Point("one")
				order += name
				r.Point("two")
				order += name
			})
		}
		r.After(func() {
			if order == "abbaddcc" {
				r.Fail("found")
			}
		})
	})
	require.Equal(t, 1, f.Preemptions)
}

// A replay takes all choices given, and no more.
func TestReplayIsStrict(t *testing.T) {
	scenario := func(fails bool) func(r *Run) {
		return func(r *Run) {
			first, second := r.Choose(3), r.Choose(2)
			if first == 1 && second == 0 {
				if fails {
					r.Fail("it fails")
				}
				r.Choose(2)
			}
		}
	}
	f := fails(t, Config{}, scenario(true))
	require.Equal(t, "0:10", f.Choices)
	for choices, why := range map[string]string{
		"0:1":      "there are more to make",
		"0:100":    "it fails by 2 of these 3 choices: it fails",
		"0:30":     "don't fit",
		"0:000":    "don't fit",
		"10":       "a number of preemptions",
		":10":      "a number of preemptions",
		"-1:10":    "a number of preemptions",
		"0:1x":     "a number of preemptions",
		"0:1:0":    "a number of preemptions",
		"0:\u0661": "a number of preemptions",
	} {
		f, err := Replay(Config{}, choices, scenario(true))
		require.Nil(t, f, choices)
		require.ErrorContains(t, err, why, choices)
	}
	f, err := Replay(Config{}, "0:10", scenario(false))
	require.Nil(t, f)
	require.ErrorContains(t, err, "it doesn't fail by these 2 choices")
	f, err = Replay(Config{}, "0:101", scenario(false))
	require.Nil(t, f)
	require.NoError(t, err)
}

// What the scenario does otherwise by the same choices is found, not explored.
func TestStrays(t *testing.T) {
	n := 0
	f := Explore(Config{}, func(r *Run) {
		n++
		for i := range 2 + n%2 {
			r.Go(fmt.Sprint(i), func() { r.Point("") })
		}
	}).Failure
	require.Equal(t, strayed, f.Why)
	n = 0
	f = Explore(Config{}, func(r *Run) {
		if n++; n == 1 {
			r.Choose(2)
		}
	}).Failure
	require.Equal(t, strayed, f.Why)
}

// The seams are set while a run goes on, and given back. Outside of threads they do nothing.
func TestSeams(t *testing.T) {
	was := 0
	point := func(string) { was++ }
	self := func() uintptr { return 77 }
	var await func(string, func() bool)
	c := Config{Seams: Seams{&point, &await, &self}}
	seen := map[uintptr]bool{}
	res := Explore(c, func(r *Run) {
		point("in the scenario")
		await("in the scenario", nil)
		seen[self()] = true
		for range 3 {
			r.Go("", func() { point(""); seen[self()] = true })
		}
		r.As(9)
	})
	require.Nil(t, res.Failure)
	require.Equal(t, map[uintptr]bool{0: true, 1: true, 2: true, 9: true}, seen)
	require.Zero(t, was)
	point("")
	require.Equal(t, 1, was)
	require.Nil(t, await)
	require.EqualValues(t, 77, self())
}

// told notes what Prove says of itself.
type told struct{ logs, fatal string }

func (*told) Helper()                      {}
func (s *told) Logf(f string, args ...any) { s.logs += fmt.Sprintf(f, args...) }
func (s *told) Fatalf(f string, args ...any) {
	s.fatal = fmt.Sprintf(f, args...)
	panic(s)
}

// proves calls Prove, whose Fatalf doesn't return.
func proves(c Config, scenario func(*Run)) (s *told, n int) {
	s = &told{}
	defer func() { _ = recover() }()
	n = Prove(s, c, scenario)
	return s, n
}

func TestProve(t *testing.T) {
	sound := func(r *Run) {
		for range 2 {
			r.Go("", func() { r.Point(""); r.Point(""); r.Point("") })
		}
	}
	s, n := proves(Config{}, sound)
	require.Equal(t, told{logs: "70 schedules, all of them"}, *s)
	require.Equal(t, 70, n)
	s, _ = proves(Config{Bound: 2}, sound)
	require.Equal(t, "26 schedules, all with up to 2 preemptions", s.logs)
	s, _ = proves(Config{Budget: 1}, sound)
	require.Equal(t, "1 schedules, not all without preemptions", s.logs)

	broken := func(r *Run) {
		done := false
		r.Go("a", func() { r.Point("x"); require.False(r, done) })
		r.Go("b", func() { r.Point("y"); done = true })
	}
	s, _ = proves(Config{}, broken)
	require.Contains(t, s.fatal, "Should be false")
	require.Contains(t, s.fatal, "b: y\n      a: x\nagain by STACKHOUSE_REPLAY=0:1")

	t.Setenv("STACKHOUSE_REPLAY", "0:1")
	s, _ = proves(Config{}, broken)
	require.Contains(t, s.fatal, "Should be false")
	s, n = proves(Config{}, sound)
	require.Equal(t, told{logs: "one schedule, that of STACKHOUSE_REPLAY, was run and passed"}, *s)
	require.Equal(t, 1, n)
	t.Setenv("STACKHOUSE_REPLAY", "x")
	s, _ = proves(Config{}, sound)
	require.Contains(t, s.fatal, "choices are a number")
}

// BenchmarkSchedule is one schedule of three threads with ten points each.
func BenchmarkSchedule(b *testing.B) {
	b.ReportAllocs()
	Explore(Config{Budget: b.N}, func(r *Run) {
		for range 3 {
			r.Go("", func() {
				for range 10 {
					r.Point("")
				}
			})
		}
	})
}
