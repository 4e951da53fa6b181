package clustertest_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stackhouse-go/stackhouse/cluster/clustertest"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/housetest"
)

// Stock has what is for sale, and Till sells it: on another node, of which it holds an address.
type (
	Stock struct{ left int }
	Till  struct{ stock core.AnyAddress }

	take     struct{ N int }
	sell     struct{ N int }
	tillStep struct {
		core.AskStack[sell, string]
		left core.Future[int]
	}
)

var (
	takes = core.NewMethod[take, int]("example.stock.take")
	_     = core.Handle((*Stock).take).As(takes)
	sells = core.Handle((*Till).sell)
)

func (k *Stock) take(s *core.AskStack[take, int]) core.Yield {
	k.left -= s.Req.N
	return s.Return(k.left)
}

func (l *Till) sell(s *tillStep) core.Yield {
	takes.At(l.stock).Ask(s, &s.left, take{s.Req.N})
	return core.Suspend(s, (*Till).sold)
}

// sold tells customers apart what was sold from what may have been.
func (l *Till) sold(s *tillStep) core.Yield {
	switch left, err := s.left.Get(); {
	case err == nil:
		return s.Return(fmt.Sprintf("sold, %d left", left))
	case errors.Is(err, core.ErrNotSent):
		return s.Return("not sold")
	case errors.Is(err, core.ErrLost), errors.Is(err, core.ErrTimeout):
		return s.Return("perhaps sold")
	default:
		return s.Throw(err)
	}
}

// A till sells while its way to the stock breaks, and when the stock's node dies.
func Example() {
	t := &testing.T{} // a test has its own
	c := clustertest.New(t, 1, clustertest.Config{
		Nodes: []string{"shop", "store"},
		System: house.Config{AskTimeout: time.Hour, // longer than the links' patience: or asks just end
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil))},
		Start: func(n *clustertest.Node) { // in each life
			if n.Name() == "store" {
				_, _ = core.SpawnWith(n.System, func() *Stock { return &Stock{left: 10} }, core.Props{Name: "stock"})
			}
		},
	})
	open := func() core.Port[sell, string] {
		stock, err := c.Find("shop", "store", "/user/stock")
		if err != nil {
			fmt.Println(err)
		}
		return sells.At(core.Spawn(c.Node("shop").System, func() *Till { return &Till{stock} }))
	}
	till := open()
	fmt.Println(housetest.Ask(t, c.Sim, till, sell{1}))

	c.CutOneWay("store", "shop") // for less than the link's patience: the answer is late
	late := core.Begin(till, sell{2})
	c.Run(10 * time.Second)
	c.Heal("store", "shop")
	fmt.Println(late.Get())

	c.Cut("shop", "store") // for longer
	fmt.Println(housetest.Ask(t, c.Sim, till, sell{3}))
	fmt.Println(housetest.Ask(t, c.Sim, till, sell{4}))
	c.Heal("shop", "store")

	till = open() // the address of the session before is good for nothing
	c.CutOneWay("store", "shop")
	lost := core.Begin(till, sell{5})
	c.Run(time.Second)
	c.Kill("store") // it has sold them, but nobody hears
	c.Start("store")
	c.Heal("store", "shop")
	c.Run(10 * time.Second)
	fmt.Println(lost.Get())
	fmt.Println(housetest.Ask(t, c.Sim, open(), sell{1}))
	// Output:
	// sold, 9 left <nil>
	// sold, 7 left <nil>
	// perhaps sold <nil>
	// not sold <nil>
	// perhaps sold <nil>
	// sold, 9 left <nil>
}
