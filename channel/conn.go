package channel

import (
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

const (
	// readsMax is how many reads a connection makes in one of its turns, before
	// others have theirs.
	readsMax = 1
	// writeMax is how many bytes it sends at the end of a turn. The system may hand them to their
	// reader on this CPU: 1 MiB takes as long as two turns.
	writeMax = 64 << 10
	// skipsMax is how often it may skip bytes that ask for nothing: they take as long as a request
	// or two, which are a message each.
	skipsMax = 16
	// readMax is the largest Config.ReadSize.
	readMax = pool.SlabMax
	// stuckLooks is how often in WriteTimeout it looks whether the client takes anything, though
	// the socket doesn't.
	stuckLooks = 4
	// leaveBytes is how much a connection reads on when the server drains. What a client sent
	// before comes to less.
	leaveBytes = 1 << 20
)

// phase is a connection's life. It only ever goes forward.
//
//	open      reads, decodes, answers
//	leaving   the server drains: the same, until what had arrived is read; then ending
//	refusing  the client sent what can't be decoded: takes nothing in; when all in
//	          flight is answered the client is told; then ending
//	ending    takes nothing in; when nothing is in flight or unsent it lingers, or closes if
//	          the client has ended its side, which leads here too
//	deaf      the same, and results are dropped: behind the last result; and, to be closed without
//	          lingering, after a failure of the socket, or when the server cuts off
//	lingering all is sent: waits for the client's end, see linger.go
//	closing   what is in flight is being cancelled
//	closed    the descriptor is closed; requests still under way end unheard
type phase uint8

const (
	open phase = iota
	leaving
	refusing
	ending
	deaf
	lingering
	closing
	closed
)

// conn is one accepted connection. It is an owned stack of the house that serves
// it, pushed whenever there is something to do; all its fields belong to that
// house's worker. It has 632 bytes, which the allocator makes 640; one more would be 704.
type conn[Req, Rep any] struct {
	stack.Stack
	site  *site
	serve *service[Req, Rep]
	codec Codec[Req, Rep] // nil until the first turn
	fd    int
	token netio.Token
	addr  string // of the client, once a request has asked for it

	phase    phase
	queued   bool  // pushed, and not run yet
	readable bool  // the socket may have bytes
	urgent   bool  // a read may leave bytes, as at urgent data or a message with descriptors
	writable bool  // the socket may take bytes
	hungUp   bool  // the client ended, or broke, its side
	suspect  bool  // hungUp was set since the last look
	eof      bool  // all that it sent, up to its end, was read
	cut      bool  // closes at once, without lingering
	hasAddr  bool  // addr is known: it isn't written again, as others may read it
	partial  bool  // in begins with a part of a request only; until more was read
	toRead   int32 // leaving: bytes left to read
	refused  error // why the client is refused
	panicked any   // by the codec, outside of a step
	inLine   *line // the one that it stands in, of the site's quota or its intake; nil: none

	in       input
	intake   *intake        // the one that counts it, of the site's two
	lead     *lead          // non-nil: it leads, or did
	counted  int            // bytes, by the intake
	decoding *stack.Inbound // the request that Decode is at
	inflight inflight
	working  int // requests in flight that have no result yet
	out      output
	flush    stack.Deferred

	activeAt int64 // when a request, or a part of one, last came, or the last of a result went, ns
	owedAt   int64 // since when the client could have sent the rest of a request, ns; 0: it has
	// since when neither the socket nor, as far as known, the client takes bytes, ns; 0: they do
	stuckAt int64
	idle    core.Future[core.Tick]
	slow    *slow   // non-nil: owedAt or stuckAt was set
	linger  *linger // non-nil: it lingers

	prev, next connection // among the site's
}

// slow is what a connection needs only when its client lets a request or a result wait.
type slow struct {
	owed    core.Future[core.Tick]
	stuck   core.Future[core.Tick]
	untaken int // bytes that the client had yet to take at stuckAt, as far as known
}

// slowly returns what the connection needs as its client is slow.
func (c *conn[Req, Rep]) slowly() *slow {
	if c.slow == nil {
		c.slow = &slow{}
	}
	return c.slow
}

// Ready is called by the poller, in the worker's turn.
func (c *conn[Req, Rep]) Ready(r netio.Ready) {
	c.readable = c.readable || r&(netio.Readable|netio.Closed) != 0
	c.writable = c.writable || r&netio.Writable != 0
	c.urgent = c.urgent || r&netio.Urgent != 0
	if r&netio.Closed != 0 {
		c.hungUp, c.suspect = true, true
	}
	if c.writable && c.out.unsent > 0 && c.phase < closing {
		c.Engine().Defer(&c.flush)
	}
	if c.readable || c.out.unsent > 0 {
		c.schedule()
	}
}

// Introduce implements core.Endpoint.
func (c *conn[Req, Rep]) Introduce() {
	if !c.hasAddr && c.phase != closed {
		c.addr, c.hasAddr = netio.RemoteAddr(c.fd), true
	}
}

// Addr implements core.Endpoint.
func (c *conn[Req, Rep]) Addr() string { return c.addr }

// schedule has run called in a turn of the house.
func (c *conn[Req, Rep]) schedule() {
	if !c.queued && c.phase < closing {
		c.queued = true
		c.Engine().Push(c.House(), &c.Stack)
	}
}

// run is the step of the connection when it was pushed.
func (c *conn[Req, Rep]) run() core.Yield {
	c.queued = false
	if c.phase == closed {
		return c.End()
	}
	if c.codec == nil {
		c.codec = c.serve.config.Codec() // here, so that a panic costs this connection only
		if c.isStranger() {
			c.intake = &c.site.strangers
		}
	}
	w := c.Engine()
	if c.panicked != nil {
		panic(c.panicked)
	}
	c.encode(w)
	c.letBegin(w)
	if c.leads() {
		c.giveBack(w) // the request that it leads for may be answered
	}
	if c.takes() {
		c.readable = c.readable || c.stalls(w.Now) // the poller may not have told yet
		c.receive(w)
		c.timeRequest(w.Now)
	}
	c.refuse(w)
	c.checkGone(w)
	c.giveBack(w)
	c.queueUp()
	c.endIdle(w)
	if c.finished() {
		return c.finish()
	}
	if c.isStuck(w.Now) {
		return c.End()
	}
	if c.out.unsent > 0 {
		w.Defer(&c.flush)
	}
	c.arm(w)
	return stack.Again(&c.Stack)
}

// tick is the step of the connection when a timer has fired: run looks at what is late.
func (c *conn[Req, Rep]) tick() core.Yield {
	c.lookUntaken(c.Engine().Now)
	if c.isStuck(c.Engine().Now) { // here too: run is held with the front's calls
		return c.End()
	}
	c.schedule()
	c.arm(c.Engine())
	return stack.Again(&c.Stack)
}

// goDeaf ends what is in flight: no further result is heard.
func (c *conn[Req, Rep]) goDeaf(w *stack.Engine) {
	c.phase = deaf
	c.in.drop()
	c.cancel(w)
	c.discard(w)
}

// cancel ends what is in flight.
func (c *conn[Req, Rep]) cancel(w *stack.Engine) {
	for range c.inflight.cancel(w) {
		c.site.quota.acquire() // until it ends
	}
}

// cutOff is goDeaf, drops what is unsent, and has the connection close at once.
func (c *conn[Req, Rep]) cutOff(w *stack.Engine) {
	c.cut = true
	c.out.drop()
	c.goDeaf(w)
}

// checkGone cuts off a client that is gone. One that has only ended its side waits for its results.
func (c *conn[Req, Rep]) checkGone(w *stack.Engine) {
	if c.suspect && c.phase < deaf && c.inflight.n > 0 && netio.ConnectError(c.fd) != nil {
		c.cutOff(w)
	}
	c.suspect = false
}

// finished reports whether a connection that takes nothing in has nothing left to do.
func (c *conn[Req, Rep]) finished() bool {
	return c.phase >= ending && c.inflight.n == 0 && c.out.unsent == 0
}

// endIdle ends a connection that has had nothing to do for IdleTimeout.
func (c *conn[Req, Rep]) endIdle(w *stack.Engine) {
	if c.takes() && c.inflight.n == 0 && c.out.unsent == 0 && c.inLine == nil && w.Now-c.activeAt >= int64(c.serve.config.IdleTimeout) {
		c.serve.counts.idleTimeouts.Add(1)
		c.phase = ending
		c.in.drop()
		c.giveBack(w)
	}
}

// arm has run called when a timeout could have passed. A timer isn't moved when
// bytes come: it looks again when it fires. There always is one, so that the
// end of the house ends the connection.
func (c *conn[Req, Rep]) arm(w *stack.Engine) {
	if !c.idle.Waiting() {
		core.Timer.Ask(&c.Stack, &c.idle, remaining(c.serve.config.IdleTimeout, w.Now-c.activeAt))
	}
	if c.owedAt != 0 && !c.slowly().owed.Waiting() {
		// It may fire for a later request, which has less time.
		core.Timer.Ask(&c.Stack, &c.slow.owed, min(c.serve.config.RequestTimeout, remaining(c.requestTimeout(), w.Now-c.owedAt)))
	}
	if c.leads() && !c.lead.look.Waiting() {
		core.Timer.Ask(&c.Stack, &c.lead.look, min(remaining(leadTime, w.Now-c.keptSince()), remaining(c.serve.config.RequestTimeout, w.Now-c.lead.since)))
	}
	if c.stuckAt != 0 && !c.slowly().stuck.Waiting() {
		core.Timer.Ask(&c.Stack, &c.slow.stuck, min(c.serve.config.WriteTimeout/stuckLooks+1, remaining(c.serve.config.WriteTimeout, w.Now-c.stuckAt)))
	}
}

// timerMax keeps a timer's time far from overflow.
const timerMax = time.Hour

// remaining returns what is left of a timeout after elapsed ns; the whole of it
// if nothing is, because something else keeps the connection open.
func remaining(timeout time.Duration, elapsed int64) time.Duration {
	if left := timeout - time.Duration(elapsed); left > 0 {
		timeout = left
	}
	return min(timeout, timerMax)
}

// drain has the connection close when what has arrived is answered.
func (c *conn[Req, Rep]) drain() {
	if c.phase == open {
		c.phase, c.toRead = leaving, leaveBytes
		c.readable = true // the poller may not have told yet
		c.schedule()
	}
}

// kill closes the connection at once: in its next turn. It reports whether that cuts anything off.
func (c *conn[Req, Rep]) kill() (cut bool) {
	if c.cut || c.phase >= closing {
		return false
	}
	cut = c.phase < lingering
	c.cutOff(c.Engine())
	c.schedule()
	return cut
}

// close releases everything. The runtime calls it when run has ended for good or
// panicked, the house stopped, or a push came too late for either.
func (c *conn[Req, Rep]) close() {
	if c.phase == closed {
		return
	}
	w := c.Engine()
	c.phase = closing // results don't leave the queue while Cancel walks it
	c.cancel(w)
	c.phase = closed
	c.discard(w)
	if c.decoding != nil {
		w.Discard(&c.decoding.Stack)
		c.decoding = nil
	}
	c.in.drop()
	c.out.drop()
	c.leave()
	c.site.poller.Remove(c.token, c.fd)
	netio.Close(c.fd)
	c.site.remove(c)
}
