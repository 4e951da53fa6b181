package cluster_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type (
	// put is told a cart, and says who is to be told what is in it.
	put struct {
		Item string
		To   core.NoticePort[filled]
	}
	filled struct{ Items []string }

	cart    struct{ items []string }
	shopper struct{ told chan []string }
)

func (c *cart) put(s *core.NoticeStack[put]) core.Yield {
	c.items = append(c.items, s.Msg.Item)
	_ = s.Msg.To.Notice(s, filled{slices.Clone(c.items)}) // who has gone needn't know
	return s.Return()
}

func (p *shopper) hear(s *core.NoticeStack[filled]) core.Yield {
	p.told <- s.Msg.Items
	return s.Return()
}

var (
	puts  = core.NewNoticeMethod[put]("example.cart.put")
	fills = core.NewNoticeMethod[filled]("example.cart.filled")
	_     = core.HandleNotice((*cart).put).As(puts)
	_     = core.HandleNotice((*shopper).hear).As(fills)

	carts = cluster.NewKind("example.cart", func() *cart { return &cart{} }, core.Props{})
)

// A till spawns a cart in the store, and has it told to whom to reply: an actor of the till.
func ExampleNode_Spawn() {
	ctx := context.Background()
	start := func(c cluster.Config) (*house.System, *cluster.Node) {
		sys, _ := house.New(house.Config{Workers: 1})
		_ = sys.Start(ctx)
		c.Plaintext = true
		node, err := cluster.Start(ctx, sys, c)
		if err != nil {
			panic(err)
		}
		return sys, node
	}
	storeSystem, store := start(cluster.Config{Name: "store", Listen: "127.0.0.1:0",
		Spawners: map[string][]string{"till": {carts.Name()}}})
	defer storeSystem.Shutdown(ctx)
	tillSystem, till := start(cluster.Config{Name: "till", Peers: map[string]string{"store": store.Addr()}})
	defer tillSystem.Shutdown(ctx)

	cart, err := till.Spawn(ctx, "store", "example.cart", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	told := make(chan []string, 2)
	me := core.Spawn(tillSystem, func() *shopper { return &shopper{told} })
	for _, item := range []string{"tea", "milk"} {
		if err := core.Notice(puts.At(cart), put{item, fills.At(me.Any())}); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(<-told, <-told)
	// Output: [tea] [tea milk]
}
