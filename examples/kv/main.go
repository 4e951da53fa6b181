package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
)

func main() {
	var o options
	flag.StringVar(&o.network, "network", "tcp", "tcp or unix")
	flag.StringVar(&o.address, "addr", "", "where to listen: host:port, or a path; empty: this machine alone, or with -requirepass all that reach it, at port "+usualPort)
	flag.IntVar(&o.workers, "workers", 0, "workers; 0: as many as CPUs, at least 2")
	flag.DurationVar(&o.spin, "spin", 0, "how long an idle worker spins before it parks; 0: the default")
	flag.DurationVar(&o.nap, "nap", 0, "how long a worker that the network keeps busy doesn't let it end its sleep; 0: the default, negative: never")
	maxmemory := flag.String("maxmemory", "0", "bytes that the values may take, as in 100mb or 1gb; 0: no limit")
	flag.StringVar(&o.password, "requirepass", "", "password that clients must give; empty: none")
	flag.StringVar(&o.tlsPort, "tls-port", "", "port of the address for clients that speak TLS; empty: none. SIGHUP has the files read again")
	flag.StringVar(&o.files.Cert, "tls-cert", "", "the server's certificate")
	flag.StringVar(&o.files.Key, "tls-key", "", "its key")
	flag.StringVar(&o.files.CA, "tls-ca", "", "authorities that must vouch for clients; empty: clients need no certificate")
	flag.DurationVar(&o.drain, "drain", 10*time.Second, "how long SIGTERM lets connections finish")
	flag.Parse()
	err := o.validate(flag.Args())
	var ok bool
	if o.maxmemory, ok = parseSize(*maxmemory); !ok && err == nil {
		err = fmt.Errorf("-maxmemory %q is not a size", *maxmemory)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kv:", err)
		os.Exit(2)
	}
	if o.address == "" {
		o.address = o.usualAddress()
	}
	if err = run(o); err != nil {
		fmt.Fprintln(os.Stderr, "kv:", err)
		os.Exit(1)
	}
}

// usualPort is the port of the default address.
const usualPort = "6380"

// usualAddress is the default address. It is all of the machine's addresses only if there is a
// password.
func (o options) usualAddress() string {
	if o.password == "" {
		return "127.0.0.1:" + usualPort
	}
	return ":" + usualPort
}

// validate refuses options that make no sense, before anything is opened.
func (o options) validate(arguments []string) error {
	switch {
	case len(arguments) > 0:
		return fmt.Errorf("only flags, no arguments such as %q", arguments[0])
	case o.drain < 0:
		return fmt.Errorf("-drain %v is negative", o.drain)
	case o.network == "unix" && o.address == "":
		return errors.New("-network unix needs a path, as in -addr /tmp/kv.sock")
	case o.tlsPort != "" && o.network == "unix":
		return errors.New("-tls-port is for -network tcp")
	case o.tlsPort != "" && o.files.Cert == "":
		return errors.New("-tls-port needs -tls-cert and -tls-key")
	case o.tlsPort == "" && o.files != secure.Files{}:
		return errors.New("-tls-cert, -tls-key and -tls-ca are for -tls-port")
	}
	return nil
}

// run serves until SIGTERM or an interrupt, then drains.
func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if limit := collectorLimit(o.maxmemory); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
	o.seed = maphash.Bytes(maphash.MakeSeed(), nil)
	s, err := start(ctx, o)
	if err != nil {
		return err
	}
	slog.Info("kv listens", "address", s.server.Addr(), "pid", os.Getpid(), "workers", len(s.system.Workers()), "stores", s.cluster.len())
	if o.open(s.server.Addr()) {
		slog.Warn("kv has no password: everyone who reaches it may read and write. See -requirepass and -addr", "address", s.server.Addr())
	}
	if s.secured != nil {
		slog.Info("kv listens for TLS", "address", s.secured.Addr())
		go s.reload(ctx, o.files)
	}
	<-ctx.Done()
	stop() // a second signal ends the process at once
	slog.Info("kv drains")
	ctx, cancel := context.WithTimeout(context.Background(), o.drain)
	defer cancel()
	err = s.system.Shutdown(ctx)
	slog.Info("kv ends")
	return err
}

// collectorMin is the least limit that collectorLimit returns, in bytes: room for some of the
// largest requests and replies.
const collectorMin = 32 << 20

// collectorLimit is Go's memory limit, in bytes: above it the collector works harder. It is for
// memory beside the values, which aren't on the collector's heap. 0: no limit.
func collectorLimit(maxmemory int64) int64 {
	if maxmemory == 0 {
		return 0
	}
	return max(maxmemory/4, collectorMin)
}

// open reports whether programs of other machines may use a server that listens at this address
// without a password.
func (o options) open(address string) bool { return o.password == "" && o.exposed(address) }

// exposed reports whether programs of other machines may reach this address.
func (o options) exposed(address string) bool {
	if o.network == "unix" {
		return false
	}
	at, err := netip.ParseAddrPort(address)
	return err != nil || !at.Addr().IsLoopback()
}
