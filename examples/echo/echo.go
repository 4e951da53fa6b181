package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
	"github.com/stackhouse-go/stackhouse/house/latency"
)

// stream is the codec of bytes as they come: a request is what one read has brought.
type stream struct{}

func (stream) Decode(in []byte, req *[]byte) (int, error)     { *req = in; return len(in), nil }
func (stream) Need() int                                      { return 1 }
func (stream) Size(rep *[]byte, _ error) int                  { return len(*rep) }
func (stream) Encode(out []byte, rep *[]byte, _ error) []byte { return append(out, *rep...) }
func (stream) Refuse(out []byte, _ error) []byte              { return out }

type front struct{} // where clients come in

// frontEcho returns the request itself, whose bytes live until they are written.
var frontEcho = channel.Handle(func(_ *front, s *core.ChannelStack[[]byte, []byte]) core.Yield { return s.Return(s.Req) })

// serve echoes messages of that length; 0: bytes as they come. by may be nil. Shutdown of the
// system ends it.
func serve(ctx context.Context, sys *house.System, network, address string, length int, by *secure.TLS) string {
	codec := func() channel.Codec[[]byte, []byte] { return stream{} }
	if length > 0 {
		fixed := &frame.Fixed{Bytes: length} // it has no state
		codec = func() channel.Codec[[]byte, []byte] { return &frame.Codec{Framing: fixed} }
	}
	fronts := core.Replicate(sys, func() *front { return &front{} })
	// a read that fills its buffer is followed by another: this one is longer than most of what comes
	c := channel.Config[[]byte, []byte]{Network: network, Address: address, Codec: codec, ReadSize: 64 << 10, TLS: by}
	server := must(channel.Listen(ctx, c, frontEcho, fronts.All()...))
	sys.OnShutdown(server.Drain)
	return server.Addr()
}

// loader is the actor of one worker that sends messages, over connections of that worker.
type loader struct {
	server core.Port[[]byte, []byte]
	text   []byte
	times  latency.Histogram // until the text was back
	wrong  int               // times that it was another text, or an error
}

type roundStack struct { // one message after the other
	core.NoticeStack[struct{}]
	echo  core.Future[[]byte]
	pause core.Future[core.Tick]
	sent  time.Time // core.Now is the time of a turn, here mostly that of the answer too
}

var loaderRound, loaderTally = core.HandleNotice((*loader).round), core.Handle((*loader).tally)

func (l *loader) round(s *roundStack) core.Yield {
	s.sent = time.Now()
	l.server.Ask(s, &s.echo, l.text)
	return core.Suspend(s, (*loader).answered)
}

func (l *loader) answered(s *roundStack) core.Yield {
	if text, err := s.echo.Get(); err != nil || !bytes.Equal(text, l.text) {
		l.wrong++
		core.Timer.Ask(s, &s.pause, 10*time.Millisecond) // asks of a server that has gone end at once
		return core.Suspend(s, (*loader).round)
	}
	l.times.Record(time.Since(s.sent))
	return l.round(s)
}

// tally adds what is known so far to the snapshot, which its asker leaves alone meanwhile.
func (l *loader) tally(s *core.AskStack[*latency.Snapshot, int]) core.Yield {
	l.times.Publish()
	var own latency.Snapshot
	l.times.Snapshot(&own)
	s.Req.Merge(&own)
	return s.Return(l.wrong)
}

// load sends c.Conns*c.InflightMax messages at a time until ctx ends, and returns what came of it.
func load(ctx context.Context, sys *house.System, c channel.ClientConfig[[]byte, []byte], size int) string {
	c.Conns = (c.Conns-1)/len(sys.Workers()) + 1 // of each worker
	c.PendingMax = c.Conns * c.InflightMax       // while it connects
	fixed := &frame.Fixed{Bytes: size}
	c.Codec = func() channel.ClientCodec[[]byte, []byte] { return &frame.Codec{Framing: fixed} }
	client := must(channel.Dial(ctx, sys, c))
	text := bytes.Repeat([]byte("0123456789abcdef\n"), size/17+1)[:size]
	loaders, began := core.Replicate(sys, func() *loader { return &loader{server: client.Port(), text: text} }).All(), time.Now()
	for i := range c.PendingMax * len(loaders) {
		must(0, core.NoticeWait(ctx, loaderRound.At(loaders[i%len(loaders)]), struct{}{}))
	}
	<-ctx.Done()
	all, wrong, took := new(latency.Snapshot), 0, time.Since(began)
	for _, at := range loaders {
		wrong += must(core.Ask(context.Background(), loaderTally.At(at), all))
	}
	n := client.Stats()
	return fmt.Sprintf("%.0f messages/s over %d connections, p50 %v, p99 %v; %d errors: NotSent %d, Lost %d, Overloaded %d",
		float64(all.Count())/took.Seconds(), n.Conns, all.Quantile(0.5), all.Quantile(0.99), wrong, n.NotSent, n.Lost, n.Overloaded)
}

func main() {
	address, network := flag.String("addr", "127.0.0.1:7090", "where the server listens"), flag.String("network", "tcp", "or unix")
	workers, length := flag.Int("workers", 0, "0: one a CPU"), flag.Int("length", 0, "of the server's messages; 0: bytes as they come")
	client, conns := flag.Bool("client", false, "load a server"), flag.Int("conns", 8, "of the client, the same number for each worker")
	depth, size := flag.Int("depth", 16, "messages on their way, of each of conns"), flag.Int("size", 64, "bytes of a client's message")
	seconds, files := flag.Float64("seconds", 5, "of load"), secure.Files{}
	flag.StringVar(&files.Cert, "tls-cert", "", "for TLS; see examples/certs")
	flag.StringVar(&files.Key, "tls-key", "", "of -tls-cert")
	flag.StringVar(&files.CA, "tls-ca", "", "for TLS: who must vouch for the other end")
	flag.Parse()
	var by *secure.TLS
	if files != (secure.Files{}) {
		by = secure.New(must(files.Load()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sys := must(house.New(house.Config{Workers: *workers}))
	must(0, sys.Start(ctx))
	if *client {
		ctx, stop := context.WithTimeout(ctx, time.Duration(*seconds*float64(time.Second)))
		defer stop()
		c := channel.ClientConfig[[]byte, []byte]{Network: *network, Address: *address, Conns: *conns, InflightMax: *depth, TLS: by}
		fmt.Println(load(ctx, sys, c, *size))
	} else {
		log.Println("echo listens at", serve(ctx, sys, *network, *address, *length, by))
		<-ctx.Done()
	}
	must(0, sys.Shutdown(context.Background()))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
