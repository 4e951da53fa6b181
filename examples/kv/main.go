package main

import (
	"context"
	"flag"
	"fmt"
	"hash/maphash"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.network, "network", "tcp", "tcp or unix")
	flag.StringVar(&o.address, "addr", ":6380", "where to listen: host:port, or a path")
	flag.IntVar(&o.workers, "workers", 0, "workers; 0: as many as CPUs, at least 2")
	flag.DurationVar(&o.spin, "spin", 0, "how long an idle worker spins before it parks; 0: the default")
	maxmemory := flag.String("maxmemory", "0", "bytes that the values may take, as in 100mb or 1gb; 0: no limit")
	flag.StringVar(&o.password, "requirepass", "", "password that clients must give; empty: none")
	drain := flag.Duration("drain", 10*time.Second, "how long SIGTERM lets connections finish")
	flag.Parse()
	var ok bool
	if o.maxmemory, ok = parseSize(*maxmemory); !ok {
		fmt.Fprintf(os.Stderr, "kv: -maxmemory %q is not a size\n", *maxmemory)
		os.Exit(2)
	}
	if err := run(o, *drain); err != nil {
		fmt.Fprintln(os.Stderr, "kv:", err)
		os.Exit(1)
	}
}

// run serves until SIGTERM or an interrupt, then drains.
func run(o options, drain time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	o.seed = maphash.Bytes(maphash.MakeSeed(), nil)
	s, err := start(ctx, o)
	if err != nil {
		return err
	}
	slog.Info("kv listens", "address", s.server.Addr(), "pid", os.Getpid(), "workers", len(s.system.Workers()), "stores", s.cluster.len())
	<-ctx.Done()
	stop() // a second signal ends the process at once
	slog.Info("kv drains")
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	err = s.system.Shutdown(ctx)
	slog.Info("kv ends")
	return err
}
