package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/pool"
)

// stream is the codec of bytes as they come: a request is what one read has brought. What is sent
// has a count, and results are empty.
type stream struct{}

func (stream) Decode(in []byte, req *[]byte) (int, error)       { *req = in; return len(in), nil }
func (stream) Need() int                                        { return 1 }
func (stream) Size(b *pool.Bytes, _ error) int                  { return b.Len() }
func (stream) Encode(out []byte, b *pool.Bytes, _ error) []byte { return append(out, b.B()...) }
func (stream) Refuse(out []byte, _ error) []byte                { return out }

type peer = channel.Peer[pool.Bytes]

// proxy is the actor of one worker: it accepts, and connects.
type proxy struct {
	server channel.ConnectConfig[proxy, []byte, pool.Bytes]
	other  map[peer]peer // of a client's connection the server's, and the other way round
}

type chunkStack struct {
	core.ChannelStack[[]byte, pool.Bytes]
	conn core.Future[peer]
	tick core.Future[core.Tick]
}

var (
	proxyClosed = core.HandleNotice((*proxy).closed)
	fromClient  = channel.Handle((*proxy).fromClient).WithClosed(proxyClosed)
	fromServer  = channel.Handle((*proxy).pass).WithClosed(proxyClosed)
)

func (p *proxy) fromClient(s *chunkStack) core.Yield {
	if _, is := p.other[s.Peer()]; is {
		return p.pass(s)
	}
	channel.Connect(s, &s.conn, &p.server)
	return core.Suspend(s, (*proxy).connected)
}

func (p *proxy) connected(s *chunkStack) core.Yield {
	server, err := s.conn.Get()
	if err != nil {
		return s.ReturnLast(pool.Bytes{})
	}
	p.other[s.Peer()], p.other[server] = server, s.Peer()
	return p.pass(s)
}

// pass sends what has come to the other end, and tries again for as long as that has no room: until
// s is over nothing is read behind it, also no end.
func (p *proxy) pass(s *chunkStack) core.Yield {
	if other, is := p.other[s.Peer()]; is { // otherwise connected hasn't run yet
		if err := other.Notice(s, s.Keep(s.Req)); !errors.Is(err, core.ErrMailboxFull) {
			return s.Return(pool.Bytes{}) // also if the other end has gone: then this one goes, too
		}
	}
	core.Timer.Ask(s, &s.tick, time.Millisecond)
	return core.Suspend(s, (*proxy).pass)
}

// closed closes the other connection, too, once all is written.
func (p *proxy) closed(s *core.NoticeStack[channel.Closed[pool.Bytes]]) core.Yield {
	at := s.Msg.Peer
	if other, is := p.other[at]; is {
		other.Close() // it fails if that is closing
		delete(p.other, at)
		delete(p.other, other)
	}
	return s.Return()
}

func serve(ctx context.Context, sys *house.System, address, to string) *channel.Server[[]byte, pool.Bytes] {
	c := channel.Config[[]byte, pool.Bytes]{
		Network: "tcp", Address: to, IdleTimeout: -1, WriteTimeout: 10 * time.Minute,
		InflightMax: 1, // what waits for room at the other end isn't overtaken
		Codec:       func() channel.Codec[[]byte, pool.Bytes] { return stream{} },
	}
	server := channel.ConnectConfig[proxy, []byte, pool.Bytes]{Config: c, Handler: fromServer}
	proxies := core.Replicate(sys, func() *proxy { return &proxy{server: server, other: map[peer]peer{}} })
	c.Address = address
	return must(channel.Listen(ctx, c, fromClient, proxies.All()...))
}

func main() {
	address, to := flag.String("addr", "127.0.0.1:7110", "where to listen"), flag.String("to", "127.0.0.1:80", "the server")
	flag.Parse()
	sys := must(house.New(house.Config{}))
	must(0, sys.Start(context.Background()))
	server := must(net.ResolveTCPAddr("tcp", *to)).String()
	log.Println("proxy listens at", serve(context.Background(), sys, *address, server).Addr())
	select {} // until it is killed
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
