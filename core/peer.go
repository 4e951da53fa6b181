package core

import (
	"time"

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
	// House returns the house of the actor that has the connection. Pushing and Asking return the
	// handlers there of what other workers, and guests, push, and of what other workers ask. Any
	// goroutine may call them.
	House() *stack.House
	Pushing() *stack.Handler
	Asking() *stack.Handler
	// Admit returns nil, or refuses a message: with ErrMailboxFull or ErrStopped, as things were at
	// the end of the last turn. Any goroutine may call it.
	Admit() error
	// Push sends msg, and Shut closes the connection once everything before was sent. Ask sends the
	// message of call, whose request is an Asked, and has the call answered later; if it returns an
	// error, the caller does that. Only the connection's worker calls them, in its turn.
	Push(msg Rep) error
	Ask(call *stack.Stack) error
	Shut()
	// Mute ends this side of the connection once everything before was sent. Only the connection's
	// worker calls it, in its turn.
	Mute()
}

// EndpointOf returns the connection of p; nil: p is the zero Peer. Only the channel calls it.
func EndpointOf[Rep any](p Peer[Rep]) Endpoint[Rep] { return p.of }

// PeerOf returns the Peer of a connection. Only the channel calls it.
func PeerOf[Rep any](of Endpoint[Rep]) Peer[Rep] { return Peer[Rep]{of} }

// Notice sends msg to the other end, from a step of s: behind all results of requests, and parts of
// them, that the connection has begun to write, and behind what s, or another actor of its worker,
// has sent before. It goes out at the end of the turn, with everything else.
//
// The error is ErrMailboxFull if channel.Config.OutputMax bytes of messages wait for the other end,
// or results for which there is no room, or messages of Ask; or ErrStopped if the connection has
// gone or is closing, or behind End. If the connection belongs to
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

// Written answers Peer.Ask: the system has taken all bytes of the message.
type Written struct{}

// Ask is Notice that tells how it has ended: f is answered once the system has taken all bytes of
// msg, or what stages have made of them by then, which says nothing of what the other end has read.
// If there is no room the message waits, and Notice fails meanwhile: so an actor that asks and
// suspends goes at the pace of the other end. The messages of s keep their order.
//
// Beside those of Port.Ask the errors are ErrMailboxFull, if channel.Config.PendingMax messages
// wait already; and, if the connection has gone, or goes before the end of the message was taken,
// ErrNotSent, if the system has taken no byte of the message, or ErrLost. ErrStopped is then found
// in these by errors.Is. A message that still waits when s gives it up, or when the deadline
// passes, isn't sent; later it is.
//
// Bytes in msg may be those of s, as with any ask. A message that has a Release method is released
// once it was written, otherwise with the answer. A step of a request that waits for an Ask to its
// own connection must not have begun a result in parts: its message waits for the end of that.
func (p Peer[Rep]) Ask(s Running, f *Future[Written], msg Rep) { p.ask(stack.Of(s), f, msg, 0) }

// AskWithin is Ask with a deadline limit from now instead of the default. If the deadline of s is
// earlier, it holds.
func (p Peer[Rep]) AskWithin(s Running, f *Future[Written], msg Rep, limit time.Duration) {
	p.ask(stack.Of(s), f, msg, max(1, int64(limit)))
}

// ask is AskWithin with limit in ns; 0: the default deadline.
func (p Peer[Rep]) ask(s *stack.Stack, f *Future[Written], msg Rep, limit int64) {
	of := p.endpoint()
	w, h := s.Engine(), of.House()
	call := s.Bind(f.Promise(), of.Asking(), limit)
	*stack.Request[Asked[Rep], Written](call) = Asked[Rep]{Of: of, Msg: msg}
	if h.Owner() != w {
		w.Push(h, call)
		return
	}
	call.Aim(h)
	if err := of.Ask(call); err != nil {
		w.FailAsk(call, err)
	}
}

// Asked is a message of Peer.Ask on its way. Only the runtime makes it.
type Asked[Rep any] struct {
	Of         Endpoint[Rep]
	Msg        Rep
	Begin, End uint64 // the channel's: where its bytes are among those of the connection
	released   bool
}

// Release implements stack.Releaser. The channel calls it once the message was written.
func (a *Asked[Rep]) Release() {
	if r, ok := any(&a.Msg).(stack.Releaser); ok && !a.released {
		r.Release()
	}
	a.released = true
}

// Close closes the connection, from a step of s, once all that was sent before is written: what s,
// or another actor of its worker, has sent, and what waits there for room. Requests in flight are
// cancelled, and what waits behind a part of a result is dropped with it. If the connection has
// gone nothing happens. The error is ErrMailboxFull, and then the connection, of another worker,
// isn't closed, or ErrStopped.
func (p Peer[Rep]) Close(s Running) error {
	return instruct(s, Pushed[Rep]{of: p.endpoint(), shut: true})
}

// PostClose is Close from a goroutine that is not a worker.
func (p Peer[Rep]) PostClose() error {
	of := p.endpoint()
	h := of.House()
	return stack.Tell(h.Owner().Guests, h, of.Pushing(), &Pushed[Rep]{of: of, shut: true})
}

// End ends this side of the connection, from a step of s, once all is written that was sent before:
// the other end reads to the end, and may go on sending. Messages get ErrStopped from then on, and
// results that aren't encoded yet are dropped, but for one of which a part was. If the other end
// has ended its side, too, see channel.Handler.WithEnded, the connection is closed, once requests
// in flight are answered. If it is closing, or has gone, nothing happens. The error is
// ErrMailboxFull, and then this side of the connection, of another worker, isn't ended, or
// ErrStopped.
func (p Peer[Rep]) End(s Running) error {
	return instruct(s, Pushed[Rep]{of: p.endpoint(), ends: true})
}

// instruct has a connection do p, which isn't a message: here, or on its own worker.
func instruct[Rep any](s Running, p Pushed[Rep]) error {
	if h := p.of.House(); h.Owner() != stack.Of(s).Engine() {
		return notice(s, h, p.of.Pushing(), nil, p)
	}
	return p.Do()
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
	ends bool // ends this side of it
	done bool // the connection has msg
}

// Do hands the message over. Only the connection's worker calls it, in its turn.
func (p *Pushed[Rep]) Do() error {
	p.done = true
	switch {
	case p.ends:
		p.of.Mute()
		return nil
	case p.shut:
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
