package main

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/resp"
	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/examples/kv/table"
	"github.com/stackhouse-go/stackhouse/house"
)

// options are those of the command line, and some for tests.
type options struct {
	network, address string
	workers          int
	spin, nap        time.Duration
	maxmemory        int64         // bytes; 0: no limit
	password         string        // empty: none
	tlsPort          string        // empty: none
	files            secure.Files  // for TLS
	drain            time.Duration // how long SIGTERM lets connections finish
	seed             uint64        // of the hash of keys
	clock            func() int64  // for tests; nil: the machine's
	// for tests: Unix time, in ms, when the clock is 0; 0: the machine's
	wall int64
}

// service is the whole server.
type service struct {
	system  *house.System
	server  *channel.Server[inbound, resp.Reply]
	secured *channel.Server[inbound, resp.Reply] // for clients that speak TLS; nil: none
	tls     *secure.TLS
	again   chan os.Signal // SIGHUP: reads the files of tls again
	opened  atomic.Bool    // server is set; connections may come before that
	exposed atomic.Bool    // programs of other machines may reach it
	cluster *stores
	secret  secret
	limits  resp.Limits  // of clients that have given the password
	ids     atomic.Int64 // of sessions: the last one
}

// storesMax bounds the number of stores, because a command on many keys has a future for each.
const storesMax = 8

// stores are the stores, and which keys each holds.
type stores struct {
	ports  []core.Port[request, resp.Reply]
	walks  []core.Port[walkRequest, resp.Reply]
	doors  []core.NoticePort[parcel] // for values that RENAME moves
	seed   uint64
	wall   int64 // Unix time, in ms, when the system's clock is 0
	memory memory
}

func (c *stores) len() int { return len(c.ports) }

// of returns the number of the store that holds key.
func (c *stores) of(key []byte) int {
	return int(table.Hash(key, c.seed) >> 32 * uint64(len(c.ports)) >> 32)
}

// ofAll returns the store of the first key of a command of pairs, and whether it holds all keys of
// the command.
func (c *stores) ofAll(cmd *resp.Command) (index int, all bool) {
	index = c.of(cmd.Arg(1))
	words := cmd.Args(3)
	for key, ok := words.Next(); ok; key, ok = words.Next() {
		if c.of(key) != index {
			return index, false
		}
		words.Next()
	}
	return index, true
}

// start runs a system with a store and a front on each worker, and listens.
func start(ctx context.Context, o options) (*service, error) {
	system, err := house.New(house.Config{Workers: o.workers, Spin: o.spin, Nap: o.nap, Clock: o.clock})
	if err != nil {
		return nil, err
	}
	if err := system.Start(ctx); err != nil {
		return nil, err
	}
	if o.wall == 0 {
		o.wall = time.Now().UnixMilli() - system.Clock()/int64(time.Millisecond)
	}
	s := &service{system: system, cluster: newStores(system, o.seed, o.wall), limits: resp.Limits{MaxBulk: argumentMax(o.maxmemory)}}
	s.cluster.memory.limit.Store(o.maxmemory)
	s.secret.set(o.password)
	s.exposed.Store(true) // until the address is known
	if err = listen(ctx, s, o); err != nil {
		return nil, errors.Join(err, system.Shutdown(ctx))
	}
	s.opened.Store(true)
	s.exposed.Store(o.exposed(s.server.Addr()))
	return s, nil
}

// keeps lets an actor go on with its state after a step has panicked: for one failed request a
// cache must not lose all its keys, or all its connections.
var keeps = &core.Strategy{Decide: func(error) core.Directive { return core.Resume }}

// newStores spawns the stores.
func newStores(system *house.System, seed uint64, wall int64) *stores {
	c := &stores{seed: seed, wall: wall}
	workers := system.Workers()
	n := min(len(workers), storesMax)
	// Asks of a store are bounded by the connections, each with inflightMax requests. And keys that
	// another store sends must arrive.
	props := core.Props{OnFailure: keeps, Mailbox: core.Unbounded()}
	for i := range n {
		at, err := core.SpawnWith(workers[i], func() *store { return newStore(c, i) }, props)
		if err != nil {
			panic(err)
		}
		c.ports = append(c.ports, storeDo.At(at))
		c.walks = append(c.walks, storeWalk.At(at))
		c.doors = append(c.doors, storeAccept.At(at))
		core.Notice(storeSweep.At(at), struct{}{})
	}
	return c
}

// inflightMax is how many requests of a connection may be in flight: full pipelines have 128
// commands then.
const inflightMax = 128 / pipelineMax

// listen spawns the fronts and opens the servers that they serve.
func listen(ctx context.Context, s *service, o options) (err error) {
	var fronts []core.Address[front]
	for i, w := range s.system.Workers() {
		at, _ := core.SpawnWith(w, func() *front {
			return &front{service: s, stores: s.cluster, dice: dice(o.seed ^ uint64(i))}
		}, core.Props{OnFailure: keeps})
		fronts = append(fronts, at)
	}
	c := channel.Config[inbound, resp.Reply]{
		Network: o.network,
		Address: o.address,
		Codec:   s.codec,

		InflightMax: inflightMax, // owed.counts has that length
		InputMax:    inputMax(o.maxmemory),
	}
	if s.server, err = channel.Listen(ctx, c, frontServe, fronts...); err != nil {
		return err
	}
	s.system.OnShutdown(s.server.Drain)
	if o.tlsPort == "" {
		return nil
	}
	if c.TLS, err = s.secure(o.files); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(s.server.Addr())
	c.Address = net.JoinHostPort(host, o.tlsPort)
	if s.secured, err = channel.Listen(ctx, c, frontServe, fronts...); err == nil {
		s.system.OnShutdown(s.secured.Drain)
	}
	return err
}

// codec makes the codec of a new connection, with its session.
func (v *service) codec() channel.Codec[inbound, resp.Reply] {
	c := &codec{
		decoder: resp.NewDecoder(v.limits),
		service: v,
		stores:  v.cluster,
		session: session{began: time.Now().Unix(), version: resp.V2, authenticated: !v.secret.needed(), width: 1},
	}
	if !c.session.authenticated {
		c.stranger, c.decoder = true, resp.NewDecoder(strangerLimits)
	}
	return c
}
