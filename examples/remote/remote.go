package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/cluster"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/remote/api"
	"github.com/stackhouse-go/stackhouse/house"
)

// counter is the actor that others ask.
type counter struct{ sum, calls int }

func (c *counter) add(s *core.AskStack[api.Add, api.Sum]) core.Yield {
	c.sum += s.Req.By
	c.calls++
	return s.Return(api.Sum{Of: c.sum, Calls: c.calls})
}

var _ = core.Handle((*counter).add).As(api.CounterAdd)

// identity is the certificate of a node, whose name it has, and the authority that all believe.
func identity(dir, name string) (*secure.TLS, error) {
	return cluster.Identity(secure.Files{
		Cert: filepath.Join(dir, name+".pem"), Key: filepath.Join(dir, name+".key"), CA: filepath.Join(dir, "ca.pem"),
	})
}

// serve has a counter at a node, until ctx ends.
func serve(ctx context.Context, c cluster.Config, ready func(address string)) error {
	sys, err := house.New(house.Config{})
	if err != nil {
		return err
	}
	if err := sys.Start(ctx); err != nil {
		return err
	}
	defer sys.Shutdown(context.Background())
	if _, err := core.SpawnWith(sys, func() *counter { return &counter{} }, core.Props{Name: "counter"}); err != nil {
		return err
	}
	node, err := cluster.Start(ctx, sys, c)
	if err != nil {
		return err
	}
	ready(node.Addr())
	<-ctx.Done()
	return nil
}

// ask adds to the counter of a node a few times.
func ask(ctx context.Context, c cluster.Config, node string, times int, show func(api.Sum, time.Duration)) error {
	client, err := cluster.Dial(ctx, c)
	if err != nil {
		return err
	}
	defer client.Close(context.Background())
	at, err := client.Lookup(ctx, node, "/user/counter")
	if err != nil {
		return err
	}
	for range times {
		began := time.Now()
		sum, err := core.Ask(ctx, api.CounterAdd.At(at), api.Add{By: 2})
		if err != nil {
			return err
		}
		show(sum, time.Since(began))
	}
	return nil
}

func run(ctx context.Context) error {
	var (
		name   = flag.String("name", "", "of this node, and of its certificate")
		certs  = flag.String("certs", ".", "folder of the certificates")
		listen = flag.String("listen", "", "address for other nodes; the node has a counter then")
		peer   = flag.String("ask", "", "node=address of a counter that is to be asked")
	)
	flag.Parse()
	tls, err := identity(*certs, *name)
	if err != nil {
		return err
	}
	c := cluster.Config{Name: *name, Listen: *listen, TLS: tls}
	if *listen != "" {
		return serve(ctx, c, func(address string) { log.Println(*name, "listens at", address) })
	}
	node, address, ok := strings.Cut(*peer, "=")
	if !ok {
		return fmt.Errorf("-listen or -ask node=address is missing")
	}
	c.Peers = map[string]string{node: address}
	return ask(ctx, c, node, 5, func(s api.Sum, took time.Duration) { fmt.Println(s.Of, "by", s.Calls, "calls; took", took) })
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}
