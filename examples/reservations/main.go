package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/service"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
)

// options is what the flags say.
type options struct {
	address string
	store   string
	drain   time.Duration
	config  service.Config
}

func main() {
	var o options
	flag.StringVar(&o.address, "addr", "127.0.0.1:8080", "where to listen; there is no password, so not where everyone can reach it")
	flag.StringVar(&o.store, "store", "reservations.data", "a folder for files of bbolt, or postgres://user@host/database")
	flag.DurationVar(&o.drain, "drain", 10*time.Second, "how long SIGTERM lets requests finish")
	flag.IntVar(&o.config.Partitions, "partitions", 1, "actors that keep the catalogue, each with writes of its own; fixed when the store is made")
	flag.IntVar(&o.config.QueueMax, "queue", 0, "requests of a partition that wait for a write; 0: 1024")
	flag.DurationVar(&o.config.Hold, "hold", 0, "how long a reservation is held that isn't confirmed, at most -keep; 0: 10 min")
	flag.DurationVar(&o.config.Keep, "keep", 0, "how long outcomes and ended reservations are remembered; 0: 10 min")
	flag.IntVar(&o.config.OutcomesMax, "outcomes", 0, "outcomes that a partition remembers, beyond which changes are refused; 0: 1000000")
	flag.Func("hosts", "names, with commas between, that clients may call the service by, beside localhost and its addresses", func(names string) error {
		o.config.Hosts = strings.Split(names, ",")
		return nil
	})
	flag.DurationVar(&o.config.RequestLimit, "limit", 0, "how long a request may take; 0: 5 s")
	flag.DurationVar(&o.config.StoreLimit, "store-limit", 0, "how long a write may take; 0: 2 s")
	flag.Parse()
	if flag.NArg() > 0 || o.config.Partitions < 1 || o.drain < 0 {
		fmt.Fprintln(os.Stderr, "reservations: only flags, at least one partition, no negative times")
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "reservations:", err)
		os.Exit(1)
	}
}

// startLimit is how long the store may take to open and to give all that it has.
const startLimit = time.Minute

// run serves until SIGTERM or an interrupt, then drains.
func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	s, l, err := start(ctx, o)
	if err != nil {
		return err
	}
	slog.Info("reservations listens", "address", l.Addr().String(), "pid", os.Getpid(), "partitions", o.config.Partitions)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case <-ctx.Done():
	case err = <-s.Lost():
	case err = <-served:
	}
	stop() // a second signal ends the process at once
	slog.Info("reservations drains")
	ctx, cancel := context.WithTimeout(context.Background(), o.drain)
	defer cancel()
	return errors.Join(err, s.Close(ctx))
}

// start opens the store, loads the partitions and listens.
func start(ctx context.Context, o options) (*service.Service, net.Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var err error
	if o.config.Store, err = store.Open(ctx, o.store, o.config.Partitions); err != nil {
		return nil, nil, err
	}
	s, err := service.Start(ctx, o.config)
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", o.address)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close(ctx))
	}
	return s, l, nil
}
