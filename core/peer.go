package core

import (
	"github.com/stackhouse-go/stackhouse/stack"
)

// Peer is a connection as actors know it, and what is sent to its other end are messages of type
// Rep. Two are equal if and only if they are the same connection. A Peer may be kept, and sent to
// other actors; it is valid when the connection has gone, too.
type Peer[Rep any] struct{ of Endpoint[Rep] }

// Endpoint is a connection as a Peer knows it; the channel implements it.
type Endpoint[Rep any] interface {
	// Introduce prepares what Addr returns. Only the connection's worker calls it, in its turn.
	Introduce()
	// Addr returns the address of the other end. Any goroutine may call it after Introduce.
	Addr() string
	// House returns the house of the actor that has the connection, and Pushing the handler there
	// of what other workers, and guests, push. Any goroutine may call either.
	House() *stack.House
	Pushing() *stack.Handler
	// Admit returns nil, or refuses a message: with ErrMailboxFull or ErrStopped, as things were at
	// the end of the last turn. Any goroutine may call it.
	Admit() error
	// Push sends msg, and Shut closes the connection once everything before was sent. Only the
	// connection's worker calls either, in its turn.
	Push(msg Rep) error
	Shut()
}

// EndpointOf returns the connection of p; nil: p is the zero Peer. Only the channel calls it.
func EndpointOf[Rep any](p Peer[Rep]) Endpoint[Rep] { return p.of }

// PeerOf returns the Peer of a connection. Only the channel calls it.
func PeerOf[Rep any](of Endpoint[Rep]) Peer[Rep] { return Peer[Rep]{of} }

// Notice sends msg to the other end, from a step of s: behind all results of requests, and parts of
// them, that the connection has begun to write, and behind what s, or another actor of its worker,
// has sent before. It goes out at the end of the turn, with everything else.
//
// The error is ErrMailboxFull if channel.Config.OutputMax bytes wait for the other end, or
// ErrStopped if the connection has gone or takes no more requests. If the connection belongs to
// another worker, msg travels there as a notice to its actor; then the error tells what was known
// of the connection, or is one of NoticePort.Notice, and a message that finds the connection full
// or gone when it arrives is dropped and counted. So bytes in msg must live as those of a notice:
// see ChannelStack.Keep. With any error, a message that has a Release method was released;
// otherwise it is once it was written.
func (p Peer[Rep]) Notice(s Running, msg Rep) error {
	of := p.endpoint()
	if h := of.House(); h.Owner() != stack.Of(s).Engine() {
		if err := of.Admit(); err != nil {
			return refusePush(of, msg, err)
		}
		return notice(s, h, of.Pushing(), nil, Pushed[Rep]{of: of, msg: msg})
	}
	return of.Push(msg)
}

// Post is Notice from a goroutine that is not a worker.
func (p Peer[Rep]) Post(msg Rep) error {
	of := p.endpoint()
	if err := of.Admit(); err != nil {
		return refusePush(of, msg, err)
	}
	h := of.House()
	return stack.Tell(h.Owner().Guests, h, of.Pushing(), &Pushed[Rep]{of: of, msg: msg})
}

// Close closes the connection once all that was sent before is written; requests in flight are
// cancelled, and what waits behind a part of a result is dropped with it. If the connection has
// gone nothing happens. In a step, for a connection of another worker, what this visit has sent
// there by Notice may not have left yet, and is dropped then. The error is ErrMailboxFull, and then
// the connection isn't closed, or ErrStopped. Any goroutine may call it.
func (p Peer[Rep]) Close() error {
	of := p.endpoint()
	h := of.House()
	return stack.Tell(h.Owner().Guests, h, of.Pushing(), &Pushed[Rep]{of: of, shut: true})
}

// Addr returns the address of the other end, host:port or the path of a Unix socket. It is "" if
// there is none, or if the connection had gone when a request first called Peer. Any goroutine may
// call it.
func (p Peer[Rep]) Addr() string {
	if p.of == nil {
		return ""
	}
	return p.of.Addr()
}

func (p Peer[Rep]) endpoint() Endpoint[Rep] {
	if p.of == nil {
		panic("core: a message to the zero Peer")
	}
	return p.of
}

// refusePush releases what isn't pushed, because of err.
//
//go:noinline
func refusePush[Rep any](of Endpoint[Rep], msg Rep, err error) error {
	p := Pushed[Rep]{of: of, msg: msg}
	p.Release()
	return err
}

// Pushed is a message on its way to a connection of another worker. Only the runtime makes it.
type Pushed[Rep any] struct {
	of   Endpoint[Rep]
	msg  Rep
	shut bool // closes the connection
	done bool // the connection has msg
}

// Do hands the message over. Only the connection's worker calls it, in its turn.
func (p *Pushed[Rep]) Do() error {
	p.done = true
	if p.shut {
		p.of.Shut()
		return nil
	}
	return p.of.Push(p.msg)
}

// Release implements stack.Releaser.
func (p *Pushed[Rep]) Release() {
	if r, ok := any(&p.msg).(stack.Releaser); ok && !p.done {
		r.Release()
	}
}
