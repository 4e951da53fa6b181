package channel

import (
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how results leave a connection.

// ended is called when a request in flight has ended.
func (c *conn[Req, Rep]) ended(s *stack.Inbound) {
	c.working--
	if !s.IsHeldBack() && !s.AtPart() {
		c.site.quota.release()
	}
	switch w := c.Engine(); c.phase {
	case closing: // close discards it
	case closed:
		c.discard(w)
		c.account()
	default:
		c.activeAt = w.Now // the client has waited for the result; it may have no bytes
		if c.inflight.ended(s); c.phase < deaf && c.overfull() {
			c.holdBack()
		}
		// a held front doesn't run run, but results are written
		w.Defer(&c.flush)
		c.schedule()
	}
}

// offered is called when a request has offered a part of its result. Until there is room for the
// next part the request doesn't count in the site's quota.
func (c *conn[Req, Rep]) offered(s *stack.Inbound) {
	w := c.Engine()
	if c.phase >= changing {
		s.GoOn(w)
		return
	}
	c.site.quota.release()
	if c.inflight.offered(s); c.overfull() {
		c.holdBack()
	}
	w.Defer(&c.flush)
	c.schedule()
}

// overfull reports whether no further request may begin before results have left.
func (c *conn[Req, Rep]) overfull() bool {
	return c.unsentResults()+c.inflight.heldBytes >= c.serve.config.OutputMax
}

// holdBack keeps requests that haven't begun from beginning. Until letBegin they don't count in the
// site's quota.
func (c *conn[Req, Rep]) holdBack() {
	for range c.inflight.holdBack() {
		c.site.quota.release()
	}
}

// letBegin lets requests that were held back begin, as many as the quota has room for.
func (c *conn[Req, Rep]) letBegin(w *stack.Engine) {
	if c.inflight.mayBegin() == 0 || c.overfull() {
		return
	}
	n, aside := c.inflight.letBegin(w, c.site.quota.room(c))
	for range n {
		c.site.quota.acquire()
	}
	if !aside {
		c.schedule() // run comes after the requests still in the lane
	}
}

// encode turns results into bytes, in the order of inflight, until OutputMax bytes are unsent. It
// writes the parts of the first request too, and lets that request go on. Behind the results it
// encodes asks that wait.
func (c *conn[Req, Rep]) encode(w *stack.Engine) {
	if c.phase >= changing {
		c.discard(w)
		return
	}
	for c.inflight.ready() && c.unsentResults() < c.serve.config.OutputMax {
		in := c.inflight.head
		rep, last, err := stack.Reply[Rep](&in.Stack), in.Last, in.Err()
		upgrades, dropped := c.upgrades(in), c.mute && (c.dropping || !c.inflight.inParts)
		if !dropped {
			if c.inflight.unordered {
				c.answering(stack.Request[Req, Rep](&in.Stack))
			}
			room := c.out.reserve(&w.Shard, c.codec.Size(rep, err))
			c.out.commit(c.codec.Encode(room, rep, err))
		}
		goesOn := c.inflight.written(w)
		c.dropping = dropped && goesOn
		switch {
		case last:
			c.goDeaf(w)
			return
		case upgrades:
			c.beginToChange(w)
			return
		case goesOn:
			var zero Rep
			*rep = zero
		case c.rare != nil:
			c.joinAside()
		}
	}
	if c.inflight.waits() && c.unsentResults() < c.serve.config.OutputMax {
		c.site.quota.acquire() // even if it is used up
		c.inflight.head.GoOn(w)
	}
	if c.rare != nil {
		c.encodeAsks(w)
	}
}

// answering tells the codec, which is Unordered, what is encoded next.
func (c *conn[Req, Rep]) answering(req *Req) { c.codec.(Unordered[Req]).Answering(req) }

// due reports whether encode has something to do, if there is room.
func (c *conn[Req, Rep]) due() bool {
	return c.inflight.ready() || c.inflight.waits() || c.asksWait() && !c.crowded()
}

// refuse tells a refused client why, once the results in flight are encoded.
func (c *conn[Req, Rep]) refuse(w *stack.Engine) {
	if c.phase == refusing && c.inflight.n == 0 && !c.asksWait() {
		if !c.mute {
			room := c.out.reserve(&w.Shard, refusalMax)
			c.out.commit(c.codec.Refuse(room, c.rare.refused))
		}
		c.phase = ending
	}
}

// discard frees the first requests that are complete: nobody reads their results.
func (c *conn[Req, Rep]) discard(w *stack.Engine) {
	for c.inflight.complete() {
		c.inflight.pop(w)
	}
}

// write is the work of flush, at the end of a turn: it encodes results that run left, and sends.
func (c *conn[Req, Rep]) write() {
	if c.phase >= closing || c.hasPanicked() {
		return
	}
	if c.enough {
		c.enough = false
		c.schedule()
	}
	w := c.Engine()
	if c.due() {
		if c.encodeLate(w, nil) != nil {
			return
		}
		c.giveBack(w)
	}
	defer c.tell()
	if !c.writable {
		return
	}
	before := c.out.unsent
	err := c.send(w.Now)
	if c.rare != nil {
		c.took(w, before)
	}
	if c.sender && c.out.unsent < before {
		c.codec.(Sender[Rep]).Room()
	}
	switch {
	case err == netio.ErrAgain:
	case err != nil:
		c.cutOff(w)
		c.schedule()
	case c.heldUnsent(): // the stages tell when they take more
		c.noteHeld()
	default:
		if c.toSend() { // others have their turn
			w.DeferOn(&c.flush)
		} else if c.due() {
			w.Defer(&c.flush)
		}
		if c.phase != open || c.due() || c.mute && !c.muted || c.inflight.mayBegin() > 0 || !c.ownFull() && c.hasMore() {
			c.schedule()
		}
	}
}

// encodeLate is encode outside of a step, and then, if m isn't nil, encodeMessage, whose error it
// returns. If the codec panics the error is core.ErrStopped, and the next step panics in its place.
func (c *conn[Req, Rep]) encodeLate(w *stack.Engine, m *core.Asked[Rep]) (err error) {
	defer func() {
		if value := recover(); value != nil {
			c.rarely().panicked = value
			c.schedule()
			err = core.ErrStopped
		}
	}()
	c.encode(w)
	if m != nil {
		err = c.encodeMessage(w, m)
	}
	return err
}

// clientIsStuck reports whether the client has taken nothing for WriteTimeout.
func (c *conn[Req, Rep]) clientIsStuck(now int64) bool {
	if !c.isStuck(now, c.serve.config.WriteTimeout) {
		return false
	}
	c.serve.counts.writeTimeouts.Add(1)
	return true
}
