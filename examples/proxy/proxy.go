package main

import (
	"context"
	"flag"
	"log"
	"net"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// stream is the codec of bytes as they come: a request is what one read has brought. Results are
// empty.
type stream struct{}

func (stream) Decode(in []byte, req *[]byte) (int, error)   { *req = in; return len(in), nil }
func (stream) Need() int                                    { return 1 }
func (stream) Size(b *[]byte, _ error) int                  { return len(*b) }
func (stream) Encode(out []byte, b *[]byte, _ error) []byte { return append(out, *b...) }
func (stream) Refuse(out []byte, _ error) []byte            { return out }

type peer = channel.Peer[[]byte]

// proxy is the actor of one worker: it accepts, and connects.
type proxy struct {
	server channel.ConnectConfig[proxy, []byte, []byte]
	other  map[peer]peer // of a client's connection the server's, and the other way round
}

type chunkStack struct {
	core.ChannelStack[[]byte, []byte]
	conn  core.Future[peer]
	tick  core.Future[core.Tick]
	taken core.Future[core.Written]
}

var (
	proxyEnded  = core.HandleNotice((*proxy).ended)
	proxyClosed = core.HandleNotice((*proxy).closed)
	fromClient  = channel.Handle((*proxy).fromClient).WithEnded(proxyEnded).WithClosed(proxyClosed)
	fromServer  = channel.Handle((*proxy).pass).WithEnded(proxyEnded).WithClosed(proxyClosed)
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
		return s.ReturnLast(nil)
	}
	p.other[s.Peer()], p.other[server] = server, s.Peer()
	return p.pass(s)
}

// pass sends what has come to the other end, and waits until it was taken there: before that
// nothing is read behind it, also no end.
func (p *proxy) pass(s *chunkStack) core.Yield {
	other, is := p.other[s.Peer()]
	if !is { // connected hasn't run yet
		core.Timer.Ask(s, &s.tick, time.Millisecond)
		return core.Suspend(s, (*proxy).pass)
	}
	other.AskWithin(s, &s.taken, s.Req, 2*patience)
	return core.Suspend(s, (*proxy).passed)
}

func (p *proxy) passed(s *chunkStack) core.Yield {
	if _, err := s.taken.Get(); err != nil {
		return s.ReturnLast(nil) // bytes are missing there
	}
	return s.Return(nil)
}

// ended has the other end read to the end, too, once all is written; it may go on sending.
func (p *proxy) ended(s *core.NoticeStack[channel.Ended[[]byte]]) core.Yield {
	if other, is := p.other[s.Msg.Peer]; is {
		other.End(s) // it fails if that has gone
	} else {
		s.Msg.Peer.Close(s) // a client that has said nothing
	}
	return s.Return()
}

// closed closes the other connection, too, once all is written.
func (p *proxy) closed(s *core.NoticeStack[channel.Closed[[]byte]]) core.Yield {
	at := s.Msg.Peer
	if other, is := p.other[at]; is {
		other.Close(s) // it fails if that is closing
		delete(p.other, at)
		delete(p.other, other)
	}
	return s.Return()
}

// patience is how long an end may take nothing.
const patience = 10 * time.Minute

func serve(ctx context.Context, sys *house.System, address, to string) *channel.Server[[]byte, []byte] {
	c := channel.Config[[]byte, []byte]{
		Network: "tcp", Address: to, IdleTimeout: -1, WriteTimeout: patience,
		InflightMax: 1, // what waits at the other end isn't overtaken
		Codec:       func() channel.Codec[[]byte, []byte] { return stream{} },
	}
	server := channel.ConnectConfig[proxy, []byte, []byte]{Config: c, Handler: fromServer}
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
