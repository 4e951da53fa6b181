package channel

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// ClientConfig is the settings of a client. Network, Address and Codec are needed; the other fields
// may be zero.
type ClientConfig[Req, Rep any] struct {
	Network string // "tcp", "tcp4", "tcp6" or "unix"
	Address string // host:port, or the path of a Unix socket
	// Codec makes the codec of a new connection.
	Codec func() ClientCodec[Req, Rep]
	// Stages makes what stands between the socket of a new connection and its codec, the first at
	// the socket. nil: nothing does.
	Stages func() []stage.Stage
	// TLS secures the connections: the server's certificate must have the host in Address, or the
	// ServerName of the TLS. It stands between Stages and codec. Requests wait for the end of the
	// handshake; where it fails, the next address is tried. nil: connections are plain.
	//
	// By TLS 1.3 the client's handshake ends before the server has looked at the client's
	// certificate: if that is refused the connection stands and ends at once, and asks get
	// core.ErrLost or core.ErrNotSent.
	TLS *secure.TLS
	// CodecFor is as in Config.
	CodecFor func(protocol string) ClientCodec[Req, Rep]

	// Conns is how many connections each worker has at most. One more is opened when all others
	// have InflightMax requests in flight. 0: 1, which is right for protocols with pipelining.
	Conns int
	// InflightMax is how many requests of one connection may be without a reply. 1 is for protocols
	// without pipelining. 0: 128.
	InflightMax int
	// PendingMax is how many asks of one worker may wait: for a connection, for room in one, or for
	// the end of the turn. Further ones get core.ErrOverloaded. 0: 1024.
	PendingMax int
	// ReadSize is how many bytes one read takes at most; it may not exceed pool.SlabMax. 0: 16 KiB.
	ReadSize int
	// OutputMax is how many bytes of requests one connection may hold that its socket hasn't taken.
	// Beyond, asks wait; one request may exceed it. 0: 128 KiB.
	OutputMax int

	// Resolve looks up the addresses of a host. It may block: it runs on a goroutine of
	// core.Offload. nil: as package net does. It isn't called for addresses written as numbers.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// ConnectTimeout is how long one address may take to accept a connection; then a handshake has
	// time of its own, see secure.Limits. A host's next address is tried after 250 ms, beside the
	// first. 0: 5 s.
	ConnectTimeout time.Duration
	// BackoffMin and BackoffMax are how long a worker waits, at first and at most, after it could
	// not connect, or lost a connection that has brought no reply. The wait doubles each time; up
	// to half of it is left out by chance. While a worker without a connection waits, asks get
	// core.ErrNotSent. 0: 50 ms, 10 s.
	BackoffMin, BackoffMax time.Duration
	// ReplyTimeout closes a connection whose oldest request has had no reply for so long, whether
	// or not its asker still waits. 0: a minute. Negative: never.
	ReplyTimeout time.Duration
	// IdleTimeout closes a connection that nobody has used for so long, best before the server
	// does. 0: 5 minutes. Negative: never.
	IdleTimeout time.Duration
	// WriteTimeout closes a connection whose other end took no byte of a request for so long. 0:
	// 30 s. Negative: never.
	WriteTimeout time.Duration
	// KeepAlive is as in Config. 0: 15 s. Negative: no probes.
	KeepAlive time.Duration
}

// validate returns c with its defaults.
func (c ClientConfig[Req, Rep]) validate() (ClientConfig[Req, Rep], error) {
	if c.Codec == nil {
		return c, errors.New("channel: ClientConfig.Codec is missing")
	}
	err := errors.Join(
		fillSize("ClientConfig.Conns", &c.Conns, 1),
		fillSize("ClientConfig.InflightMax", &c.InflightMax, 128),
		fillSize("ClientConfig.PendingMax", &c.PendingMax, 1024),
		fillSize("ClientConfig.ReadSize", &c.ReadSize, 16<<10),
		fillSize("ClientConfig.OutputMax", &c.OutputMax, 128<<10),
	)
	if c.ReadSize > readMax {
		err = errors.Join(err, fmt.Errorf("channel: ClientConfig.ReadSize is above %d", readMax))
	}
	if min(c.BackoffMin, c.BackoffMax) < 0 {
		err = errors.Join(err, errors.New("channel: ClientConfig.BackoffMin or BackoffMax is negative"))
	}
	fillTime(&c.ConnectTimeout, 5*time.Second)
	fillTime(&c.BackoffMin, 50*time.Millisecond)
	fillTime(&c.BackoffMax, 10*time.Second)
	fillTime(&c.ReplyTimeout, time.Minute)
	fillTime(&c.IdleTimeout, 5*time.Minute)
	fillTime(&c.WriteTimeout, 30*time.Second)
	fillTime(&c.KeepAlive, 15*time.Second)
	if c.BackoffMin > c.BackoffMax {
		err = errors.Join(err, errors.New("channel: ClientConfig.BackoffMin is above BackoffMax"))
	}
	return c, err
}

// Client asks a server over connections of its own: each worker of the system has some, which the
// actors of that worker share, so that a request crosses no worker. Dial makes it, and Close ends
// it.
type Client[Req, Rep any] struct {
	config ClientConfig[Req, Rep]
	pools  core.Replicas[connPool[Req, Rep]]
	port   core.Port[Req, Rep]

	// of the connections and connectors of all pools
	conn, connector *stack.Handler
	stats           clientCounts
}

type clientCounts struct {
	conns                                   atomic.Int64
	connects, failed, notSent, lost, refuse atomic.Uint64
}

// ClientStats is what a client has counted since Dial.
type ClientStats struct {
	Conns           int64  // connected now
	Connects        uint64 // connections that were made
	ConnectFailures uint64 // times that no address of the server accepted a connection
	NotSent         uint64 // asks that got core.ErrNotSent
	Lost            uint64 // asks that got core.ErrLost
	Overloaded      uint64 // asks beyond ClientConfig.PendingMax
}

// Dial opens a client, and a connection of each worker: if one can't be opened, it fails. Later the
// client connects when somebody asks. The system must have been started. ctx limits the opening
// only. Dial blocks: only guests may call it.
func Dial[Req, Rep any, W core.Place](ctx context.Context, sys core.Workers[W], c ClientConfig[Req, Rep]) (*Client[Req, Rep], error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	cl := &Client[Req, Rep]{config: c}
	cl.conn = stack.NewOwned("client connection", (*outConn[Req, Rep]).run, (*outConn[Req, Rep]).tick, (*outConn[Req, Rep]).close)
	cl.connector = stack.NewOwned("client connector", (*connector[Req, Rep]).run, (*connector[Req, Rep]).tick, (*connector[Req, Rep]).finish)
	by := poolHandlersOf[Req, Rep]()
	cl.pools = core.Replicate(sys, func() *connPool[Req, Rep] {
		return &connPool[Req, Rep]{client: cl, tools: tools{buffer: make([]byte, c.ReadSize)}}
	})
	cl.port = by.ask.Local(cl.pools)
	for i := range cl.pools.Len() {
		at := cl.pools.At(i)
		if !at.House().Owner().Guests.Started.Load() {
			err = core.ErrNotStarted
		} else {
			_, err = core.Ask(ctx, by.open.At(at), struct{}{})
		}
		if err != nil {
			cl.pools.Stop()
			return nil, fmt.Errorf("channel: dial %s: %w", c.Address, err)
		}
	}
	return cl, nil
}

// Port returns what sends a request to the server. Beside what the server replies, and the errors
// of every port, an ask may end with
//
//	core.ErrNotSent     no byte of it was written: asking again does nothing twice
//	core.ErrLost        it was written, all or in part, and the connection ended before its reply
//	core.ErrOverloaded  ClientConfig.PendingMax asks were waiting
//
// An ask that is given up, or whose deadline passes, isn't sent if it still waits; otherwise its
// reply is dropped when it comes. Bytes that a request refers to must live until the ask has ended,
// as with any port; a reply's bytes live as long as the future's answer.
func (c *Client[Req, Rep]) Port() core.Port[Req, Rep] { return c.port }

// Stats returns what the client has counted. Any goroutine may call it.
func (c *Client[Req, Rep]) Stats() ClientStats {
	s := &c.stats
	return ClientStats{s.conns.Load(), s.connects.Load(), s.failed.Load(), s.notSent.Load(), s.lost.Load(), s.refuse.Load()}
}

// Close has further asks end with core.ErrStopped, or a guest's with core.ErrNoMember. It waits
// until all others have ended, and closes the connections. If ctx ends first it closes them at
// once, and returns an error. It blocks: only guests may call it, or house.System.OnShutdown.
func (c *Client[Req, Rep]) Close(ctx context.Context) error {
	by := poolHandlersOf[Req, Rep]()
	var err error
	for i := range c.pools.Len() {
		core.NoticeWait(ctx, by.shut.At(c.pools.At(i)), struct{}{}) // one that has stopped is shut
	}
	for i := range c.pools.Len() {
		at := c.pools.At(i)
		err = errors.Join(err, restOf(ctx, by.rest.At(at), by.shut.At(at)))
	}
	if err != nil {
		err = fmt.Errorf("channel: requests of a client were cut off: %w", err)
	}
	return errors.Join(err, c.pools.StopWait(context.WithoutCancel(ctx)))
}

// restOf waits until the pool behind rest, which was told by shut, has nothing more to do.
func restOf(ctx context.Context, rest core.Port[struct{}, struct{}], shut core.NoticePort[struct{}]) error {
	for {
		ctx, cancel := context.WithTimeout(ctx, 10_000*time.Hour) // the system's default is shorter
		_, err := core.Ask(ctx, rest, struct{}{})
		if errors.Is(err, core.ErrMailboxFull) && core.NoticeWait(ctx, shut, struct{}{}) == nil {
			cancel() // there is room now
			continue
		}
		cancel()
		if errors.Is(err, core.ErrStopped) {
			return nil
		}
		return err
	}
}

// poolHandlers is what a pool is asked and told.
type poolHandlers[Req, Rep any] struct {
	ask  core.Handler[connPool[Req, Rep], Req, Rep]
	open core.Handler[connPool[Req, Rep], struct{}, struct{}]
	rest core.Handler[connPool[Req, Rep], struct{}, struct{}]
	shut core.NoticeHandler[connPool[Req, Rep], struct{}]
	// tells a pool to look a host up
	lookUp core.NoticeHandler[connPool[Req, Rep], lookup]
}

// pools holds the handlers of each pair of types Req and Rep for which there is a client.
var pools sync.Map

func poolHandlersOf[Req, Rep any]() *poolHandlers[Req, Rep] {
	key := reflect.TypeFor[poolHandlers[Req, Rep]]()
	h, ok := pools.Load(key)
	if !ok {
		h, _ = pools.LoadOrStore(key, &poolHandlers[Req, Rep]{
			ask:    core.Handle((*connPool[Req, Rep]).ask),
			open:   core.Handle((*connPool[Req, Rep]).open),
			rest:   core.Handle((*connPool[Req, Rep]).rest),
			shut:   core.HandleNotice((*connPool[Req, Rep]).shut),
			lookUp: core.HandleNotice((*connPool[Req, Rep]).find),
		})
	}
	return h.(*poolHandlers[Req, Rep])
}
