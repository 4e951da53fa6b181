package channel

import (
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Audience is connections to which the same messages are sent: those of a chat room, or of a feed's
// subscribers. It belongs to one actor, whose steps alone may call its methods; NewAudience makes
// it. A message is encoded once, and crosses to each other worker once, however many connections
// hear it there. A connection that ends leaves by itself.
//
// A connection that is full, see Config.OutputMax, misses messages, which its server counts in
// Stats.Dropped. Otherwise it hears all that were sent between Join and Leave, in order, and in
// order with what the same actor sends it by Peer.Notice from a step of its own worker.
type Audience[Rep any] struct {
	codec    Encoder[Rep]
	msg      Rep // is being encoded
	branches []*branch
	n        *atomic.Int64
}

// Encoder is the part of a Codec that makes bytes of messages.
type Encoder[Rep any] interface {
	Size(rep *Rep, err error) int
	Encode(out []byte, rep *Rep, err error) []byte
}

// branch is the members of an Audience whose connections belong to one actor. It belongs to the
// worker of that actor.
type branch struct {
	port    core.NoticePort[hearing]
	house   *stack.House
	members []*seat
	n       *atomic.Int64 // of the Audience
}

// seat is the place of a connection in a branch.
type seat struct {
	of     listener
	branch *branch
	at     int // in branch.members
}

// listener is a conn of any types, as an Audience knows it.
type listener interface {
	House() *stack.House
	hearing() *stack.Handler
	hear(text pool.Bytes)
	seats() *[]*seat
}

// hearing is what a branch is told.
type hearing struct {
	to   *branch
	of   listener   // who joins, or leaves; nil: text is for all
	join bool       // otherwise of leaves
	text pool.Bytes // with a count of its own
}

// Release implements stack.Releaser.
func (m *hearing) Release() {
	m.text.Release()
	m.text = pool.Bytes{}
}

// NewAudience returns an Audience without members, whose messages codec encodes: one that no
// connection uses. All members get the same bytes, so a codec whose bytes depend on what was
// negotiated with a client needs an Audience for each outcome.
func NewAudience[Rep any](codec Encoder[Rep]) *Audience[Rep] {
	return &Audience[Rep]{codec: codec, n: &atomic.Int64{}}
}

// Len returns how many connections hear, as far as their workers have told.
func (a *Audience[Rep]) Len() int { return int(a.n.Load()) }

// Join has the connection of p hear what is sent from now on; if it does already, nothing happens.
// The error is ErrMailboxFull if the connection belongs to another worker, and its actor's mailbox
// is full.
func (a *Audience[Rep]) Join(s core.Running, p Peer[Rep]) error { return a.seat(s, p, true) }

// Leave has the connection of p hear no more.
func (a *Audience[Rep]) Leave(s core.Running, p Peer[Rep]) error { return a.seat(s, p, false) }

func (a *Audience[Rep]) seat(s core.Running, p Peer[Rep], join bool) error {
	of, ok := core.EndpointOf(p).(listener)
	if !ok {
		panic("channel: an Audience of the zero Peer")
	}
	return a.branchOf(of).tell(s, hearing{of: of, join: join})
}

// branchOf returns the branch of the actor that has the connection, made on first use.
func (a *Audience[Rep]) branchOf(of listener) *branch {
	h := of.House()
	for _, b := range a.branches {
		if b.house == h {
			return b
		}
	}
	b := &branch{port: core.NoticePortOf[hearing](h, of.hearing()), house: h, n: a.n}
	a.branches = append(a.branches, b)
	return b
}

// Notice sends msg to all members. If the mailboxes of actors on other workers are full, their
// members miss it, and the error is ErrMailboxFull. A message that has a Release method was
// released when Notice returns.
func (a *Audience[Rep]) Notice(s core.Running, msg Rep) (err error) {
	a.msg = msg
	text := a.encode(&stack.Of(s).Engine().Shard)
	if r, ok := any(&a.msg).(stack.Releaser); ok {
		r.Release()
	}
	var zero Rep
	a.msg = zero
	stand := a.branches[:0]
	for _, b := range a.branches {
		if e := b.tell(s, hearing{text: text.Retain()}); e == core.ErrMailboxFull {
			err = e
		}
		if !b.house.Gone() {
			stand = append(stand, b)
		}
	}
	clear(a.branches[len(stand):])
	a.branches = stand
	text.Release()
	return err
}

// encode returns the bytes of a.msg.
func (a *Audience[Rep]) encode(s *pool.Shard) pool.Bytes {
	size := a.codec.Size(&a.msg, nil)
	b := s.Bytes(size)
	text := a.codec.Encode(b.B()[:0], &a.msg, nil)
	if len(text) > size || len(text) > 0 && &text[0] != &b.B()[0] {
		panic("channel: Encode appended more than Size said, or to other bytes")
	}
	return b.Slice(0, len(text))
}

// tell has the branch do what m says: at once if it belongs to the worker of s. The actor's mailbox
// keeps the order of what comes from elsewhere.
func (b *branch) tell(s core.Running, m hearing) error {
	m.to = b
	if b.house.Owner() != stack.Of(s).Engine() {
		return b.port.Notice(s, m)
	}
	m.do()
	m.Release()
	return nil
}

// do does what m says. Only the branch's worker calls it.
func (m *hearing) do() {
	switch {
	case m.of == nil:
		for _, s := range m.to.members {
			s.of.hear(m.text)
		}
	case m.join:
		m.to.add(m.of)
	default:
		for _, s := range *m.of.seats() {
			if s.branch == m.to {
				s.leave()
				return
			}
		}
	}
}

// add gives a connection a seat, unless it has one. One that is closed has seats no more.
func (b *branch) add(of listener) {
	all := of.seats()
	if all == nil {
		return
	}
	for _, s := range *all {
		if s.branch == b {
			return
		}
	}
	s := &seat{of, b, len(b.members)}
	b.members = append(b.members, s)
	*all = append(*all, s)
	b.n.Add(1)
}

// leave gives up a seat. The last member takes it.
func (s *seat) leave() {
	b := s.branch
	last := b.members[len(b.members)-1]
	b.members[s.at], last.at = last, s.at
	b.members[len(b.members)-1] = nil
	b.members = b.members[:len(b.members)-1]
	b.n.Add(-1)
	all := s.of.seats()
	for i, t := range *all {
		if t == s {
			*all = append((*all)[:i], (*all)[i+1:]...)
			return
		}
	}
}

// hearStack is a hearing that comes from another worker.
type hearStack struct{ core.NoticeStack[hearing] }

// hear is the only step of what an Audience tells connections of other workers.
func hear[A any](_ *A, s *hearStack) core.Yield {
	s.Msg.do()
	return s.Return()
}

func (c *conn[Req, Rep]) hearing() *stack.Handler { return c.serve.hearing }

// seats implements listener; nil: the connection has closed.
func (c *conn[Req, Rep]) seats() *[]*seat {
	if c.phase >= closing {
		return nil
	}
	return &c.rarely().seats
}

// leaveSeats has the connection, which is about to close, hear no more.
func (c *conn[Req, Rep]) leaveSeats() {
	if c.rare == nil {
		return
	}
	for len(c.rare.seats) > 0 {
		c.rare.seats[0].leave()
	}
}

// hear implements listener.
func (c *conn[Req, Rep]) hear(text pool.Bytes) {
	w := c.Engine()
	if !c.takes() || c.hasPanicked() || c.encodeLate(w, nil) != nil || !c.takes() || c.crowded() {
		c.serve.counts.dropped.Add(1)
	} else {
		out := c.aside()
		before := out.unsent
		out.share(&w.Shard, text)
		c.countAside(out, before)
		w.Defer(&c.flush)
	}
	c.tell()
}
