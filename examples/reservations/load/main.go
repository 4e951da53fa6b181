package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/client"
)

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "where the service listens")
	clients := flag.Int("clients", 64, "how many send requests, each one at a time")
	seconds := flag.Float64("seconds", 10, "for how long, after a second to warm up")
	items := flag.Int("items", 1000, "how many items there are")
	least := flag.Float64("least", 0, "exit with code 1 if a write was shared by fewer requests")
	flag.Parse()
	if *clients < 1 || *seconds <= 0 || *items < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "load: bad flags")
		os.Exit(2)
	}
	r, err := run(*address, *clients, *items, time.Duration(*seconds*float64(time.Second)))
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	r.print(os.Stdout)
	if r.perWrite() < *least {
		fmt.Fprintf(os.Stderr, "load: %.1f requests per write, not %.1f\n", r.perWrite(), *least)
		os.Exit(1)
	}
}

// warmUp is how long the clients send before anything is measured.
const warmUp = time.Second

// run has the clients send for a while.
func run(address string, clients, items int, during time.Duration) (*report, error) {
	ctx, cancel := context.WithTimeout(context.Background(), during+time.Minute)
	defer cancel()
	c := client.New(address, clients+1)
	defer c.Close()
	run := rand.Text() // keys are this run's
	for i := range items {
		_, err := resolve(ctx, func() error {
			_, err := c.SetStock(ctx, fmt.Sprintf("%s-stock-%d", run, i), sku(i), 1_000_000_000)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("stock: %w", err)
		}
	}
	buyers := make([]buyer, clients)
	var all sync.WaitGroup
	from := time.Now().Add(warmUp)
	until := from.Add(during)
	for i := range buyers {
		buyers[i] = buyer{client: c, name: fmt.Sprintf("%s-%d", run, i), items: items, from: from, until: until}
		all.Go(func() { buyers[i].buy(ctx) })
	}
	time.Sleep(time.Until(from))
	before, err := c.Counts(ctx)
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Until(until))
	after, err := c.Counts(ctx)
	if err != nil {
		return nil, err
	}
	all.Wait()
	r := &report{during: during, changes: after.Changes - before.Changes, writes: after.Writes - before.Writes}
	for i := range buyers {
		if buyers[i].err != nil {
			return nil, buyers[i].err
		}
		r.repeated += buyers[i].repeated
		r.took = append(r.took, buyers[i].took...)
	}
	slices.Sort(r.took)
	return r, nil
}
