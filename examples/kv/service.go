package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
	"github.com/stackhouse-go/stackhouse/house"
)

// options are the command line's.
type options struct {
	network, address string
	workers          int
	spin             time.Duration
	seed             uint64       // of the hash of keys
	clock            func() int64 // of tests; nil: the machine's
}

// service is the whole server.
type service struct {
	system  *house.System
	server  *channel.Server[resp.Command, resp.Reply]
	opened  atomic.Bool // server is set: connections may come before
	cluster *stores
}

// storesMax bounds the stores, because a command on many keys holds a future for each.
const storesMax = 8

// stores says where keys live.
type stores struct {
	ports []core.Port[request, resp.Reply]
	seed  uint64
}

func (c *stores) len() int { return len(c.ports) }

// of returns the number of the store that holds key.
func (c *stores) of(key []byte) int {
	return int(table.Hash(key, c.seed) >> 32 * uint64(len(c.ports)) >> 32)
}

// start runs a system with a store and a front on each worker, and listens.
func start(ctx context.Context, o options) (*service, error) {
	system, err := house.New(house.Config{Workers: o.workers, Spin: o.spin, Clock: o.clock})
	if err != nil {
		return nil, err
	}
	if err := system.Start(ctx); err != nil {
		return nil, err
	}
	s := &service{system: system, cluster: newStores(system, o.seed)}
	if s.server, err = listen(ctx, s, o); err != nil {
		return nil, errors.Join(err, system.Shutdown(ctx))
	}
	s.opened.Store(true)
	system.OnShutdown(s.server.Drain)
	return s, nil
}

// newStores spawns the stores.
func newStores(system *house.System, seed uint64) *stores {
	c := &stores{seed: seed}
	workers := system.Workers()
	n := min(len(workers), storesMax)
	for i := range n {
		at := core.Spawn(workers[i], func() *store { return newStore(c, i) })
		c.ports = append(c.ports, storeDo.At(at))
		core.Notice(storeSweep.At(at), struct{}{})
	}
	return c
}

// listen spawns the fronts and has them served.
func listen(ctx context.Context, s *service, o options) (*channel.Server[resp.Command, resp.Reply], error) {
	var fronts []core.Address[front]
	for _, w := range s.system.Workers() {
		fronts = append(fronts, core.Spawn(w, func() *front { return &front{service: s, stores: s.cluster} }))
	}
	return channel.Listen(ctx, channel.Config[resp.Command, resp.Reply]{
		Network: o.network,
		Address: o.address,
		Codec:   func() channel.Codec[resp.Command, resp.Reply] { return &codec{decoder: resp.NewDecoder(resp.Limits{})} },
	}, frontServe, fronts...)
}
