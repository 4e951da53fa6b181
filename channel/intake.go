package channel

import (
	"math"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// intake is a site's share of Config.InputMax: bytes that were received and aren't answered. A site
// has one for known clients, and one for strangers, with an eighth of the bound. A connection
//
//	reads   freely while no connection waits and what it reads at once fits. Otherwise it
//	fills   its slab, all of which is counted. With less than inputMin in it, and nothing in
//	        flight, it is filled to inputMin: small requests are served whoever uses up the rest
//	waits   in the line, if it can't read, has bytes to read, and has nothing in flight; each
//	        of its results has it look again
//	leads   when it was the first in the line and no other leads, or there is room again: it
//	        reads one request to its end, whatever is used, and leads until that is answered,
//	        for Config.RequestTimeout at most if others wait. While others wait its request
//	        must come at leadMin bytes in leadTime, or it is refused
//
// Invariant: without what former leaders hold, used <= max + inputMin for each connection.
// Invariant: if a connection waits one leads, which has yet to read unless used >= max.
type intake struct {
	max, used int // bytes
	line      line
	leader    waiter // nil: no connection leads
	yetToRead bool   // the leader has read nothing yet: it keeps the lead, even if there is room
	crowdedAt int64  // since when connections wait, ns; valid only while some do
}

const (
	// leadTime is longer than a live client falls silent amid a request, except on a bad network. A
	// connection behind n silent clients waits n times as long.
	leadTime = time.Second
	// leadMin is how many bytes a slow network carries in leadTime.
	leadMin = 32 << 10
)

// lead is what a connection needs only while it leads.
type lead struct {
	since int64 // when it began to lead, ns
	moved int64 // when it began to lead, or last had leadMin bytes more than had, ns
	had   int   // bytes of input at moved
	look  core.Future[core.Tick]
}

// count notes that a connection holds n bytes more, or fewer if n is negative.
func (t *intake) count(n int) {
	t.used += n
	t.wakeNext()
}

// wait puts c into the line; its resume is called when it leads. It must not be waiting.
func (t *intake) wait(c waiter, now int64) {
	if t.line.len() == 0 {
		t.crowdedAt = now
	}
	t.line.add(c)
	t.wakeNext()
}

// wakeNext lets the first in the line lead, if no connection leads, or the leader has read and
// there is room.
func (t *intake) wakeNext() {
	if t.line.len() == 0 || t.leader != nil && (t.yetToRead || t.used >= t.max) {
		return
	}
	t.leader, t.yetToRead = t.line.take(), true
	t.leader.resume()
}

// read notes that c reads. The bytes must be counted before the next wakeNext.
func (t *intake) read(c waiter) {
	if t.leader == c {
		t.yetToRead = false
	}
}

// pass ends the lead of c, if c leads, and lets the next one lead.
func (t *intake) pass(c waiter) {
	if t.leader == c {
		t.leader = nil
		t.wakeNext()
	}
}

// mayRead is how many bytes may be read now, if the next request has at least need. 0: none, until
// requests in flight are answered or the connection leads.
func (c *conn[Req, Rep]) mayRead(need int) int {
	t, in := c.intake, &c.in
	switch {
	case t.line.len() == 0 && t.used-c.counted+in.grown(len(c.tools.buffer), need)+c.inflight.bytes <= t.max:
		return math.MaxInt
	case c.leads() && c.inflight.n > 0:
		return 0
	case c.leads():
		return max(inputMin, need-in.len()) // reads less than inputMin of the next request
	case in.free() > 0:
		return in.free()
	case c.inflight.n == 0:
		return max(0, inputMin-in.len())
	}
	return 0
}

// blocked reports whether bytes must be read for another request, and may not be.
func (c *conn[Req, Rep]) blocked() bool {
	return c.readable && (c.in.len() == 0 || c.partial) && c.mayRead(c.need()) == 0
}

// giveBack releases memory that the connection doesn't need any more, and tells the intake.
func (c *conn[Req, Rep]) giveBack(w *stack.Engine) {
	if c.inflight.n == 0 {
		c.in.shrink(&w.Shard) // an idle connection holds no buffer
	}
	c.account()
	if t := c.intake; c.inflight.n == 0 && c.in.len() < inputMin || c.phase >= deaf || c.hasLed(w.Now) {
		t.pass(c)
	} else {
		t.wakeNext() // it may have read
	}
}

// beginToLead notes that the connection leads.
func (c *conn[Req, Rep]) beginToLead(now int64) {
	if c.lead == nil {
		c.lead = &lead{}
	}
	c.lead.since, c.lead.moved, c.lead.had = now, now, c.in.len()
}

// hasLed reports whether the connection has led for RequestTimeout while others wait to lead.
func (c *conn[Req, Rep]) hasLed(now int64) bool {
	return c.leads() && c.intake.line.len() > 0 && now-c.lead.since >= int64(c.serve.config.RequestTimeout)
}

// noteMove notes when leadMin more bytes have come of the request for which the connection leads.
func (c *conn[Req, Rep]) noteMove(now int64) {
	if c.leads() && c.in.len()-c.lead.had >= leadMin {
		c.lead.moved, c.lead.had = now, c.in.len()
	}
}

// stalls reports whether the connection leads, and in leadTime, while others waited, fewer than
// leadMin bytes came.
func (c *conn[Req, Rep]) stalls(now int64) bool {
	return c.leads() && c.inflight.n == 0 && c.intake.line.len() > 0 && now-c.keptSince() >= int64(leadTime)
}

// keptSince is since when others have waited for a leader whose request doesn't come on, ns.
func (c *conn[Req, Rep]) keptSince() int64 { return max(c.lead.moved, c.intake.crowdedAt) }

// leads reports whether the connection leads its intake.
func (c *conn[Req, Rep]) leads() bool { return c.intake.leader == waiter(c) }

// account has the intake count what the connection holds, at least: its slab, and the bytes of
// requests in flight that are in other slabs.
func (c *conn[Req, Rep]) account() {
	if n := c.in.slab.Cap() + max(0, c.inflight.bytes-c.in.from) - c.counted; n != 0 {
		c.counted += n
		c.intake.count(n)
	}
}

// isStranger reports whether the client has yet to prove that it may come in.
//
//go:noinline
func (c *conn[Req, Rep]) isStranger() bool {
	g, gated := c.codec.(Gated)
	return gated && g.Stranger()
}

// becomeKnown moves the connection of a former stranger to the intake of known clients.
func (c *conn[Req, Rep]) becomeKnown() {
	strangers := c.intake
	if c.inLine == &strangers.line {
		c.inLine.remove(c)
		c.inLine = nil
	}
	n := c.counted
	c.intake = &c.site.intake
	c.intake.count(n)
	strangers.count(-n)
	strangers.pass(c)
}
