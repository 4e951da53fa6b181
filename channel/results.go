package channel

import (
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
		if c.inflight.ended(s); c.phase < deaf && c.overfull() {
			c.holdBack()
		}
		// in case run is held with the front's requests: results aren't
		w.Defer(&c.flush)
		c.schedule()
	}
}

// offered is called when a request has offered a part of its result. Until there is room it
// doesn't count in the site's quota.
func (c *conn[Req, Rep]) offered(s *stack.Inbound) {
	w := c.Engine()
	if c.phase >= deaf {
		s.GoOn(w)
		return
	}
	c.site.quota.release()
	if c.inflight.hold(s); c.overfull() {
		c.holdBack()
	}
	w.Defer(&c.flush)
	c.schedule()
}

// overfull reports whether no further request may begin before results have left.
func (c *conn[Req, Rep]) overfull() bool {
	return c.out.unsent+c.inflight.heldBytes >= c.serve.config.OutputMax
}

// holdBack puts off requests that haven't begun. Until letBegin they don't count in the site's
// quota.
func (c *conn[Req, Rep]) holdBack() {
	for range c.inflight.holdBack() {
		c.site.quota.release()
	}
}

// letBegin lets as many of the requests held back begin as there is room for.
func (c *conn[Req, Rep]) letBegin(w *stack.Engine) {
	if c.inflight.heldBack == 0 || c.overfull() {
		return
	}
	n, aside := c.inflight.letBegin(w, c.site.quota.room(c))
	for range n {
		c.site.quota.acquire()
	}
	if !aside {
		c.schedule() // behind those not put aside yet
	}
}

// encode turns complete results into bytes, in the order of their requests,
// unless too many are unsent already.
func (c *conn[Req, Rep]) encode(w *stack.Engine) {
	if c.phase == deaf {
		c.discard(w)
		return
	}
	for c.inflight.ready() && c.out.unsent < c.serve.config.OutputMax {
		in := c.inflight.head
		rep, last, err := stack.Reply[Rep](&in.Stack), in.Last, in.Err()
		room := c.out.reserve(&w.Shard, c.codec.Size(rep, err))
		c.out.commit(c.codec.Encode(room, rep, err))
		if c.inflight.written(w) {
			var zero Rep
			*rep = zero
		}
		if last {
			c.goDeaf(w)
			return
		}
	}
	if c.inflight.waits() && c.out.unsent < c.serve.config.OutputMax {
		c.site.quota.acquire() // without waiting for room in it again
		c.inflight.head.GoOn(w)
	}
}

// due reports whether encode has something to do, if there is room.
func (c *conn[Req, Rep]) due() bool { return c.inflight.ready() || c.inflight.waits() }

// refuse tells the client, once it has the results in flight, that it can't be
// understood.
func (c *conn[Req, Rep]) refuse(w *stack.Engine) {
	if c.phase == refusing && c.inflight.n == 0 {
		room := c.out.reserve(&w.Shard, refusalMax)
		c.out.commit(c.codec.Refuse(room, c.refused))
		c.phase = ending
	}
}

// discard frees complete results that nobody will read.
func (c *conn[Req, Rep]) discard(w *stack.Engine) {
	for c.inflight.complete() {
		c.inflight.pop(w)
	}
}

// write is the deferred end of a turn: it encodes what run left, and sends.
func (c *conn[Req, Rep]) write() {
	if c.phase >= closing || c.panicked != nil {
		return
	}
	w := c.Engine()
	if c.due() {
		if !c.encodeLate(w) {
			return
		}
		c.giveBack(w)
	}
	if !c.writable {
		return
	}
	before := c.out.unsent
	err := c.out.send(c.fd, &c.site.iov, writeMax)
	if c.out.unsent < before {
		c.stuckAt, c.activeAt = 0, w.Now
	}
	switch {
	case err == netio.ErrAgain:
		c.writable = false
		if c.stuckAt == 0 {
			c.stuckAt = w.Now
			c.slowly().untaken, _ = netio.Unsent(c.fd)
			c.schedule() // to arm the write timeout
		}
	case err != nil:
		c.cutOff(w)
		c.schedule()
	default:
		if c.out.unsent > 0 { // others have their turn
			w.DeferOn(&c.flush)
		} else if c.due() {
			w.Defer(&c.flush)
		}
		if c.phase != open || c.due() || c.inflight.heldBack > 0 || !c.ownFull() && c.hasMore() {
			c.schedule()
		}
	}
}

// encodeLate is encode outside of a step: the next step repeats a panic of the codec. Then it
// reports false.
func (c *conn[Req, Rep]) encodeLate(w *stack.Engine) bool {
	defer func() {
		if c.panicked = recover(); c.panicked != nil {
			c.schedule()
		}
	}()
	c.encode(w)
	return true
}

// lookUntaken notes whether the client takes bytes while the socket doesn't: a system asks for more
// only when it has room for much.
func (c *conn[Req, Rep]) lookUntaken(now int64) {
	if c.stuckAt == 0 || c.writable {
		return
	}
	if n, known := netio.Unsent(c.fd); known && n < c.slow.untaken {
		c.stuckAt, c.slow.untaken = now, n
	}
}

// isStuck reports whether the client has taken nothing for WriteTimeout.
func (c *conn[Req, Rep]) isStuck(now int64) bool {
	if c.stuckAt == 0 || c.writable || now-c.stuckAt < int64(c.serve.config.WriteTimeout) {
		return false
	}
	if c.lookUntaken(now); c.stuckAt == now {
		return false
	}
	c.serve.counts.writeTimeouts.Add(1)
	return true
}
