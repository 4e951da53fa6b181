package api_test

import (
	"context"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/remote/api"
	"github.com/stackhouse-go/stackhouse/house"
)

type ten struct{}

func (*ten) add(s *core.AskStack[api.Add, api.Sum]) core.Yield {
	return s.Return(api.Sum{Of: 10 + s.Req.By, Calls: 1})
}

var _ = core.Handle((*ten).add).As(api.CounterAdd)

// Any actor may be a counter: who asks knows the name and the types alone.
func Example() {
	ctx := context.Background()
	sys, _ := house.New(house.Config{Workers: 1})
	_ = sys.Start(ctx)
	defer sys.Shutdown(ctx)
	sum, err := core.Ask(ctx, api.CounterAdd.At(core.Spawn(sys, func() *ten { return &ten{} }).Any()), api.Add{By: 2})
	fmt.Println(sum.Of, err)
	// Output: 12 <nil>
}
