package channel

import (
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how messages that answer no request leave a connection: what actors send to its
// Peer. They go behind the results that are encoded; but not between the parts of one, so those
// that come meanwhile wait in rare.behind.

// Peer is a connection to whose other end messages of type Rep are sent: see [core.Peer].
type Peer[Rep any] = core.Peer[Rep]

// What other threads know of a connection: wire.known.
const (
	takes uint32 = iota // messages
	isFull
	isGone // or closing, or it takes no more requests
)

// rare is what a connection needs only when something unusual happens.
type rare struct {
	refused  error        // why the client is refused
	panicked any          // by the codec, outside of a step
	behind   output       // pushed while a result was written in part
	call     *stack.Stack // connecting: the ask of Connect
	seats    []*seat      // in audiences
	upgrade  upgrade
}

// rarely returns c.rare, made on first use.
func (c *conn[Req, Rep]) rarely() *rare {
	if c.rare == nil {
		c.rare = &rare{}
	}
	return c.rare
}

// hasPanicked reports whether the codec has panicked outside of a step: the next step panics in its
// place.
func (c *conn[Req, Rep]) hasPanicked() bool { return c.rare != nil && c.rare.panicked != nil }

// Pushing implements core.Endpoint.
func (c *conn[Req, Rep]) Pushing() *stack.Handler { return c.serve.pushing }

// Admit implements core.Endpoint.
func (c *conn[Req, Rep]) Admit() error {
	switch c.known.Load() {
	case isFull:
		c.serve.counts.dropped.Add(1)
		return core.ErrMailboxFull
	case isGone:
		c.serve.counts.dropped.Add(1)
		return core.ErrStopped
	}
	return nil
}

// tell lets other threads know whether the connection takes messages, if anybody knows it.
func (c *conn[Req, Rep]) tell() {
	now := takes
	switch {
	case c.addr == nil:
		return
	case !c.takes():
		now = isGone
	case c.overfull():
		now = isFull
	}
	if c.known.Load() != now {
		c.known.Store(now)
	}
}

// Push implements core.Endpoint.
func (c *conn[Req, Rep]) Push(msg Rep) (err error) {
	*c.pushed = msg
	switch {
	case c.takes() && c.overfull():
		err = core.ErrMailboxFull
	case !c.takes() || c.hasPanicked() || !c.encodeLate(c.Engine(), true) || !c.takes():
		err = core.ErrStopped
	default:
		c.Engine().Defer(&c.flush)
	}
	if err != nil {
		c.serve.counts.dropped.Add(1)
	}
	c.tell()
	if r, ok := any(c.pushed).(stack.Releaser); ok {
		r.Release()
	}
	var zero Rep
	*c.pushed = zero
	return err
}

// encodePush encodes c.pushed, behind the results that are there.
func (c *conn[Req, Rep]) encodePush(w *stack.Engine) {
	out := c.aside()
	room := out.reserve(&w.Shard, c.codec.Size(c.pushed, nil))
	out.commit(c.codec.Encode(room, c.pushed, nil))
}

// aside is where messages go that answer no request.
func (c *conn[Req, Rep]) aside() *output {
	if c.inParts {
		return &c.rarely().behind
	}
	return &c.out
}

// behind is how many bytes wait for the end of a result.
func (c *conn[Req, Rep]) behind() int {
	if c.rare == nil {
		return 0
	}
	return c.rare.behind.unsent
}

// Shut implements core.Endpoint.
func (c *conn[Req, Rep]) Shut() {
	if c.phase < deaf && !c.hasPanicked() && c.encodeLate(c.Engine(), false) && c.phase < deaf {
		c.goDeaf(c.Engine())
		c.Engine().Defer(&c.flush)
		c.schedule()
	}
}

// pushStack is a message from another worker, or a guest.
type pushStack[Rep any] struct {
	core.NoticeStack[core.Pushed[Rep]]
}

// push is the only step of what other workers, and guests, send to connections of an actor.
func push[A, Rep any](_ *A, s *pushStack[Rep]) core.Yield {
	s.Msg.Do() // if it fails, the connection has counted that
	return s.Return()
}
