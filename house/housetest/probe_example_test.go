package housetest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Clerk finds rows in a store, and says so in a log. It closes when its worker stops.
type Clerk struct {
	store  core.Port[Read, Row]
	log    core.NoticePort[string]
	worker core.Address[Door]
}

type (
	Read struct{ Key string }
	Row  struct {
		Key string
		N   int
	}
	findStack struct {
		core.AskStack[string, int]
		row core.Future[Row]
	}
)

var (
	clerkFind = core.Handle((*Clerk).find)
	clerkEnds = core.HandleNotice((*Clerk).ends)
)

func (c *Clerk) PreStart(s *core.HookStack) core.Yield {
	core.Watch(s, c.worker, clerkEnds)
	return s.Return()
}

func (c *Clerk) find(s *findStack) core.Yield {
	c.store.AskWithin(s, &s.row, Read{s.Req}, time.Second)
	return core.Suspend(s, (*Clerk).found)
}

func (c *Clerk) found(s *findStack) core.Yield {
	row, err := s.row.Get()
	if err != nil {
		_ = c.log.Notice(s, fmt.Sprint(s.Req, ": ", err))
		return s.Throw(err)
	}
	_ = c.log.Notice(s, "found "+row.Key)
	return s.Return(row.N)
}

func (c *Clerk) ends(s *core.NoticeStack[core.Terminated]) core.Yield {
	core.Self[Clerk](s).Stop()
	return s.Return()
}

// The test of an actor that asks a store, tells a log and watches a worker, as a conversation.
func Example() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	p := housetest.NewProbe(t, sim)
	worker := core.Spawn(sim, func() *Door { return &Door{} })
	clerk := core.Spawn(sim, func() *Clerk {
		return &Clerk{store: housetest.Port[Read, Row](p), log: housetest.NoticePort[string](p), worker: worker}
	})
	housetest.Watch(p, clerk)

	ann := core.Begin(clerkFind.At(clerk), "ann")
	housetest.ExpectAsk[Read, Row](p, time.Second).Return(Row{"ann", 7})
	housetest.ExpectEqual(p, time.Second, "found ann")
	fmt.Println(ann.Get())

	bob := core.Begin(clerkFind.At(clerk), "bob")
	housetest.ExpectAsk[Read, Row](p, time.Second).Throw(errors.New("no such row"))
	housetest.ExpectEqual(p, time.Second, "bob: no such row")
	fmt.Println(bob.Get())

	p.ExpectNone(time.Hour)
	worker.Stop()
	housetest.ExpectTerminated(p, time.Second, clerk)
	// Output:
	// 7 <nil>
	// 0 no such row
}

// A probe hears what a topic tells: here that a door has stopped.
func ExampleExpect() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	p := housetest.NewProbe(t, sim)
	core.Events[core.ActorStopped](sim).Subscribe(housetest.NoticePort[core.ActorStopped](p))

	door := core.Spawn(sim, func() *Door { return &Door{} })
	p.ExpectNone(time.Hour)
	door.Stop()
	fmt.Println(housetest.Expect[core.ActorStopped](p, time.Second).Actor == door.Any())
	p.ExpectNone(time.Hour)
	fmt.Println(time.Duration(sim.Now).Round(time.Hour))
	// Output:
	// true
	// 2h0m0s
}

func ExampleExpectTerminated() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	p := housetest.NewProbe(t, sim)
	door := core.Spawn(sim, func() *Door { return &Door{} })
	housetest.Watch(p, door)

	call := core.Begin(doorPass.At(door), time.Second)
	door.Drain() // once who passes has passed
	p.ExpectNone(900 * time.Millisecond)
	housetest.ExpectTerminated(p, time.Second, door)
	fmt.Println(call.Get())
	// Output: shut <nil>
}

// A port whose asks are answered later, in another order, or too late.
func ExamplePort() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	store := housetest.NewProbe(t, sim)
	log := housetest.NewProbe(t, sim)
	clerk := core.Spawn(sim, func() *Clerk {
		return &Clerk{store: housetest.Port[Read, Row](store), log: housetest.NoticePort[string](log),
			worker: core.Spawn(sim, func() *Door { return &Door{} })}
	})
	var calls []core.Pending[int]
	for _, key := range []string{"ann", "bob", "cid"} {
		calls = append(calls, core.Begin(clerkFind.At(clerk), key))
	}
	ann := housetest.ExpectAsk[Read, Row](store, time.Second)
	bob := housetest.ExpectAsk[Read, Row](store, time.Second)
	cid := housetest.ExpectAsk[Read, Row](store, time.Second)
	fmt.Println(ann.Req, bob.Req, cid.Req, bob.Sender == clerk.Any())

	bob.Return(Row{"bob", 2})
	housetest.ExpectEqual(log, 0, "found bob")
	ann.Return(Row{"ann", 1})
	housetest.ExpectEqual(log, 0, "found ann")
	fmt.Println(housetest.Expect[string](log, time.Minute)) // the clerk waits a second
	cid.Return(Row{"cid", 3})
	log.ExpectNone(time.Minute)
	for _, call := range calls {
		fmt.Println(call.Get())
	}
	// Output:
	// {ann} {bob} {cid} true
	// cid: stackhouse: deadline exceeded
	// 1 <nil>
	// 2 <nil>
	// 0 stackhouse: deadline exceeded
}

func ExampleSkipTo() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{})
	p := housetest.NewProbe(t, sim)
	log := housetest.NoticePort[string](p)
	for _, line := range []string{"starting", "loading", "ready", "idle"} {
		_ = core.Notice(log, line)
	}
	fmt.Println(housetest.SkipTo(p, time.Second, func(line string) bool { return line[0] == 'r' }))
	fmt.Println(housetest.Take[string](p))
	// Output:
	// ready
	// [idle]
}
