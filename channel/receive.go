package channel

import (
	"io"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how a connection takes requests in.

// reads reports whether requests may come in.
func (c *conn[Req, Rep]) reads() bool { return c.phase == open || c.phase == leaving }

// full reports whether results must leave before more requests may come in: results of this
// connection, or of others.
func (c *conn[Req, Rep]) full() bool {
	return c.ownFull() || c.site.quota.full(c)
}

// ownFull reports whether results of this connection must leave before more of its requests may
// come in.
func (c *conn[Req, Rep]) ownFull() bool {
	return !c.inflight.admits(c.serve.config.InflightMax) || c.overfull()
}

// queueUp puts the connection into a line, if it can't go on before requests of other connections
// end or their bytes are given back. Until its own results leave it has nothing to wait for there.
func (c *conn[Req, Rep]) queueUp() {
	q, blocked := &c.site.quota, c.reads() && c.blocked()
	q.pass(c)
	switch {
	case c.inLine != nil:
	case q.full(c) && (c.reads() && c.hasMore() && !blocked && !c.ownFull() || c.phase < deaf && c.inflight.mayBegin() > 0 && !c.overfull()):
		c.inLine = &q.line
		q.wait(c)
	case blocked && c.inflight.n == 0 && !c.ownFull():
		c.inLine = &c.intake.line
		c.intake.wait(c, c.Engine().Now)
	}
}

// leave takes the connection out of its line, and gives up the place or the lead that it was woken
// for.
func (c *conn[Req, Rep]) leave() {
	if c.inLine != nil {
		c.inLine.remove(c)
		c.inLine = nil
	}
	c.site.quota.pass(c)
	c.account()
	c.intake.pass(c)
}

// hasMore reports whether another request may have come.
func (c *conn[Req, Rep]) hasMore() bool { return c.readable || c.in.len() > 0 && !c.partial }

// resume implements waiter. The connection has left its line: it schedules run.
func (c *conn[Req, Rep]) resume() {
	c.inLine = nil
	c.activeAt = c.Engine().Now // it couldn't be active while it waited
	if c.leads() {
		c.beginToLead(c.activeAt)
	}
	c.schedule()
}

// receive reads and decodes until the socket has no more bytes, a limit stops it, or the connection
// has had its share of the turn.
func (c *conn[Req, Rep]) receive(w *stack.Engine) {
	for reads, skips := 0, skipsMax; ; reads++ {
		skips = c.decode(w, skips)
		switch {
		case c.phase == leaving && (!c.readable && !c.readingHeld() || c.toRead <= 0) && (c.in.len() == 0 || c.partial):
			c.phase = ending
			c.in.drop()
			return
		case !c.reads() || c.full() || c.enough:
			return
		case skips == 0:
			c.schedule() // other connections have their turn
			return
		case !c.readable:
			return
		case reads == readsMax:
			c.schedule()
			return
		}
		need := c.need()
		most := c.mayRead(need)
		if most == 0 {
			return
		}
		c.read(w, most, need)
	}
}

// need is how many bytes the first request of the input has at least.
func (c *conn[Req, Rep]) need() int {
	if c.partial {
		return c.codec.Need()
	}
	return 1
}

// read reads once, most bytes at most, of a request that has at least need bytes.
func (c *conn[Req, Rep]) read(w *stack.Engine, most, need int) {
	c.intake.read(c)
	n, err := c.fill(w, most, need)
	c.openLate()
	c.toRead -= int32(n)
	switch err {
	case nil, netio.ErrAgain:
	case io.EOF:
		c.hearEnd()
	default:
		c.answerConnect(err)
		c.cutOff(w)
	}
}

// hearEnd notes that the other end has ended its side: open -> half, if the actor wants to hear of
// it and this side goes on; otherwise open, leaving -> ending.
func (c *conn[Req, Rep]) hearEnd() {
	was := c.phase
	c.phase = ending
	c.in.drop() // the start of a request whose end won't come
	if by := c.serve.ended; by != nil && was == open && !c.mute && !c.isUnopened() {
		c.phase = half
		c.Introduce()
		core.NoticePortOf[Ended[Rep]](c.house, by).Insist(&c.Stack, Ended[Rep]{core.PeerOf[Rep](c)})
	}
}

// decode starts a handler for every whole request that was received. It skips bytes that ask for
// nothing at most skips times, and returns how many skips are left.
func (c *conn[Req, Rep]) decode(w *stack.Engine, skips int) int {
	for c.in.len() > 0 && !c.partial && skips > 0 && c.reads() && !c.full() && !c.enough {
		if c.decodeOne(w, c.in.rest()) {
			skips--
		}
	}
	return skips
}

// decodeOne decodes a request from the start of in. It reports whether the codec skipped bytes
// instead.
func (c *conn[Req, Rep]) decodeOne(w *stack.Engine, in []byte) (skipped bool) {
	s := w.Receive(c.House(), c.serve.by, c, c.serve.config.deadline(w.Now))
	c.decoding = s // if the codec panics, close gives it back
	req := stack.Request[Req, Rep](&s.Stack)
	n, err := c.codec.Decode(in, req)
	if uint(n) > uint(len(in)) {
		panic("channel: Decode took other bytes than it got")
	}
	whole := n > 0 && err == nil
	alone := whole && c.loner && c.codec.(Alone[Req]).Alone(req)
	c.decoding = nil
	if whole {
		c.accept(w, s, c.in.slab.Slice(c.in.from, c.in.from+n), alone)
		c.in.from += n
		c.activeAt, c.owedAt = w.Now, 0
		if c.intake == &c.site.strangers && !c.isStranger() {
			c.becomeKnown()
		}
		return false
	}
	w.Discard(&s.Stack)
	switch {
	case (err == ErrSkip || err == ErrEnough) && n > 0:
		c.in.from += n
		c.owedAt = 0
		if err == ErrEnough {
			c.enough = true
			w.Defer(&c.flush) // which ends it
		}
		return true
	case err != nil:
		c.serve.counts.refused.Add(1)
		c.refuseWith(err)
	default:
		c.partial = true
		c.activeAt = w.Now
	}
	return false
}

// accept starts the handler of s, which was decoded from input, or has s wait until it is alone. If
// WorkMax requests are without a result s gets core.ErrOverloaded instead; but not if nothing can
// come in behind it.
func (c *conn[Req, Rep]) accept(w *stack.Engine, s *stack.Inbound, input pool.Bytes, alone bool) {
	if c.working < c.serve.config.WorkMax || alone {
		c.working++
		c.site.quota.acquire()
		if !c.inflight.accept(w, s, input, alone) {
			c.site.quota.release() // until letBegin
		}
		return
	}
	c.serve.counts.overloaded.Add(1)
	c.inflight.refuse(s, input, core.ErrOverloaded) // encoded in its turn
	if c.due() {
		w.Defer(&c.flush) // which may be now
	}
}

// refuseWith drops the input, and has the client told err behind the results in flight.
func (c *conn[Req, Rep]) refuseWith(err error) {
	c.rarely().refused = err
	c.phase = refusing
	c.in.drop()
}

// timeRequest refuses a client whose request takes too long to arrive. Time counts only while the
// connection is read.
func (c *conn[Req, Rep]) timeRequest(now int64) {
	c.noteMove(now)
	waits := (c.partial || c.stagesWait()) && !c.readingHeld() && c.reads() && !c.full() && !c.blocked()
	switch {
	case waits && (!c.readable && c.stalls(now) || c.owedAt != 0 && now-c.owedAt >= int64(c.requestTimeout())):
		c.serve.counts.requestTimeouts.Add(1)
		c.refuseWith(ErrSlowRequest)
	case !waits || c.serve.config.RequestTimeout == never:
		c.owedAt = 0
	case c.owedAt == 0:
		c.owedAt = now
	}
}

// requestTimeout is how long the unfinished request may take in all. While the intake is used up a
// long one is given no more time than a short one.
func (c *conn[Req, Rep]) requestTimeout() time.Duration {
	if t := c.intake; t.used >= t.max {
		return c.serve.config.requestTimeout(0)
	}
	return c.serve.config.requestTimeout(c.in.len())
}
