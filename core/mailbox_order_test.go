package core_test

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// least is an Order by number: the least is next. It may be told to be wrong.
type least struct {
	waiting []core.Waiting
	wrong   func(where string) bool // nil: never
	last    core.Waiting            // what was taken last
	of      func(core.Waiting) (*int, bool)
}

// number is what a desk's message says.
func number(m core.Waiting) int {
	if n, ok := deskTake.Message(m); ok {
		return *n
	}
	n, _ := deskAsk.Request(m)
	return *n
}

func (l *least) Len() int {
	if l.is("len") {
		return len(l.waiting) + 1
	}
	return len(l.waiting)
}

func (l *least) Less(i, j int) bool { return l.number(i) < l.number(j) }

func (l *least) number(i int) int {
	if l.of == nil {
		return number(l.waiting[i])
	}
	n, _ := l.of(l.waiting[i])
	return *n
}

func (l *least) Swap(i, j int) { l.waiting[i], l.waiting[j] = l.waiting[j], l.waiting[i] }
func (l *least) Push(x any)    {}

func (l *least) Pop() any {
	last := len(l.waiting) - 1
	l.last = l.waiting[last]
	l.waiting = l.waiting[:last]
	return nil
}

func (l *least) is(where string) bool { return l.wrong != nil && l.wrong(where) }

// sound has heap look at it while nothing is wrong.
func (l *least) sound(f func()) {
	wrong := l.wrong
	l.wrong = nil
	f()
	l.wrong = wrong
}

func (l *least) Put(m core.Waiting) {
	if l.is("put") {
		panic(errHot)
	}
	if l.is("lost") {
		return
	}
	l.waiting = append(l.waiting, m)
	if l.is("late") {
		panic(errHot)
	}
	l.sound(func() { heap.Fix(l, len(l.waiting)-1) })
}

func (l *least) Take() core.Waiting {
	switch {
	case l.is("take"):
		panic(errHot)
	case l.is("none"):
		return core.Waiting{}
	case l.is("again"):
		return l.last
	}
	l.sound(func() { heap.Pop(l) })
	if l.is("taken") {
		panic(errHot)
	}
	return l.last
}

func newLeast() core.Order { return &least{} }

// TestOrderOfTheUsersOwn: the least that waits is next, whenever it came, also behind what a held
// actor had taken already, and nothing of another kind is in the way.
func TestOrderOfTheUsersOwn(t *testing.T) {
	eachSeed(t, 20, 2, func(t *testing.T, sim *housetest.Sim) {
		d, a := spawnDesk(t, sim, core.Ordered(1000, newLeast))
		rng := rand.New(rand.NewPCG(sim.Seed, 1))
		var calls []core.Pending[int]
		for range 20 {
			var sent []int
			for range rng.IntN(30) {
				n := rng.IntN(100)
				sent = append(sent, n)
				if rng.IntN(2) == 0 {
					require.NoError(t, core.Notice(deskTake.At(a), n))
				} else {
					calls = append(calls, core.Begin(deskAsk.At(a), n))
				}
			}
			if rng.IntN(4) == 0 {
				a.Pause()
				sim.Rest()
				require.Empty(t, d.handled)
				a.Continue()
			}
			sim.Rest()
			slices.Sort(sent)
			require.Equal(t, sent, d.handled)
			d.handled = nil
		}
		for _, c := range calls {
			_, err := c.Get()
			require.NoError(t, err)
		}
	})
}

// TestWrongOrders: whatever an Order does, each message begins once or fails once.
func TestWrongOrders(t *testing.T) {
	failed := map[string]int{}
	for _, wrong := range []string{"make", "nil", "put", "lost", "late", "take", "none", "again", "taken", "len"} {
		t.Run(wrong, func(t *testing.T) {
			eachSeed(t, 8, 2, func(t *testing.T, sim *housetest.Sim) {
				rng := rand.New(rand.NewPCG(sim.Seed, 1))
				is := func(where string) bool { return where == wrong && rng.IntN(5) == 0 }
				d, a := spawnDesk(t, sim, core.Ordered(1000, func() core.Order {
					if is("make") {
						panic(errHot)
					}
					if is("nil") {
						return nil
					}
					return &least{wrong: is}
				}))
				for range 20 {
					var calls []core.Pending[int]
					n := 1 + rng.IntN(10)
					for i := range n {
						calls = append(calls, core.Begin(deskAsk.At(a), i))
					}
					if rng.IntN(4) == 0 {
						a.Pause()
						sim.Rest()
						a.Continue()
					}
					sim.Rest()
					begun := len(d.handled)
					for i, c := range calls {
						require.True(t, c.Ready())
						var panicked *core.PanicError
						if _, err := c.Get(); errors.As(err, &panicked) {
							failed[wrong]++
							n--
						} else {
							require.NoError(t, err)
							require.Contains(t, d.handled, i)
						}
					}
					require.Equal(t, n, begun)
					d.handled = nil
				}
				for i := range 10 {
					require.NoError(t, core.Notice(deskTake.At(a), i))
				}
				a.Stop()
				sim.Rest()
				require.ErrorIs(t, core.Notice(deskTake.At(a), 0), core.ErrStopped)
			})
			require.NotZero(t, failed[wrong])
		})
	}
}

// TestOneSlipIsOneFailure: what an Order has mistaken once goes with it. The fresh one has all the
// others.
func TestOneSlipIsOneFailure(t *testing.T) {
	for _, wrong := range []string{"make", "nil", "put", "lost", "late", "take", "none", "again", "taken", "len"} {
		t.Run(wrong, func(t *testing.T) {
			eachSeed(t, 8, 1, func(t *testing.T, sim *housetest.Sim) {
				rng := rand.New(rand.NewPCG(sim.Seed, 1))
				slipped := false
				is := func(where string) bool {
					now := where == wrong && !slipped && rng.IntN(5) == 0
					slipped = slipped || now
					return now
				}
				d, a := spawnDesk(t, sim, core.Ordered(1000, func() core.Order {
					if is("make") {
						panic(errHot)
					}
					if is("nil") {
						return nil
					}
					return &least{wrong: is}
				}))
				var calls []core.Pending[int]
				for i := range 50 {
					calls = append(calls, core.Begin(deskAsk.At(a), i))
					if i%10 == 9 {
						sim.Rest()
					}
				}
				failures := 0
				for _, c := range calls {
					if _, err := c.Get(); err != nil {
						failures++
					}
				}
				require.LessOrEqual(t, failures, 1)
				require.Len(t, d.handled, 50-failures)
			})
		})
	}
}

// TestWhatWaitsNoMore: an Order that looks at a message that it has given panics, and doesn't see
// the one that is in its place.
func TestWhatWaitsNoMore(t *testing.T) {
	sim := stage(t, 1, 1)
	o := &least{}
	_, a := spawnDesk(t, sim, core.Ordered(10, func() core.Order { return o }))
	require.NoError(t, core.Notice(deskTake.At(a), 1))
	sim.Rest()
	panics := func(f func()) (yes bool) { // what require does would end the worker
		defer func() { yes = recover() != nil }()
		f()
		return false
	}
	looked, panicked := 0, 0
	o.wrong = func(where string) bool {
		if where != "put" { // what was taken last is that of before
			return false
		}
		for _, m := range []core.Waiting{o.last, {}} {
			for _, look := range []func(){
				func() { deskTake.Message(m) }, func() { deskAsk.Request(m) }, func() { m.Sender() },
			} {
				looked++
				if panics(look) {
					panicked++
				}
			}
		}
		return false
	}
	require.NoError(t, core.Notice(deskTake.At(a), 2))
	sim.Rest()
	require.Equal(t, 6, looked)
	require.Equal(t, looked, panicked)
}

// TestOrderAndRestart: what waits in an Order when its actor restarts begins once, in its order.
func TestOrderAndRestart(t *testing.T) {
	sim := stage(t, 1, 1)
	var handled []int
	a, err := core.SpawnWith(sim, func() *fragile { return &fragile{&handled} }, core.Props{
		Mailbox:   core.Ordered(100, func() core.Order { return &least{of: fragileTake.Message} }),
		OnFailure: &core.Strategy{Backoff: 1e9},
	})
	require.NoError(t, err)
	for _, n := range []int{9, 3, 5, 1, 7, 2} {
		require.NoError(t, core.Notice(fragileTake.At(a), n))
	}
	sim.Run(2 * time.Second)
	require.Equal(t, []int{1, 2, 3, 5, 7, 9}, handled)
}

// fragile fails at 3.
type fragile struct{ handled *[]int }

var fragileTake = core.HandleNotice((*fragile).take)

func (f *fragile) take(s *core.NoticeStack[int]) core.Yield {
	*f.handled = append(*f.handled, s.Msg)
	if s.Msg == 3 {
		panic(errHot)
	}
	return s.Return()
}

func TestOrderAllocatesNothing(t *testing.T) {
	sys, err := house.New(house.Config{Manual: true, Workers: 1})
	require.NoError(t, err)
	o := &fifo{}
	d, a := spawnDesk(t, sys, core.Ordered(100, func() core.Order { return o }))
	rest := func() {
		for sys.Workers()[0].Turn() {
		}
		d.handled = d.handled[:0]
	}
	housetest.ZeroAlloc(t, 100_000, func(n int) {
		for i := range n {
			if err := core.Notice(deskTake.At(a), i); err != nil {
				t.Fatal(err)
			}
			if i%50 == 49 {
				rest()
			}
		}
		rest()
	})
}

// fifo is the order of arrival, in a ring.
type fifo struct {
	ring     [128]core.Waiting
	from, to int
}

func (f *fifo) Put(m core.Waiting) { f.ring[f.to%len(f.ring)] = m; f.to++ }

func (f *fifo) Take() core.Waiting {
	m := f.ring[f.from%len(f.ring)]
	f.from++
	return m
}

func (f *fifo) Len() int { return f.to - f.from }

// shortest is an Order by which short jobs go first.
type shortest struct{ jobs []core.Waiting }

func (s *shortest) Put(m core.Waiting) { s.jobs = append(s.jobs, m) }
func (s *shortest) Len() int           { return len(s.jobs) }

func (s *shortest) Take() core.Waiting {
	best := 0
	for i := range s.jobs {
		if number(s.jobs[i]) < number(s.jobs[best]) {
			best = i
		}
	}
	m := s.jobs[best]
	s.jobs = slices.Delete(s.jobs, best, best+1)
	return m
}

func ExampleOrdered() {
	sys, _ := house.New(house.Config{Manual: true, Workers: 1})
	d := &desk{}
	a, _ := core.SpawnWith(sys, func() *desk { return d }, core.Props{
		Mailbox: core.Ordered(100, func() core.Order { return &shortest{} }),
	})
	for _, seconds := range []int{300, 20, 70} {
		core.Notice(deskTake.At(a), seconds)
	}
	for sys.Workers()[0].Turn() {
	}
	fmt.Println(d.handled)
	// Output: [20 70 300]
}
