package core_test

import (
	"context"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type (
	// Ticker publishes prices to whoever wants them.
	Ticker     struct{ prices *core.Topic[Price] }
	Price      struct{ Cents int }
	priceStack struct{ core.AskStack[Price, int] }

	// Trader is told of prices, and knows the last.
	Trader     struct{ last Price }
	traderTold struct{ core.NoticeStack[Price] }
	traderLast struct {
		core.AskStack[struct{}, Price]
	}
)

func (p *Ticker) set(s *priceStack) core.Yield {
	p.prices.Publish(s, s.Req)
	return s.Return(p.prices.Len())
}

func (t *Trader) told(s *traderTold) core.Yield { t.last = s.Msg; return s.Return() }
func (t *Trader) tell(s *traderLast) core.Yield { return s.Return(t.last) }

var (
	TickerSet   = core.Handle((*Ticker).set)
	TraderPrice = core.HandleNotice((*Trader).told)
	TraderLast  = core.Handle((*Trader).tell)
)

// Actors of any type subscribe to a topic with a port of theirs; a goroutine gets a channel.
func ExampleTopic() {
	sys, err := house.New(house.Config{Workers: 1})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := sys.Start(ctx); err != nil {
		panic(err)
	}
	defer sys.Shutdown(ctx)

	var prices core.Topic[Price]
	trader := core.Spawn(sys, func() *Trader { return &Trader{} })
	prices.Subscribe(TraderPrice.At(trader))
	all := prices.Listen(16)
	defer all.Close()

	set := TickerSet.At(core.Spawn(sys, func() *Ticker { return &Ticker{&prices} }))
	fmt.Println(core.Ask(ctx, set, Price{1999}))
	fmt.Println(core.Ask(ctx, TraderLast.At(trader), struct{}{}))
	fmt.Println(<-all.C())
	trader.StopWait(ctx) // and leaves
	fmt.Println(core.Ask(ctx, set, Price{2099}))
	// Output:
	// 2 <nil>
	// {1999} <nil>
	// {1999}
	// 1 <nil>
}

// What a system tells of itself is topics, too.
func ExampleEvents() {
	sys, err := house.New(house.Config{Workers: 1})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := sys.Start(ctx); err != nil {
		panic(err)
	}
	defer sys.Shutdown(ctx)

	stopped := core.Events[core.ActorStopped](sys).Listen(16)
	lost := core.Events[core.DeadLetter](sys).Listen(16)
	defer stopped.Close()
	defer lost.Close()

	trader := core.Spawn(sys, func() *Trader { return &Trader{} })
	trader.Pause()
	core.Notice(TraderPrice.At(trader), Price{1999})
	trader.Stop()
	fmt.Println((<-stopped.C()).Actor)
	letter := <-lost.C()
	fmt.Println(letter.Type, "to", letter.To, "is lost:", letter.Reason)
	fmt.Println(sys.DeadLetters())
	// Output:
	// core_test.Trader#1
	// core_test.Price to core_test.Trader#1 is lost: stopped
	// [{core_test.Price stopped 1}]
}
