package channel

import (
	"math"

	"github.com/stackhouse-go/stackhouse/stack"
)

// intake is a site's part of Config.InputMax: bytes that were received and aren't answered. A
// connection
//
//	reads   freely while nobody waits and what it reads at once fits. Otherwise it
//	fills   its slab, all of which is counted. Who has less than inputMin, and nothing in flight,
//	        may have that much: small requests are served whoever has used up the rest
//	waits   in the line, if it can't read, has bytes to read, and has nothing in flight; what is in
//	        flight has it look again
//	leads   when it was the first in the line and nobody else leads, or there is room again: it
//	        reads one request to its end, whatever is used, and leads until that is answered, for
//	        Config.RequestTimeout at most if others wait
//
// Invariant: without what those hold that have led, used <= max + inputMin for each connection.
// Invariant: if somebody waits somebody leads, and has yet to read unless used >= max.
type intake struct {
	max, used int // bytes
	line      line
	leader    sharer // nil: nobody
	fresh     bool   // it has not read since: not even room for others takes the turn from it
	since     int64  // when it was told, ns
}

// count notes that a connection holds n bytes more, or less.
func (t *intake) count(n int) {
	t.used += n
	t.rouse()
}

// wait has c resume when it leads. It must not be waiting.
func (t *intake) wait(c sharer) {
	t.line.add(c)
	t.rouse()
}

// rouse has the first that waits lead, unless another one has to before.
func (t *intake) rouse() {
	if t.line.len() == 0 || t.leader != nil && (t.fresh || t.used >= t.max) {
		return
	}
	t.leader, t.fresh = t.line.take(), true
	t.leader.resume()
}

// read notes that c reads. What came must be counted before the next rouse.
func (t *intake) read(c sharer) {
	if t.leader == c {
		t.fresh = false
	}
}

// pass has the next lead, if c does.
func (t *intake) pass(c sharer) {
	if t.leader == c {
		t.leader = nil
		t.rouse()
	}
}

// mayRead is how many bytes may be read now, before a request can be whole that needs so many; 0:
// none, before others have been answered.
func (c *conn[Req, Rep]) mayRead(need int) int {
	t, in := &c.site.intake, &c.in
	switch {
	case t.line.len() == 0 && t.used-c.counted+in.grown(len(c.site.buffer), need)+c.inflight.Bytes() <= t.max:
		return math.MaxInt
	case c.leads() && c.inflight.Len() > 0:
		return 0
	case c.leads():
		return max(inputMin, need-in.len()) // of the next request less than inputMin
	case in.free() > 0:
		return in.free()
	case c.inflight.Len() == 0:
		return max(0, inputMin-in.len())
	}
	return 0
}

// blocked reports whether another request would have to be read, and may not be.
func (c *conn[Req, Rep]) blocked() bool {
	return c.readable && (c.in.len() == 0 || c.missing) && c.mayRead(c.need()) == 0
}

// settle lets go of what the connection doesn't need any more, and tells the intake.
func (c *conn[Req, Rep]) settle(w *stack.Worker) {
	if c.inflight.Len() == 0 {
		c.in.shrink(&w.Shard) // an idle connection holds no buffer
	}
	c.account()
	if t := &c.site.intake; c.inflight.Len() == 0 && c.in.len() < inputMin || c.phase >= deaf || c.hasLed(w.Now) {
		t.pass(c)
	} else {
		t.rouse() // it may have read
	}
}

// hasLed reports whether the connection has led for so long that others do, if they wait.
func (c *conn[Req, Rep]) hasLed(now int64) bool {
	t := &c.site.intake
	return t.line.len() > 0 && now-t.since >= int64(c.serve.config.RequestTimeout)
}

// leads reports whether it is the connection's turn.
func (c *conn[Req, Rep]) leads() bool { return c.site.intake.leader == sharer(c) }

// account counts what the connection holds: its slab, and what isn't in that of the requests in
// flight, at least.
func (c *conn[Req, Rep]) account() {
	if n := c.in.slab.Cap() + max(0, c.inflight.Bytes()-c.in.from) - c.counted; n != 0 {
		c.counted += n
		c.site.intake.count(n)
	}
}
