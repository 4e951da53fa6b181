package core

import (
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// ChannelStack is one inbound request of a connection in progress. It lives until its result is
// written, in the order in which requests arrived or, if the connection's codec is Unordered, in
// that in which they are complete; or until the connection has gone. A result may come in parts:
// see Part.
type ChannelStack[Req, Rep any] struct {
	state stack.InboundState
	answer[Rep]
	Req Req // what was received; its bytes live as long as the stack
}

func (s *ChannelStack[Req, Rep]) channel() *ChannelStack[Req, Rep] { return s }

// Return ends the stack with the result to be written. Bytes in it must live as long as the stack:
// those of Bytes and Copy do, and those of answers in its futures.
//
//alloc:none
func (s *ChannelStack[Req, Rep]) Return(rep Rep) Yield {
	y := stack.End(&s.head)
	s.rep = rep
	return y
}

// ReturnLast is Return, after which the connection is closed: once the result is written, behind
// those of the requests before. What the client sent after this request is ignored. Messages to the
// Peer are refused from now on, also while requests before it go on: one that is channel.Alone
// begins behind them.
func (s *ChannelStack[Req, Rep]) ReturnLast(rep Rep) Yield {
	s.state.Last = true
	return s.Return(rep)
}

// Room answers Part: the connection has room for more.
type Room = stack.Room

// Part offers rep as a part of the result. It is written in its turn, as a result is, and the rest
// of the result before any other; f is answered once it is written and the connection has room for
// more. Until then the bytes in rep must live; with the answer all memory from Bytes and Copy
// becomes invalid. No deadline ends the wait; the end of the connection ends s. Return writes the
// last part in the same way.
//
// If s ends before f is answered, a part that isn't written is dropped. An empty part waits for the
// turn of s: when f is answered, all earlier requests are, if results go out in their order. Only a
// step of s may call Part. It panics while an earlier part, or f, waits.
func (s *ChannelStack[Req, Rep]) Part(f *Future[Room], rep Rep) {
	in := stack.InboundOf(stack.Of(&s.running))
	in.Part(f)
	s.rep = rep
	in.Offer()
}

// Keep returns p, bytes of the request, with a count of their own: for a notice, or for an actor
// that keeps them. Without a count they end with the request and with the asks that refer to them,
// whose actors may read them until they have answered. The message is the pool.Bytes itself, which
// its stack releases, or a struct whose pointer has a method Release that releases it.
func (s *ChannelStack[Req, Rep]) Keep(p []byte) pool.Bytes {
	if part, ok := s.state.Input.Part(p); ok {
		return part.Retain()
	}
	return stack.Of(&s.running).Engine().Shard.Copy(p)
}

// Peer returns the connection that the request came by. Messages may be sent to it at any time.
func (s *ChannelStack[Req, Rep]) Peer() Peer[Rep] {
	of, _ := s.state.Conn.(Endpoint[Rep])
	if of != nil {
		of.Introduce()
	}
	return Peer[Rep]{of}
}

// ChannelOf is satisfied by the pointer to every S that embeds ChannelStack[Req, Rep].
type ChannelOf[S, Req, Rep any] interface {
	stack.RunningOf[S]
	channel() *ChannelStack[Req, Rep]
}
