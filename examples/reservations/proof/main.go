package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"
)

// options is what the flags say.
type options struct {
	server     string
	store      string
	name       string
	buyers     int
	partitions int
	kills      int
	inject     bool
	outage     time.Duration
	cluster    cluster
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "", "the service's program")
	flag.StringVar(&o.store, "store", "", "its store")
	flag.StringVar(&o.name, "name", "proof", "what the names of items and keys begin with; runs on one store need different ones")
	flag.IntVar(&o.buyers, "buyers", 16, "how many send requests")
	flag.IntVar(&o.partitions, "partitions", 2, "how many the service has")
	flag.IntVar(&o.kills, "kills", 0, "how often the service is killed")
	flag.BoolVar(&o.inject, "inject", false, "the service runs in this process, and its store fails")
	flag.DurationVar(&o.outage, "outage", 10*time.Second, "for how long the store is down")
	flag.StringVar(&o.cluster.data, "pgdata", "", "the data folder of PostgreSQL, which is stopped and started")
	flag.Parse()
	o.cluster.start = flag.Args()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute+time.Duration(o.kills)*10*time.Second)
	defer cancel()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context) error {
	c := newCrowd(o.name, o.buyers)
	args := []string{"-store", o.store, "-partitions", strconv.Itoa(o.partitions),
		"-hold", "24h", "-keep", "24h"} // longer than any proof takes
	switch {
	case o.inject:
		return proveInjected(ctx, c, o.store, o.partitions, o.outage)
	case o.kills > 0:
		return proveKills(ctx, c, o.server, args, o.kills)
	case o.cluster.data != "" && len(o.cluster.start) > 0:
		return proveOutages(ctx, c, o, args)
	}
	return errors.New("one of -kills, -inject or -pgdata says what to do")
}

// proveOutages takes PostgreSQL away from one process of the service, twice.
func proveOutages(ctx context.Context, c *crowd, o options, args []string) error {
	s, err := start(ctx, o.server, args...)
	if err != nil {
		return err
	}
	defer s.kill() // if it lives
	c.meet(s.address)
	for _, way := range []outage{o.cluster.pause(), o.cluster.crash()} {
		if err := way.prove(ctx, c, o.outage, s.alive); err != nil {
			return fmt.Errorf("%w\nthe service said:\n%s", err, s.tail())
		}
	}
	return s.stop()
}
