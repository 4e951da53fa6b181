package core_test

import (
	"context"
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// A package of contracts has names and types, and knows no actor.
type (
	QuoteReq struct{ Item string }
	Quote    struct{ Cents int }
)

var QuoteOf = core.NewMethod[QuoteReq, Quote]("shop.quote")

// Catalogue is an actor that handles the method; others may do so too.
type Catalogue struct{ prices map[string]int }

func (c *Catalogue) price(s *core.AskStack[QuoteReq, Quote]) core.Yield {
	return s.Return(Quote{c.prices[s.Req.Item]})
}

var CatalogueQuote = core.Handle((*Catalogue).price).As(QuoteOf)

// Till asks whoever has told it that it knows prices: it knows the contract, and not the actor.
type Till struct{ prices core.Port[QuoteReq, Quote] }

type (
	knows struct {
		core.NoticeStack[core.AnyAddress]
	}
	sellStack struct {
		core.AskStack[string, string]
		price core.Future[Quote]
	}
)

func (t *Till) knows(s *knows) core.Yield {
	t.prices = QuoteOf.At(s.Msg)
	return s.Return()
}

func (t *Till) sell(s *sellStack) core.Yield {
	t.prices.Ask(s, &s.price, QuoteReq{s.Req})
	return core.Suspend(s, (*Till).sold)
}

func (t *Till) sold(s *sellStack) core.Yield {
	p, err := s.price.Get()
	if err != nil {
		return s.Throw(err)
	}
	return s.Return(fmt.Sprintf("%s: %d.%02d", s.Req, p.Cents/100, p.Cents%100))
}

var (
	TillKnows = core.HandleNotice((*Till).knows)
	TillSell  = core.Handle((*Till).sell)
)

// Enlist has a catalogue tell a till of itself.
func (c *Catalogue) enlist(s *core.AskStack[core.NoticePort[core.AnyAddress], bool]) core.Yield {
	return s.Return(s.Req.Notice(s, core.Self[Catalogue](s).Any()) == nil)
}

var CatalogueEnlist = core.Handle((*Catalogue).enlist)

// Actors that share a contract, and nothing else.
func ExampleNewMethod() {
	sys, err := house.New(house.Config{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := sys.Start(ctx); err != nil {
		panic(err)
	}
	defer sys.Shutdown(ctx)

	catalogue := core.Spawn(sys, func() *Catalogue { return &Catalogue{map[string]int{"tea": 349}} })
	till := core.Spawn(sys, func() *Till { return &Till{} })
	fmt.Println(core.Ask(ctx, CatalogueEnlist.At(catalogue), TillKnows.At(till)))
	fmt.Println(core.Ask(ctx, TillSell.At(till), "tea"))
	// Output:
	// true <nil>
	// tea: 3.49 <nil>
}
