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
	isGone // or closing, or its side has ended
)

// rare is what a connection needs only when something unusual happens.
type rare struct {
	refused  error        // why the client is refused
	panicked any          // by the codec, outside of a step
	behind   output       // messages that came while a result was written in part
	messages int          // bytes of messages in conn.out, about: see took
	call     *stack.Stack // connecting: the ask of Connect
	seats    []*seat      // in audiences
	upgrades []upgrade    // that requests in flight have asked for
	next     successor    // changing: to what
	watchers []watcher
	asks     *asks // nil: there was none
	shut     bool  // it closes once no ask waits for room, see Shut
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

// takes reports whether messages may be sent to the other end.
func (c *conn[Req, Rep]) takes() bool { return c.phase >= open && c.phase <= half && !c.mute }

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
	case c.about == nil:
		return
	case !c.takes():
		now = isGone
	case c.crowded():
		now = isFull
	}
	if c.known.Load() != now {
		c.known.Store(now)
	}
}

// Push implements core.Endpoint.
func (c *conn[Req, Rep]) Push(msg Rep) error {
	c.pushed.Msg = msg
	err := c.push(c.pushed)
	if err != nil {
		c.serve.counts.dropped.Add(1)
	}
	c.pushed.Release()
	*c.pushed = core.Asked[Rep]{}
	return err
}

// push encodes a message behind the results that are there, if there is room.
func (c *conn[Req, Rep]) push(m *core.Asked[Rep]) error {
	w, err := c.Engine(), core.ErrStopped
	if c.takes() && !c.hasPanicked() {
		err = c.encodeLate(w, m)
	}
	if err == nil {
		w.Defer(&c.flush)
	}
	c.tell()
	return err
}

// encodeMessage encodes a message, unless it must wait.
func (c *conn[Req, Rep]) encodeMessage(w *stack.Engine, m *core.Asked[Rep]) error {
	switch {
	case !c.takes():
		return core.ErrStopped
	case c.crowded():
		return core.ErrMailboxFull
	}
	c.putAside(w, m)
	return nil
}

// crowded reports whether no message may be encoded: before results that are due, for which there
// is no room, or because too many bytes of messages are unsent. After encode no ask waits unless it
// does.
func (c *conn[Req, Rep]) crowded() bool {
	return c.inflight.ready() || c.rare != nil && c.rare.messages+c.rare.behind.unsent >= c.serve.config.OutputMax
}

// unsentResults is how many bytes of results are unsent, about.
func (c *conn[Req, Rep]) unsentResults() int {
	if c.rare == nil {
		return c.out.unsent
	}
	return c.out.unsent - c.rare.messages
}

// putAside encodes a message, and notes where in its output.
func (c *conn[Req, Rep]) putAside(w *stack.Engine, m *core.Asked[Rep]) {
	out := c.aside()
	before := out.unsent
	if c.inflight.unordered {
		c.answering(nil)
	}
	room := out.reserve(&w.Shard, c.codec.Size(&m.Msg, nil))
	out.commit(c.codec.Encode(room, &m.Msg, nil))
	m.Begin, m.End = uint64(before), uint64(out.unsent)
	c.countAside(out, before)
}

// aside is where messages go that answer no request.
func (c *conn[Req, Rep]) aside() *output {
	if c.amidResult() {
		return &c.rarely().behind
	}
	return &c.out
}

// amidResult reports whether the last thing encoded was a part of a result.
func (c *conn[Req, Rep]) amidResult() bool { return c.inflight.inParts && !c.dropping }

// countAside counts the message that was put into out, where before bytes were unsent.
func (c *conn[Req, Rep]) countAside(out *output, before int) {
	if out == &c.out {
		c.rarely().messages += out.unsent - before
	}
}

// joinAside puts messages that have waited for the end of a result behind it.
func (c *conn[Req, Rep]) joinAside() {
	r := c.rare
	c.joinAsks()
	if r.behind.unsent > 0 {
		r.messages += r.behind.unsent
		c.out.join(&r.behind)
	}
}

// took notes that the system has taken bytes of c.out, of which before were unsent. Results and
// messages count as well mixed there: so each have their share of what leaves, and the sum is
// right.
func (c *conn[Req, Rep]) took(w *stack.Engine, before int) {
	n, r := before-c.out.unsent, c.rare
	if n > 0 {
		r.messages -= int(int64(n) * int64(r.messages) / int64(before))
	}
	if r.asks != nil {
		r.asks.taken += uint64(n)
		c.answerTaken(w)
	}
}

// Shut implements core.Endpoint. Requests in flight are cancelled by run: a step of one of them may
// have called it.
func (c *conn[Req, Rep]) Shut() {
	w := c.Engine()
	if c.phase < deaf && !c.hasPanicked() && c.encodeLate(w, nil) == nil && c.phase < deaf {
		if c.phase < changing {
			c.phase = ending
			c.in.drop()
		}
		c.rarely().shut = true
		w.Defer(&c.flush)
		c.schedule()
		c.tell()
	}
}

// Mute implements core.Endpoint. half -> ending; otherwise run ends this side.
func (c *conn[Req, Rep]) Mute() {
	if c.takes() && !c.hasPanicked() && c.encodeLate(c.Engine(), nil) == nil && c.takes() {
		if c.phase == half {
			c.phase = ending
		} else {
			c.mute = true
		}
		c.Engine().Defer(&c.flush)
		c.schedule()
		c.tell()
	}
}

// shuts reports whether Shut was called, and all is written that was sent before.
func (c *conn[Req, Rep]) shuts() bool {
	return c.rare != nil && c.rare.shut && c.phase < deaf && (c.inflight.inParts || !c.asksWait())
}

// endSide ends this side of the connection, if it is to end and all is sent. Only a step calls it.
func (c *conn[Req, Rep]) endSide() {
	if c.mute && !c.muted && (c.dropping || !c.inflight.inParts) && c.out.unsent == 0 && !c.asksWait() && c.saidAll() {
		c.muted = true
		c.net().Shutdown(c.fd, true) // if it fails, reading does
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
