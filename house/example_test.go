package house_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// Counter counts what it is told.
type Counter struct{ n int }

type (
	addStack   struct{ core.NoticeStack[int] }
	countStack struct{ core.AskStack[struct{}, int] }
)

func (c *Counter) add(s *addStack) core.Yield     { c.n += s.Msg; return s.Return() }
func (c *Counter) count(s *countStack) core.Yield { return s.Return(c.n) }

var (
	counterAdd   = core.HandleNotice((*Counter).add)
	counterCount = core.Handle((*Counter).count)
)

// A main makes a system, starts it, spawns actors, and shuts it down.
func Example() {
	sys, err := house.New(house.Config{Workers: 2, AskTimeout: time.Second})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := sys.Start(ctx); err != nil {
		panic(err)
	}
	c := core.Spawn(sys, func() *Counter { return &Counter{} })
	for n := range 5 {
		core.Notice(counterAdd.At(c), n)
	}
	fmt.Println(core.Ask(ctx, counterCount.At(c), struct{}{})) // behind the notices

	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	fmt.Println(sys.Shutdown(ctx), sys.Stats().Failures)
	// Output:
	// 10 <nil>
	// <nil> 0
}

// A worker is a place too: actors that talk much are best on the same one.
func ExampleSystem_Workers() {
	sys, _ := house.New(house.Config{Workers: 2})
	first := core.Spawn(sys.Workers()[0], func() *Counter { return &Counter{} })
	second := core.Spawn(sys.Workers()[1], func() *Counter { return &Counter{} })
	fmt.Println(first, second)
	sys.Shutdown(context.Background())
	// Output: house_test.Counter#1 house_test.Counter#2
}
