package cluster_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

type (
	greeting struct{ Name string }
	welcome  struct{ Text string }
	greeter  struct{ from string }
)

// greet is what both processes know: a name and types.
var greet = core.NewMethod[greeting, welcome]("example.greet")

func (g *greeter) hello(s *core.AskStack[greeting, welcome]) core.Yield {
	return s.Return(welcome{"hello " + s.Req.Name + g.from})
}

// What only the greeter's process has.
var _ = core.Handle((*greeter).hello).As(greet)

// A node has an actor, and a client in another process asks it.
func Example() {
	ctx := context.Background()
	sys, _ := house.New(house.Config{Workers: 1})
	_ = sys.Start(ctx)
	defer sys.Shutdown(ctx)
	_, _ = core.SpawnWith(sys, func() *greeter { return &greeter{} }, core.Props{Name: "greeter"})
	node, err := cluster.Start(ctx, sys, cluster.Config{Name: "porch", Listen: "127.0.0.1:0", Plaintext: true})
	if err != nil {
		fmt.Println(err)
		return
	}

	client, err := cluster.Dial(ctx, cluster.Config{Name: "guest", Peers: map[string]string{"porch": node.Addr()}, Plaintext: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	at, err := client.Lookup(ctx, "porch", "/user/greeter")
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := core.Ask(ctx, greet.At(at), greeting{"Ada"})
	fmt.Println(reply.Text, err)
	// Output: hello Ada <nil>
}

// A client asks several nodes in turn, of whose actors it knows the method alone.
func ExampleClient() {
	ctx := context.Background()
	peers := map[string]string{}
	for _, name := range []string{"porch", "gate"} {
		sys, _ := house.New(house.Config{Workers: 1})
		_ = sys.Start(ctx)
		defer sys.Shutdown(ctx)
		_, _ = core.SpawnWith(sys, func() *greeter { return &greeter{from: ", from " + name} }, core.Props{Name: "greeter"})
		node, err := cluster.Start(ctx, sys, cluster.Config{Name: name, Listen: "127.0.0.1:0", Plaintext: true})
		if err != nil {
			fmt.Println(err)
			return
		}
		peers[name] = node.Addr()
	}

	client, err := cluster.Dial(ctx, cluster.Config{Name: "guest", Peers: peers, Plaintext: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	var greeters core.Group[greeter] // Group[cluster.Actor] where the type isn't known
	for _, name := range []string{"porch", "gate"} {
		at, err := client.Lookup(ctx, name, "/user/greeter")
		if err != nil {
			fmt.Println(err)
			return
		}
		g, _ := core.As[greeter](at)
		greeters.Join(g)
	}
	port := core.HandlerOf[greeter](greet).RoundRobin(&greeters)
	seen := map[string]int{}
	for range 10 {
		reply, err := core.Ask(ctx, port, greeting{"Ada"})
		if err != nil {
			fmt.Println(err)
			return
		}
		seen[reply.Text]++
	}
	fmt.Println(seen)
	// Output: map[hello Ada, from gate:5 hello Ada, from porch:5]
}

// An ask that is sent again until there is an answer, and runs once, whatever becomes of the
// session between the two nodes.
func ExampleAtLeastOnce() {
	ctx := context.Background()
	sys, _ := house.New(house.Config{Workers: 1})
	_ = sys.Start(ctx)
	defer sys.Shutdown(ctx)
	_, _ = core.SpawnWith(sys, func() *greeter { return &greeter{} }, core.Props{Name: "greeter"})
	node, err := cluster.Start(ctx, sys, cluster.Config{Name: "porch", Listen: "127.0.0.1:0", Plaintext: true})
	if err != nil {
		fmt.Println(err)
		return
	}

	client, err := cluster.Dial(ctx, cluster.Config{Name: "guest", Peers: map[string]string{"porch": node.Addr()}, Plaintext: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	port := cluster.AtLeastOnce(client.Node, greet, cluster.Where{Node: "porch", Path: "/user/greeter"})
	reply, err := core.Ask(ctx, port, greeting{"Ada"})
	switch {
	case errors.Is(err, core.ErrLost), errors.Is(err, core.ErrTimeout):
		fmt.Println("it may have run:", err)
	case err != nil:
		fmt.Println("it has not run:", err)
	default:
		fmt.Println(reply.Text)
	}
	// Output: hello Ada
}
