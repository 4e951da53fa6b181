package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// Greeter is a first actor: it answers Greet with a text.
type Greeter struct{ greeted int }

type (
	Greet    struct{ Name string }
	Greeting struct{ Text string }

	// greetStack is one Greet in progress.
	greetStack struct{ core.AskStack[Greet, Greeting] }
)

func (g *Greeter) greet(s *greetStack) core.Yield {
	g.greeted++ // one thread at a time runs an actor
	return s.Return(Greeting{fmt.Sprintf("Hello, %s. You are number %d.", s.Req.Name, g.greeted)})
}

// GreeterGreet is what others may ask of a Greeter.
var GreeterGreet = core.Handle((*Greeter).greet)

// A first actor, asked by a guest: a goroutine that is no worker.
func Example() {
	sys, err := house.New(house.Config{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := sys.Start(ctx); err != nil {
		panic(err)
	}
	defer sys.Shutdown(ctx)

	greet := GreeterGreet.At(core.Spawn(sys, func() *Greeter { return &Greeter{} }))
	for _, name := range []string{"Ada", "Grace"} {
		g, err := core.Ask(ctx, greet, Greet{name})
		fmt.Println(g.Text, err)
	}
	// Output:
	// Hello, Ada. You are number 1. <nil>
	// Hello, Grace. You are number 2. <nil>
}

type (
	// Shard holds a part of the numbers.
	Shard    struct{ numbers []int }
	sumStack struct {
		core.AskStack[struct{}, int]
	}

	// Total asks all shards at once.
	Total      struct{ shards [3]core.Port[struct{}, int] }
	totalStack struct {
		core.AskStack[struct{}, int]
		sums [3]core.Future[int] // fields survive a wait
	}
)

func (a *Shard) sum(s *sumStack) core.Yield {
	sum := 0
	for _, n := range a.numbers {
		sum += n
	}
	return s.Return(sum)
}

func (a *Total) total(s *totalStack) core.Yield {
	for i, shard := range a.shards {
		shard.Ask(s, &s.sums[i], struct{}{})
	}
	return core.Suspend(s, (*Total).add) // when all have answered
}

func (a *Total) add(s *totalStack) core.Yield {
	total := 0
	for i := range s.sums {
		sum, err := s.sums[i].Get()
		if err != nil {
			return s.Throw(err)
		}
		total += sum
	}
	return s.Return(total)
}

var (
	shardSum   = core.Handle((*Shard).sum)
	totalTotal = core.Handle((*Total).total)
)

// A fan-out is an array of futures, a loop of asks and one Suspend.
func ExampleSuspend() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	var shards [3]core.Port[struct{}, int]
	for i := range shards {
		shards[i] = shardSum.At(core.Spawn(sys, func() *Shard { return &Shard{[]int{i, 10 * i, 100 * i}} }))
	}
	total := totalTotal.At(core.Spawn(sys, func() *Total { return &Total{shards} }))
	fmt.Println(core.Ask(ctx, total, struct{}{}))
	// Output: 333 <nil>
}

type (
	// Hedge asks two replicas and takes the answer that comes first.
	Hedge struct {
		near, far core.Port[time.Duration, string]
	}
	hedgeStack struct {
		core.AskStack[struct{}, string]
		near, far core.Future[string]
	}

	// Replica answers after a time.
	Replica      struct{ name string }
	replicaStack struct {
		core.AskStack[time.Duration, string]
		tick core.Future[core.Tick]
	}
)

func (r *Replica) answer(s *replicaStack) core.Yield {
	core.Timer.Ask(s, &s.tick, s.Req)
	return core.Suspend(s, (*Replica).slept)
}

func (r *Replica) slept(s *replicaStack) core.Yield {
	if _, err := s.tick.Get(); err != nil {
		return s.Throw(err)
	}
	return s.Return(r.name)
}

func (h *Hedge) ask(s *hedgeStack) core.Yield {
	h.near.Ask(s, &s.near, time.Hour) // a bad day
	h.far.Ask(s, &s.far, time.Millisecond)
	return core.SuspendUntil(s, (*Hedge).any, (*Hedge).done)
}

func (h *Hedge) any(s *hedgeStack) bool { return s.near.Ready() || s.far.Ready() }

func (h *Hedge) done(s *hedgeStack) core.Yield {
	first := &s.near
	if s.far.Ready() {
		first = &s.far
	}
	name, err := first.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(name) // what is still under way is cancelled
}

var (
	replicaAnswer = core.Handle((*Replica).answer)
	hedgeAsk      = core.Handle((*Hedge).ask)
)

// The first of two answers wins; the other ask is cancelled.
func ExampleSuspendUntil() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	near := replicaAnswer.At(core.Spawn(sys, func() *Replica { return &Replica{"near"} }))
	far := replicaAnswer.At(core.Spawn(sys, func() *Replica { return &Replica{"far"} }))
	hedge := hedgeAsk.At(core.Spawn(sys, func() *Hedge { return &Hedge{near, far} }))
	fmt.Println(core.Ask(ctx, hedge, struct{}{}))
	// Output: far <nil>
}

type (
	// Clock says how often it has ticked.
	Clock      struct{}
	clockStack struct {
		core.AskStack[int, string] // how often
		tick                       core.Future[core.Tick]
		ticks                      int
	}
)

func (c *Clock) run(s *clockStack) core.Yield {
	if s.ticks == s.Req {
		return s.Return(fmt.Sprintf("%d ticks", s.ticks))
	}
	s.ticks++
	core.Timer.Ask(s, &s.tick, time.Millisecond)
	return core.Suspend(s, (*Clock).run) // a step may be its own next one
}

var clockRun = core.Handle((*Clock).run)

// A timer is a port: it is asked for a duration, and answers when it is over.
func Example_timer() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	clock := clockRun.At(core.Spawn(sys, func() *Clock { return &Clock{} }))
	fmt.Println(core.Ask(ctx, clock, 3))
	// Output: 3 ticks <nil>
}

type (
	// Ledger commits entries in groups: one flush for all that came meanwhile.
	Ledger      struct{ entries, flushes int }
	ledgerStack struct {
		core.BatchAskStack[int, int]
		flushed core.Future[core.Tick]
	}
)

func (l *Ledger) commit(s *ledgerStack) core.Yield {
	for _, n := range s.All() {
		l.entries += *n
	}
	core.Timer.Ask(s, &s.flushed, time.Millisecond) // the disk
	return core.Suspend(s, (*Ledger).committed)
}

func (l *Ledger) committed(s *ledgerStack) core.Yield {
	l.flushes++
	return s.ReturnAll(l.entries)
}

var ledgerCommit = core.HandleBatch((*Ledger).commit, 0)

// A batch handles the asks that are queued together; each asker gets its answer
// as if it had been alone.
func ExampleHandleBatch() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	commit := ledgerCommit.At(core.Spawn(sys, func() *Ledger { return &Ledger{} }))
	var calls []core.Pending[int]
	for range 100 {
		calls = append(calls, core.Begin(commit, 1))
	}
	total := 0
	for _, c := range calls {
		n, err := c.Get()
		if err != nil {
			panic(err)
		}
		total = max(total, n)
	}
	fmt.Println(total)
	// Output: 100
}

type (
	// Archive reads what takes long.
	Archive   struct{}
	loadStack struct {
		core.AskStack[string, int]
		size core.Future[int]
	}
)

// measure may block: a goroutine of its own runs it. It captures nothing.
func measure(ctx context.Context, name string) (int, error) { return len(name), ctx.Err() }

func (a *Archive) load(s *loadStack) core.Yield {
	core.Offload(s, &s.size, s.Req, measure)
	return core.Suspend(s, (*Archive).loaded)
}

func (a *Archive) loaded(s *loadStack) core.Yield {
	n, err := s.size.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var archiveLoad = core.Handle((*Archive).load)

// What blocks is offloaded.
func ExampleOffload() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	load := archiveLoad.At(core.Spawn(sys, func() *Archive { return &Archive{} }))
	fmt.Println(core.Ask(ctx, load, "scroll"))
	// Output: 6 <nil>
}

// Registry keeps what it is told in a database that can be down.
type Registry struct{ base core.OffloadPool }

func (r *Registry) load(s *loadStack) core.Yield {
	core.OffloadTo(s, &s.size, r.base, s.Req, measure)
	return core.Suspend(s, (*Registry).loaded)
}

func (r *Registry) loaded(s *loadStack) core.Yield {
	n, err := s.size.Get()
	if errors.Is(err, core.ErrOverloaded) { // queue full, or the breaker open
		return s.Throw(fmt.Errorf("try again later: %w", err))
	} else if err != nil {
		return s.Throw(err)
	}
	return s.Return(n)
}

var registryLoad = core.Handle((*Registry).load)

// What blocks on one thing has a pool of its own.
func ExampleOffloadTo() {
	sys, _ := house.New(house.Config{})
	base, _ := sys.NewOffloadPool(house.OffloadConfig{
		Name:       "base",
		Goroutines: 4, // connections
		Queue:      100,
		Timeout:    time.Second,
		Breaker:    core.NewBreaker(core.BreakerConfig{Failures: 10}),
	})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	load := registryLoad.At(core.Spawn(sys, func() *Registry { return &Registry{base} }))
	fmt.Println(core.Ask(ctx, load, "accounts"))
	fmt.Println(base.Stats().Done, "done, breaker", base.Stats().Breaker)
	// Output:
	// 8 <nil>
	// 1 done, breaker closed
}

// A breaker refuses calls when some have failed in a row, and tries again later.
func ExampleBreaker() {
	b := core.NewBreaker(core.BreakerConfig{Failures: 2, Pause: time.Second, Jitter: -1})
	now := int64(0) // in a step: core.Now(s)
	for range 2 {
		call, _ := b.Begin(now)
		b.End(now, call, errors.New("down"))
	}
	_, err := b.Begin(now)
	fmt.Println(b, "-", err)

	now += int64(time.Second)
	call, err := b.Begin(now) // a probe
	b.End(now, call, err)
	fmt.Println(b)
	// Output:
	// open - stackhouse: circuit breaker open
	// closed
}
