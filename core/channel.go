package core

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// ChannelStack is one inbound request of a connection. It lives until its result is written, in
// the order in which requests arrived, or the connection has gone. A result may come in parts:
// see Part.
type ChannelStack[Req, Rep any] struct {
	state stack.InboundState
	answer[Rep]
	Req Req // what was received; its bytes live as long as the stack
}

func (s *ChannelStack[Req, Rep]) channel() *ChannelStack[Req, Rep] { return s }

// Return ends the stack with the result to be written. Its bytes must live as long as the stack:
// Bytes and Copy give such, and so do answers of its futures.
//
//alloc:none
func (s *ChannelStack[Req, Rep]) Return(rep Rep) Yield {
	y := stack.End(&s.head)
	s.rep = rep
	return y
}

// ReturnLast is Return; the connection is closed once the result is written, and what the client
// sent after this request is ignored.
func (s *ChannelStack[Req, Rep]) ReturnLast(rep Rep) Yield {
	s.state.Last = true
	return s.Return(rep)
}

// Room is the answer to a part of a result: there is room for more.
type Room = stack.Room

// Part offers rep as a part of the result: it is written in its turn, behind the results of all
// requests that came before. f is answered once that was done, and the connection has room for
// more: until then rep's bytes must live, and with the answer what Bytes and Copy gave is gone. No
// deadline ends the wait; the end of the connection ends s. Return is the last part, as if it were
// the whole. An end of s before f is answered drops a part that wasn't written. An empty part waits
// for the turn of s: then all requests before it are answered. Only a step of s may call it; it
// panics while f, or another part, waits.
func (s *ChannelStack[Req, Rep]) Part(f *Future[Room], rep Rep) {
	in := stack.InboundOf(stack.Of(&s.running))
	in.Part(f)
	s.rep = rep
	in.Offer()
}

// Keep returns p, a part of the request, with a count of its own, for an ask or a notice of another
// actor: plain bytes of the request are gone when its client is, though the other actor may read
// them still. The message may be the pool.Bytes itself, which its stack releases, or a struct with
// a method Release, on the pointer, that releases it.
func (s *ChannelStack[Req, Rep]) Keep(p []byte) pool.Bytes {
	if part, ok := s.state.Input.Part(p); ok {
		return part.Retain()
	}
	return stack.Of(&s.running).Engine().Shard.Copy(p)
}

// Peer returns who sent the request.
func (s *ChannelStack[Req, Rep]) Peer() Peer {
	of, _ := s.state.Conn.(Endpoint)
	if of != nil {
		of.Introduce()
	}
	return Peer{of}
}

// ChannelOf is satisfied by the pointer to every S that embeds ChannelStack[Req, Rep].
type ChannelOf[S, Req, Rep any] interface {
	stack.RunningOf[S]
	channel() *ChannelStack[Req, Rep]
}

// Peer is who sent a request: the connection that it came by. Those of two requests are equal if
// and only if they came by the same one. It may be kept, and sent to other actors.
type Peer struct{ of Endpoint }

// Endpoint is a connection as a Peer knows it; the channel implements it.
type Endpoint interface {
	// Introduce has Addr known. Only the connection's worker calls it, in its turn.
	Introduce()
	// Addr returns the address of the client's end. Any goroutine may call it behind Introduce.
	Addr() string
}

// Addr returns the address that the connection came from, host:port or the path of a Unix socket;
// "" if it has none, or was gone when a request first asked for its Peer. Any goroutine may call
// it.
func (p Peer) Addr() string {
	if p.of == nil {
		return ""
	}
	return p.of.Addr()
}
