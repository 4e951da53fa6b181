package core_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type (
	// Counter counts what its worker's actors tell it.
	Counter    struct{ hits int }
	hitStack   struct{ core.NoticeStack[int] }
	totalsStep struct{ core.AskStack[struct{}, int] }

	// Page tells a Counter of each visit.
	Page      struct{ count core.NoticePort[int] }
	pageStack struct{ core.AskStack[int, int] }
)

func (c *Counter) hit(s *hitStack) core.Yield     { c.hits += s.Msg; return s.Return() }
func (c *Counter) total(s *totalsStep) core.Yield { return s.Return(c.hits) }

func (p *Page) visit(s *pageStack) core.Yield {
	p.count.Notice(s, s.Req) // the counter of this page's own worker
	return s.Return(s.Req)
}

var (
	counterHit   = core.HandleNotice((*Counter).hit)
	counterTotal = core.Handle((*Counter).total)
	pageVisit    = core.Handle((*Page).visit)
)

// Replicas keep messages on their worker; a broadcast asks all of them.
func ExampleReplicate() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	counters := core.Replicate(sys, func() *Counter { return &Counter{} })
	near := counterHit.Local(counters)
	for _, w := range sys.Workers() {
		page := pageVisit.At(core.Spawn(w, func() *Page { return &Page{near} }))
		if _, err := core.Ask(ctx, page, 10); err != nil {
			fmt.Println(err)
		}
	}
	totals, workers := core.Broadcast(counterTotal, counters), len(sys.Workers())
	err := core.AskInto(ctx, totals, struct{}{}, func(answers *core.Answers[int]) {
		sum := 0
		for n, err := range answers.All() {
			if err != nil {
				fmt.Println(err)
			}
			sum += n
		}
		fmt.Println(answers.Len() == workers, sum == 10*workers)
	})
	fmt.Println(err)
	// Output:
	// true true
	// <nil>
}

// A router is a port: who asks it can't tell it from an actor's. A group may change
// meanwhile.
func ExampleHandler_RoundRobin() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	var greeters core.Group[Greeter]
	for range 2 {
		greeters.Join(core.Spawn(sys, func() *Greeter { return &Greeter{} }))
	}
	greet := GreeterGreet.RoundRobin(&greeters)
	for _, name := range []string{"Ada", "Grace", "Edsger"} {
		g, err := core.Ask(ctx, greet, Greet{name})
		fmt.Println(g.Text, err)
	}
	for _, a := range greeters.All() {
		greeters.Leave(a)
	}
	_, err := core.Ask(ctx, greet, Greet{"Nobody"})
	fmt.Println(err)
	// Output:
	// Hello, Ada. You are number 1. <nil>
	// Hello, Grace. You are number 1. <nil>
	// Hello, Edsger. You are number 2. <nil>
	// stackhouse: no member
}

type (
	// Bucket is how much a client may still do. A client that is away for a minute has no bucket.
	Bucket struct{ left int }
	Take   struct{ Client string }
)

func (b *Bucket) take(s *core.AskStack[Take, bool]) core.Yield {
	b.left--
	return s.Return(b.left >= 0)
}

var BucketTake = core.Handle((*Bucket).take)

// An actor for each client, which is made when the client comes.
func ExampleByName() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	buckets := core.NewNamed(sys, core.NamedConfig[Bucket]{
		Kind:  "bucket",
		New:   func(client string) *Bucket { return &Bucket{left: 2} },
		Max:   100_000,
		Props: core.Props{Passivate: core.Passivation{Idle: time.Minute}},
	})
	take := core.ByName(BucketTake, buckets, func(t *Take) string { return t.Client })
	for _, client := range []string{"ann", "ann", "bob", "ann", "bob"} {
		ok, err := core.Ask(ctx, take, Take{client})
		fmt.Println(client, ok, err)
	}
	fmt.Println(buckets.Len())
	// Output:
	// ann true <nil>
	// ann true <nil>
	// bob true <nil>
	// ann false <nil>
	// bob true <nil>
	// 2
}
