package channel

import (
	"errors"
	"slices"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how the typed half of a connection is replaced: behind the result of a request the
// socket, its bytes and its stages pass to a conn of other types. A connection that is upgraded is
//
//	changing  by encode, behind that result: takes nothing in, and drops the requests behind it;
//	          when none is in flight any more, and the socket has everything, what came passes on
//	closed    by change: its Peer is that of a connection that has gone

// Protocol is what connections may become, served by actors of type A: see Upgrade. NewProtocol
// makes it. It may be used on all workers, and by many servers.
type Protocol[A, Req, Rep any] struct {
	service service[Req, Rep]
}

// NewProtocol returns what connections become that speak otherwise from some moment on. Of c it
// takes the codec, the bounds of one connection and the timeouts; the others are those of the
// server that accepted the connection, and so are its stages, and its TLS: c must have none. Any
// goroutine may call it.
func NewProtocol[A, Req, Rep any](c Config[Req, Rep], h Handler[A, Req, Rep]) (*Protocol[A, Req, Rep], error) {
	c, err := c.validate()
	if err == nil && (c.Stages != nil || c.TLS != nil || c.CodecFor != nil) {
		err = errors.New("channel: Config.Stages, TLS or CodecFor of a Protocol, whose connections have stages already")
	}
	if err != nil {
		return nil, err
	}
	p := &Protocol[A, Req, Rep]{}
	p.service = service[Req, Rep]{handlers: h.handlers, config: c}
	p.service.handle()
	return p, nil
}

// Stats returns what connections have counted since they speak this protocol: Accepted is how many
// there were, Conns, Rejected and AcceptFailures are the server's. Any goroutine may call it.
func (p *Protocol[A, Req, Rep]) Stats() Stats { return p.service.counts.stats() }

// Upgrade has the connection of s speak protocol p from the result of s on, which Return writes in
// the old one: bytes behind the request are p's. Requests in flight behind s are cancelled; the old
// Peer gets core.ErrStopped, an Audience doesn't hear by it any more, and whoever watches it is
// told of its end. Where the other end need not wait for the result, the old codec must have such
// requests Alone, or it decodes what is p's.
//
// Only a step of s may call it, before its last Return; if s ends with an error, or behind
// Peer.End, nothing changes. It panics if another actor than one of type A has the connection.
func Upgrade[S, Req, Rep, A, Next, Reply any, PS core.ChannelOf[S, Req, Rep]](s PS, p *Protocol[A, Next, Reply]) {
	in := stack.InboundOf(stack.Of(s))
	c := in.Conn.(*conn[Req, Rep])
	if _, its := c.house.Actor().(*A); !its {
		panic("channel: Upgrade to a Protocol of other actors than the one that has the connection")
	}
	r := c.rarely()
	r.upgrades = slices.DeleteFunc(r.upgrades, func(u upgrade) bool { return u.behind == in })
	r.upgrades = append(r.upgrades, upgrade{in, p})
}

// upgrade is what a connection becomes behind the result of a request. That of a request behind it
// which asks for one, too, doesn't come any more.
type upgrade struct {
	behind *stack.Inbound
	to     successor
}

// successor is a Protocol, as a connection of any types knows it.
type successor interface{ takeOver(from *wire, st *site) }

// upgrades reports whether the connection is upgraded behind the result of in: then to rare.next.
func (c *conn[Req, Rep]) upgrades(in *stack.Inbound) bool {
	if c.rare == nil || !in.Complete {
		return false
	}
	all := c.rare.upgrades
	i := slices.IndexFunc(all, func(u upgrade) bool { return u.behind == in })
	if i < 0 {
		return false
	}
	c.rare.next = all[i].to
	c.rare.upgrades = slices.Delete(all, i, i+1) // another request may be in the place of in next
	return in.Err() == nil && c.phase != refusing && !c.mute
}

// beginToChange is the transition to changing: requests behind the result are dropped.
func (c *conn[Req, Rep]) beginToChange(w *stack.Engine) {
	c.phase = changing
	c.cancel(w)
	c.discard(w)
	c.dropAside(w, false)
	c.schedule()
}

// change is the transition changing -> closed.
func (c *conn[Req, Rep]) change() core.Yield {
	st, to := c.site, c.rare.next
	c.partial = false
	c.leaveSeats()
	c.phase = closed
	c.known.Store(isGone)
	c.dropAside(c.Engine(), true)
	st.door.conns.Add(1) // st.remove stops counting c
	st.own.conns.Add(1)
	to.takeOver(&c.wire, st)
	c.leave() // its bytes have gone
	st.remove(c)
	c.tellClosed(true)
	return c.End()
}

// takeOver makes a connection of what from has, which is closed: the descriptor is the new one's.
func (p *Protocol[A, Req, Rep]) takeOver(from *wire, st *site) {
	c := p.service.conn(st, from.house, from.fd, new(core.Asked[Rep]))
	c.in, from.in = from.in, input{}
	c.about = from.about
	c.staged, from.staged = from.staged, nil
	c.urgent = from.urgent // all else that the socket has is told by the poller again
	p.service.counts.accepted.Add(1)
	st.add(c)
	st.poller.Remove(from.token, c.fd)
	var err error
	if c.token, err = st.poller.Add(c.fd, &c.wire); err != nil {
		c.cutOff(c.Engine())
	}
	if c.staged != nil {
		c.readable = c.staged.Ended()
		c.staged.moveTo(&c.wire)
	}
	if c.schedule(); st.draining {
		c.drain()
	}
}
