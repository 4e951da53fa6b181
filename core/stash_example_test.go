package core_test

import (
	"context"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type (
	// Phone is busy or free. Its field says how it answers now.
	Phone struct {
		answer func(*Phone, *phoneCall) core.Yield
	}
	phoneCall   struct{ core.AskStack[string, string] }
	phoneHangUp struct {
		core.AskStack[struct{}, struct{}]
	}
)

var (
	PhoneCall   = core.Handle((*Phone).call)
	PhoneHangUp = core.Handle((*Phone).hangUp)
)

func (p *Phone) call(s *phoneCall) core.Yield { return p.answer(p, s) }

func (p *Phone) busy(s *phoneCall) core.Yield { return core.Stash(s) }

func (p *Phone) free(s *phoneCall) core.Yield {
	p.answer = (*Phone).busy
	return s.Return("hello " + s.Req)
}

func (p *Phone) hangUp(s *phoneHangUp) core.Yield {
	p.answer = (*Phone).free
	core.Unstash(s)
	return s.Return(struct{}{})
}

// An actor becomes another by a field of the type of a step, and puts back what comes too early.
func ExampleStash() {
	sys, _ := house.New(house.Config{})
	ctx := context.Background()
	sys.Start(ctx)
	defer sys.Shutdown(ctx)

	phone := core.Spawn(sys, func() *Phone { return &Phone{answer: (*Phone).free} })
	fmt.Println(core.Ask(ctx, PhoneCall.At(phone), "Ada"))
	grace := core.Begin(PhoneCall.At(phone), "Grace")
	core.Ask(ctx, PhoneHangUp.At(phone), struct{}{})
	fmt.Println(grace.Get())
	// Output:
	// hello Ada <nil>
	// hello Grace <nil>
}
