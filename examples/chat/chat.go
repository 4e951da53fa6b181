package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/frame"
	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/house"
)

// peer is the connection of a client, to whom lines are sent.
type peer = channel.Peer[string]

// room is the actor of one room, which stays for as long as it has members.
type room struct{ members []peer }

type call struct {
	room string
	who  peer
	text string // "/join", "/leave", or what is to be said
}

var roomCall = core.Handle((*room).call)

// roomGone hears of the end of a member's connection.
var roomGone = core.HandleNotice(func(r *room, s *core.NoticeStack[channel.Closed[string]]) core.Yield {
	r.drop(s, s.Msg.Peer)
	return s.Return()
})

// call tells all that are there, who calls too: coming and going are lines like others. Who doesn't
// read, so that there is no room for the line (core.ErrMailboxFull), doesn't get it.
func (r *room) call(s *core.AskStack[call, struct{}]) core.Yield {
	who, line := s.Req.who, s.Req.who.Addr()+": "+s.Req.text+"\n"
	if s.Req.text == "/join" {
		r.members = append(r.members, who)
		core.KeepActive(s, true)
		channel.Watch(s, who, roomGone)
	}
	for _, p := range r.members {
		p.Notice(s, line)
	}
	if s.Req.text == "/leave" {
		channel.Unwatch(s, who, roomGone)
		r.drop(s, who)
	}
	return s.Return(struct{}{})
}

func (r *room) drop(s core.Running, who peer) {
	r.members = slices.DeleteFunc(r.members, func(p peer) bool { return p == who })
	core.KeepActive(s, len(r.members) > 0)
}

// session is the codec of a connection, and knows where its client is: its requests point to it.
type session struct {
	frame.Line
	room string // "": in none
}

type request struct {
	of   *session
	line []byte
}

func (c *session) Decode(in []byte, req *request) (n int, err error) {
	req.of = c
	return c.Line.Decode(in, &req.line)
}

func (c *session) Refuse(out []byte, err error) []byte { return c.Encode(out, nil, err) }
func (*session) Size(line *string, _ error) int        { return len(*line) + 512 } // 120 runes

func (*session) Encode(out []byte, line *string, err error) []byte {
	if err != nil {
		return fmt.Appendf(out, "ERR %.120v\n", err)
	}
	return append(out, *line...)
}

type front struct{ rooms core.Port[call, struct{}] } // where clients come in

type lineStack struct {
	core.ChannelStack[request, string]
	call   call
	answer core.Future[struct{}]
}

var frontLine = channel.Handle((*front).line)

func (f *front) line(s *lineStack) core.Yield {
	s.call = call{s.Req.of.room, s.Peer(), string(s.Req.line)}
	word, name, _ := strings.Cut(s.call.text, " ")
	switch joins := word == "/join"; {
	case word == "/quit":
		return s.ReturnLast("bye\n")
	case joins != (s.call.room == ""):
		return s.Throw(errors.New("/join <room> comes first, and /leave before the next one"))
	case joins:
		s.call.room, s.call.text = name, word
	}
	f.rooms.Ask(s, &s.answer, s.call)
	return core.Suspend(s, (*front).called)
}

func (f *front) called(s *lineStack) core.Yield {
	if _, err := s.answer.Get(); err != nil {
		return s.Throw(err)
	}
	if s.Req.of.room = s.call.room; s.call.text == "/leave" {
		s.Req.of.room = ""
	}
	return s.Return("") // the room has told who is there
}

// serve closes connections that take nothing for as long as patience.
func serve(ctx context.Context, sys *house.System, address string, patience time.Duration, by *secure.TLS) *channel.Server[request, string] {
	like := core.NamedConfig[room]{Kind: "room", New: func(string) *room { return &room{} }}
	like.Props.Passivate.Idle = 10 * time.Second
	rooms := core.ByName(roomCall, core.NewNamed(sys, like), func(c *call) string { return c.room })
	return must(channel.Listen(ctx, channel.Config[request, string]{
		Network: "tcp", Address: address, TLS: by, WriteTimeout: patience,
		IdleTimeout: -1, // some only read
		Codec:       func() channel.Codec[request, string] { return &session{Line: frame.Line{Max: 1000}} },
		InflightMax: 1, // a line begins when the one before has ended: it is said where that has led
	}, frontLine, core.Replicate(sys, func() *front { return &front{rooms} }).All()...))
}

func main() {
	address, patience := flag.String("addr", "127.0.0.1:7100", "where to listen"), flag.Duration("patience", 30*time.Second, "with who doesn't read")
	var files secure.Files
	flag.StringVar(&files.Cert, "tls-cert", "", "for TLS; see examples/certs")
	flag.StringVar(&files.Key, "tls-key", "", "of -tls-cert")
	flag.Parse()
	var by *secure.TLS
	if files != (secure.Files{}) {
		by = secure.New(must(files.Load()))
	}
	sys := must(house.New(house.Config{}))
	must(0, sys.Start(context.Background()))
	log.Println("chat listens at", serve(context.Background(), sys, *address, *patience, by).Addr())
	select {} // until it is killed
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
