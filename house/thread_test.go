package house_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/internal/invariant"
)

// TestSpareProcs: Start raises GOMAXPROCS and never lowers it.
func TestSpareProcs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		env           string
		before, spare int
		want          int
	}{
		{"", 2, 5, 8},
		{"", 20, 5, 20},
		{"", 1, -1, 1},
		{"2", 2, 5, 2},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Setenv("GOMAXPROCS", c.env)
			runtime.GOMAXPROCS(c.before)
			started(t, house.Config{Workers: 3, SpareProcs: c.spare})
			if n := runtime.GOMAXPROCS(0); n != c.want {
				t.Errorf("GOMAXPROCS is %d, want %d", n, c.want)
			}
		})
	}
	t.Run("default", func(t *testing.T) {
		t.Setenv("GOMAXPROCS", "")
		runtime.GOMAXPROCS(1)
		started(t, house.Config{Workers: 3})
		if n := runtime.GOMAXPROCS(0); n < 4 {
			t.Errorf("GOMAXPROCS is %d, want one more than workers at least", n)
		}
	})
}

// TestLockedWorkersAreNotBorrowed: guests wake a worker whose actors may rely on
// their thread.
func TestLockedWorkersAreNotBorrowed(t *testing.T) {
	sys := started(t, house.Config{Workers: 2, LockThreads: true, Spin: -1})
	_, p := spawn(sys)
	for i := range 200 {
		if n, err := core.Ask(t.Context(), p, reply(i)); n != i || err != nil {
			t.Fatalf("answer %d, %v", n, err)
		}
	}
	if n := sys.Stats().Borrowed; n != 0 {
		t.Errorf("guests ran %d turns", n)
	}
}

func TestNegativeCPU(t *testing.T) {
	if _, err := house.New(house.Config{CPUs: []int{0, -1}}); err == nil || !strings.Contains(err.Error(), "Config.CPUs") {
		t.Errorf("error %v", err)
	}
}

// TestLongSpinnersEnd: at most two of three workers spin beyond 5 µs; parks, lost goroutines and
// the end of the system free all places.
func TestLongSpinnersEnd(t *testing.T) {
	for _, spin := range []time.Duration{50 * time.Microsecond, time.Hour} {
		sys := newSystem(t, house.Config{Workers: 3, Spin: spin, WakeForGuests: true})
		if err := sys.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			_, p := spawn(sys)
			_, err := core.Ask(t.Context(), p, func(s *task) core.Yield {
				if n := sys.LongSpinners(); n < 0 || n > 2 {
					t.Errorf("%d of 3 workers spin beyond 5 µs", n)
				}
				if i%50 == 0 {
					runtime.Goexit()
				}
				return s.Return(0)
			})
			if (err != nil) != (i%50 == 0) {
				t.Fatalf("ask %d: %v", i, err)
			}
		}
		if err := shutdown(sys); err != nil {
			t.Error(err)
		}
		balanced(t, sys)
		if n := sys.LongSpinners(); n != 0 {
			t.Errorf("Spin %v: %d places are taken after the end", spin, n)
		}
	}
}

type (
	// waiter handles a notice; every other one suspends it for an hour.
	waiter      struct{ waits bool }
	waiterStack struct {
		core.NoticeStack[*sync.WaitGroup]
		tick core.Future[core.Tick]
	}
)

func (a *waiter) wait(s *waiterStack) core.Yield {
	defer s.Msg.Done()
	if !a.waits {
		return s.Return()
	}
	core.Timer.Ask(s, &s.tick, time.Hour)
	return core.Suspend(s, (*waiter).over)
}

func (a *waiter) over(s *waiterStack) core.Yield { return s.Return() }

var onWait = core.HandleNotice((*waiter).wait)

// TestGoroutinesDontCountActors: the number of goroutines is the same for ten
// active actors and for a hundred thousand, or a million if STACKHOUSE_LONG is set. Each
// has handled a message; half of them wait in the middle of one for a timer.
func TestGoroutinesDontCountActors(t *testing.T) {
	n := 100_000
	switch {
	case os.Getenv("STACKHOUSE_LONG") != "":
		n = 1_000_000
	case invariant.Race:
		n = 20_000
	}
	sys := started(t, house.Config{Workers: 2})
	activate := func(from, to int) int {
		var handled sync.WaitGroup
		handled.Add(to - from)
		for i := from; i < to; i++ {
			// on both workers
			a := core.Spawn(sys, func() *waiter { return &waiter{waits: i/2%2 == 0} })
			if err := core.Notice(onWait.At(a), &handled); err != nil {
				t.Fatal(err)
			}
		}
		handled.Wait()
		return runtime.NumGoroutine()
	}
	few := activate(0, 10)
	// Goroutines of tests before may end meanwhile; new ones are the actors'.
	if many := activate(10, n); many > few {
		t.Errorf("%d goroutines with 10 actors, %d with %d", few, many, n)
	}
	if all := sys.Actors(); all != n {
		t.Errorf("%d actors, want %d", all, n)
	}
}
