package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/stackhouse-go/stackhouse/examples/reservations/service"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store"
	"github.com/stackhouse-go/stackhouse/examples/reservations/store/storetest"
)

// proveInjected runs the service in this process, with a bbolt that fails as a disk does.
func proveInjected(ctx context.Context, c *crowd, dir string, partitions int, during time.Duration) error {
	bolt, err := store.OpenBolt(dir, partitions)
	if err != nil {
		return err
	}
	faulty := &storetest.Faulty{Store: bolt}
	s, err := serve(ctx, c, faulty, partitions)
	if err != nil {
		return err
	}
	err = inject(faulty).prove(ctx, c, during, s.alive)
	return errors.Join(err, s.close(ctx))
}

// inject has a store fail behind the write first, and then at all.
func inject(f *storetest.Faulty) outage {
	return outage{
		name: "bbolt with errors injected",
		down: func() error {
			f.Set(storetest.Made)
			time.Sleep(grace / 2)
			f.Set(storetest.Down)
			return nil
		},
		up: func() error { f.Set(storetest.None); return nil },
	}
}

// inside is a service in this process.
type inside struct {
	service *service.Service
	served  chan error
}

// serve starts one that the crowd then talks to.
func serve(ctx context.Context, c *crowd, s store.Store, partitions int) (*inside, error) {
	svc, err := service.Start(ctx, service.Config{Store: s, Partitions: partitions, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, svc.Close(ctx))
	}
	in := &inside{svc, make(chan error, 1)}
	go func() { in.served <- svc.Serve(l) }()
	c.meet(l.Addr().String())
	return in, nil
}

func (in *inside) alive() bool { return len(in.served) == 0 }

func (in *inside) close(ctx context.Context) error {
	return errors.Join(in.service.Close(ctx), <-in.served)
}
