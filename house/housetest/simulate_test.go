package housetest_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// verdict is a test whose failure is looked at.
type verdict struct {
	testing.TB
	text string // "": it passes
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (v *verdict) Fatal(args ...any) { v.Fatalf("%s", fmt.Sprint(args...)) }

// verdictOf runs f as a test.
func verdictOf(t *testing.T, f func(t testing.TB)) string {
	v, ended := &verdict{TB: t}, make(chan struct{})
	go func() {
		defer close(ended)
		f(v)
	}()
	<-ended
	return v.text
}

// shopPlan is a plan of a run that needs no simulation.
type shopPlan struct {
	Seed      uint64 `shrink:"-"`
	Customers []shopCustomer
	Faults    housetest.Faults
	Workers   int
	Name      string
	Open      bool
	Extra     *int
}

type shopCustomer struct {
	Asks []int
	Wait time.Duration
}

func drawShop(seed uint64) (p shopPlan) {
	rng := rand.New(rand.NewPCG(seed, 0))
	p = shopPlan{Seed: seed, Faults: housetest.Draw(rng), Workers: rng.IntN(9), Name: "it's", Open: true, Extra: new(int)}
	p.Faults.Again = 17
	for range rng.IntN(20) {
		c := shopCustomer{Wait: time.Duration(rng.IntN(1 << 30))}
		for range rng.IntN(20) {
			c.Asks = append(c.Asks, rng.IntN(1000))
		}
		p.Customers = append(p.Customers, c)
	}
	return p
}

// crowded fails if two asks of one customer are above 99, while reads block at least once in 5
// times.
func crowded(t testing.TB, p shopPlan) {
	for _, c := range p.Customers {
		n := 0
		for _, ask := range c.Asks {
			if ask > 99 {
				n++
			}
		}
		if p.Faults.Again >= 5 {
			require.Less(t, n, 2, "a bug")
		}
	}
}

var planIn = regexp.MustCompile(`STACKHOUSE_PLAN='([^']*)' (.*)`)

// TestFailureShrinks: what is left of a plan is what the bug needs, and the command repeats it.
func TestFailureShrinks(t *testing.T) {
	said := verdictOf(t, func(t testing.TB) { housetest.Simulate(t, 100, drawShop, crowded) })
	require.Contains(t, said, "a bug")
	found := planIn.FindStringSubmatch(said)
	require.NotNil(t, found, said)
	require.Regexp(t, `^{"Customers":\[{"Asks":\[100,100\]}\],"Faults":{"Again":5}(,"Seed":\d+)?}$`, found[1])
	require.Equal(t, "go test github.com/stackhouse-go/stackhouse/house/housetest -run '^TestFailureShrinks$'", found[2])

	t.Setenv("STACKHOUSE_PLAN", found[1])
	runs := 0
	said = verdictOf(t, func(t testing.TB) {
		housetest.Simulate(t, 100, drawShop, func(t testing.TB, p shopPlan) {
			runs++
			require.Equal(t, []shopCustomer{{Asks: []int{100, 100}}}, p.Customers)
			require.Equal(t, housetest.Faults{Again: 5}, p.Faults)
			crowded(t, p)
		})
	})
	require.Contains(t, said, "a bug")
	require.Equal(t, 1, runs)
}

func TestSimulatePasses(t *testing.T) {
	var seeds []uint64
	said := verdictOf(t, func(t testing.TB) {
		housetest.Simulate(t, 5, drawShop, func(_ testing.TB, p shopPlan) { seeds = append(seeds, p.Seed) })
	})
	require.Empty(t, said)
	require.Equal(t, []uint64{0, 1, 2, 3, 4}, seeds)
}

// TestPlanOfAnotherTest is no plan.
func TestPlanOfAnotherTest(t *testing.T) {
	t.Setenv("STACKHOUSE_PLAN", `{"Seed":1,"Moments":[]}`)
	require.Contains(t, verdictOf(t, func(t testing.TB) { housetest.Simulate(t, 1, drawShop, crowded) }), "Moments")
}

// hidden is a plan that text doesn't hold.
type hidden struct{ n int }

func TestHiddenPlans(t *testing.T) {
	said := verdictOf(t, func(t testing.TB) {
		housetest.Simulate(t, 10, func(seed uint64) hidden { return hidden{int(seed)} }, func(t testing.TB, p hidden) {
			require.Less(t, p.n, 5)
		})
	})
	require.Contains(t, said, "if its plan is read from text")
}

// TestEachWayToFail: runs end in their goroutine, and clean up behind themselves.
func TestEachWayToFail(t *testing.T) {
	for what, fail := range map[string]func(t testing.TB){
		"file:line": func(t testing.TB) { t.Errorf("file:%s", "line") },
		"an error":  func(t testing.TB) { t.Error("an error") },
		"fatal":     func(t testing.TB) { t.Fatal("fatal") },
		"fatally":   func(t testing.TB) { t.Fatalf("%s", "fatally") },
		"logged":    func(t testing.TB) { t.Log("logged"); t.FailNow() },
		"logf":      func(t testing.TB) { t.Logf("%s", "logf"); t.Fail() },
		"panic: oh": func(testing.TB) { panic("oh") },
		"written":   func(t testing.TB) { fmt.Fprintln(t.Output(), "written"); t.FailNow() },
		"late":      func(t testing.TB) { t.Cleanup(func() { t.Fatal("late") }) },
		"log level": func(t testing.TB) { housetest.Log(t).Error("log level"); t.Fail() },
	} {
		t.Run(what, func(t *testing.T) {
			var cleaned []int
			said := verdictOf(t, func(t testing.TB) {
				housetest.Simulate(t, 1, drawShop, func(t testing.TB, _ shopPlan) {
					cleaned = nil
					t.Cleanup(func() { cleaned = append(cleaned, 1) })
					t.Cleanup(func() { cleaned = append(cleaned, 2); require.Error(t, t.Context().Err()) })
					require.NoError(t, t.Context().Err())
					fail(t)
				})
			})
			require.Contains(t, said, what)
			require.Equal(t, []int{2, 1}, cleaned)
		})
	}
	require.Empty(t, verdictOf(t, func(t testing.TB) {
		housetest.Simulate(t, 1, drawShop, func(t testing.TB, _ shopPlan) { t.Skip() })
	}))
}

// A simulation's plan is drawn from its seed.
func ExampleSimulate() {
	t := &testing.T{} // a test has its own
	type plan struct {
		Seed    uint64 `shrink:"-"`
		Workers int
		Waits   []time.Duration
	}
	draw := func(seed uint64) plan {
		rng := rand.New(rand.NewPCG(seed, 0))
		p := plan{Seed: seed, Workers: rng.IntN(4)}
		for range rng.IntN(10) {
			p.Waits = append(p.Waits, time.Duration(rng.IntN(1e9)))
		}
		return p
	}
	passed := 0
	housetest.Simulate(t, 100, draw, func(t testing.TB, p plan) {
		sim := housetest.New(t, p.Seed, house.Config{Workers: p.Workers})
		door := core.Spawn(sim, func() *Door { return &Door{} })
		var calls []core.Pending[string]
		for _, wait := range p.Waits {
			calls = append(calls, core.Begin(doorPass.At(door), wait))
		}
		sim.Run(time.Second)
		for i, call := range calls {
			if !call.Ready() {
				t.Fatalf("call %d isn't answered", i)
			}
			call.Get()
		}
		passed++
	})
	fmt.Println(passed)
	// Output: 100
}
