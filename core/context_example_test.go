package core_test

import (
	"context"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// inquiry answers for whom an ask is made; vestibule asks it.
type (
	inquiry   struct{}
	vestibule struct {
		inquiry core.Port[struct{}, string]
	}
	vestibuleAsk struct {
		core.AskStack[struct{}, string]
		answer core.Future[string]
	}
)

func (d *inquiry) who(s *core.AskStack[struct{}, string]) core.Yield {
	return s.Return(fmt.Sprintf("%s of %s", core.TraceOf(s), core.PairOf(s, "tenant")))
}

func (p *vestibule) ask(s *vestibuleAsk) core.Yield {
	p.inquiry.Ask(s, &s.answer, struct{}{})
	return core.Suspend(s, (*vestibule).asked)
}

func (p *vestibule) asked(s *vestibuleAsk) core.Yield {
	who, err := s.answer.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(who)
}

var (
	inquiryWho    = core.Handle((*inquiry).who)
	vestibuleAsks = core.Handle((*vestibule).ask)
)

// A trace, and a pair, come along from a goroutine to whatever is asked because of it.
func ExampleWithTrace() {
	sys, _ := house.New(house.Config{Workers: 1})
	_ = sys.Start(context.Background())
	defer sys.Shutdown(context.Background())
	inquiry := core.Spawn(sys, func() *inquiry { return &inquiry{} })
	vestibule := core.Spawn(sys, func() *vestibule { return &vestibule{inquiryWho.At(inquiry)} })

	trace, _ := core.ParseTrace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	ctx, _ := core.WithPair(core.WithTrace(context.Background(), trace), "tenant", "7")
	fmt.Println(core.Ask(ctx, vestibuleAsks.At(vestibule), struct{}{}))
	// Output:
	// 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 of 7 <nil>
}
