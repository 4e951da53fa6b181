package housetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Door opens for a while.
type Door struct{ open bool }

type (
	openStack struct {
		core.AskStack[time.Duration, string] // for how long
		tick                                 core.Future[core.Tick]
	}
	lookStack struct{ core.AskStack[struct{}, bool] }
)

func (d *Door) look(s *lookStack) core.Yield { return s.Return(d.open) }

func (d *Door) pass(s *openStack) core.Yield {
	d.open = true
	core.Timer.Ask(s, &s.tick, s.Req)
	return core.Suspend(s, (*Door).shut)
}

func (d *Door) shut(s *openStack) core.Yield {
	d.open = false
	return s.Return("shut")
}

var (
	doorLook = core.Handle((*Door).look)
	doorPass = core.Handle((*Door).pass)
)

// A test runs on virtual time: an hour takes no time.
func ExampleNew() {
	t := &testing.T{} // a test has its own
	sim := housetest.New(t, 1, house.Config{AskTimeout: 2 * time.Hour})
	door := core.Spawn(sim, func() *Door { return &Door{} })

	call := core.Begin(doorPass.At(door), time.Hour)
	sim.Run(59 * time.Minute)
	fmt.Println(housetest.Ask(t, sim, doorLook.At(door), struct{}{}))
	sim.Run(2 * time.Minute)
	fmt.Println(housetest.Ask(t, sim, doorLook.At(door), struct{}{}))
	fmt.Println(call.Get())
	// Output:
	// true <nil>
	// false <nil>
	// shut <nil>
}
