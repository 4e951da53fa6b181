package channel

import (
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

const (
	// readsMax is how many reads a connection makes in one of its turns, before other connections
	// have theirs.
	readsMax = 1
	// writeMax is how many bytes a connection sends at the end of a turn. The system may hand them
	// to their reader on the same CPU: 1 MiB takes as long as two turns.
	writeMax = 64 << 10
	// skipsMax is how often a connection may skip bytes that ask for nothing in one of its turns.
	// So many skips take as long as a request or two, each of which is a message.
	skipsMax = 16
	// readMax is the largest Config.ReadSize.
	readMax = pool.SlabMax
	// stuckLooks is how often in WriteTimeout a connection whose socket takes nothing looks whether
	// the client does.
	stuckLooks = 4
	// leaveBytes is how many bytes a connection still reads when the server drains. What a client
	// sent before the drain is less.
	leaveBytes = 1 << 20
)

// phase is a connection's life. It only ever goes forward.
//
//	open      reads, decodes, answers
//	leaving   the server drains: as open, until what had arrived is read; then ending
//	refusing  the client sent what can't be decoded, or too slowly: takes nothing in; when all
//	          requests in flight are answered the client is told why; then ending
//	ending    takes nothing in, as after the client's end or IdleTimeout; when nothing is in
//	          flight or unsent it lingers, or closes if the client has ended its side
//	deaf      as ending, and results are dropped: after the result that was to be the last, after
//	          a failure of the socket, or when the server cuts off; the latter two don't linger
//	lingering all is sent: waits for the client's end, see linger.go
//	closing   requests in flight are being cancelled
//	closed    the descriptor is closed; results of requests still under way are dropped
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

// conn is one accepted connection. It is an owned stack of the house that serves it, pushed
// whenever there is something to do; all its fields belong to that house's worker. It has 632
// bytes, for which the allocator takes 640; beyond 640 it would take 704.
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
	eof      bool  // all that the client sent, up to its end, was read
	cut      bool  // closes at once, without lingering
	hasAddr  bool  // addr is known: it isn't written again, as other goroutines may read it
	partial  bool  // in holds no whole request, until more is read
	toRead   int32 // leaving: bytes left to read
	refused  error // why the client is refused
	panicked any   // by the codec, outside of a step
	inLine   *line // where it waits, in the line of the site's quota or of its intake; nil: nowhere

	in       input
	intake   *intake        // the one of the site's two that counts its bytes
	lead     *lead          // nil: it never led, see intake
	counted  int            // bytes that intake has counted for it
	decoding *stack.Inbound // the request that Decode fills; nil outside of Decode
	inflight inflight
	working  int // requests in flight that have no result yet
	out      output
	flush    stack.Deferred

	activeAt int64 // when bytes of a request last came, or bytes of a result went, ns
	owedAt   int64 // since when the rest of a request is missing, ns; 0: none is
	// since when neither the socket nor, as far as known, the client takes bytes, ns; 0: one does
	stuckAt int64
	idle    core.Future[core.Tick]
	slow    *slow   // nil: owedAt and stuckAt were never set
	linger  *linger // nil: it hasn't begun to linger

	prev, next connection // among the site's
}

// slow is what a connection needs only once its client has let a request or a result wait.
type slow struct {
	owed    core.Future[core.Tick]
	stuck   core.Future[core.Tick]
	untaken int // bytes that the client had yet to take at stuckAt, as far as known
}

// slowly returns c.slow, made on first use.
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

// net returns the poller of the connection's worker.
func (c *conn[Req, Rep]) net() *netio.Poller { return c.site.poller }

// Introduce implements core.Endpoint.
func (c *conn[Req, Rep]) Introduce() {
	if !c.hasAddr && c.phase != closed {
		c.addr, c.hasAddr = c.net().RemoteAddr(c.fd), true
	}
}

// Addr implements core.Endpoint.
func (c *conn[Req, Rep]) Addr() string { return c.addr }

// schedule has run called in a later visit to the house.
func (c *conn[Req, Rep]) schedule() {
	if !c.queued && c.phase < closing {
		c.queued = true
		c.Engine().Push(c.House(), &c.Stack)
	}
}

// run is the step of the connection after a push.
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

// tick is the step of the connection after a timer has fired; run, which it schedules, looks which
// timeouts have passed.
func (c *conn[Req, Rep]) tick() core.Yield {
	c.lookUntaken(c.Engine().Now)
	if c.isStuck(c.Engine().Now) { // here too: run is held with the front's calls
		return c.End()
	}
	c.schedule()
	c.arm(c.Engine())
	return stack.Again(&c.Stack)
}

// goDeaf cancels the requests in flight: no further result is written.
func (c *conn[Req, Rep]) goDeaf(w *stack.Engine) {
	c.phase = deaf
	c.in.drop()
	c.cancel(w)
	c.discard(w)
}

// cancel cancels the requests in flight. Those that didn't count in the site's quota do so again.
func (c *conn[Req, Rep]) cancel(w *stack.Engine) {
	for range c.inflight.cancel(w) {
		c.site.quota.acquire() // until it ends
	}
}

// cutOff does goDeaf, drops unsent bytes, and has the connection close at once.
func (c *conn[Req, Rep]) cutOff(w *stack.Engine) {
	c.cut = true
	c.out.drop()
	c.goDeaf(w)
}

// checkGone cuts off a connection whose client is gone. A client that has only ended its side still
// gets its results.
func (c *conn[Req, Rep]) checkGone(w *stack.Engine) {
	if c.suspect && c.phase < deaf && c.inflight.n > 0 && c.net().ConnectError(c.fd) != nil {
		c.cutOff(w)
	}
	c.suspect = false
}

// finished reports whether a connection that takes nothing in has nothing in flight or unsent.
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

// arm has tick called when a timeout could have passed. A timer isn't moved when bytes come: tick
// looks again when it fires. One timer always waits, so that the end of the house ends the
// connection.
func (c *conn[Req, Rep]) arm(w *stack.Engine) {
	if !c.idle.Waiting() {
		core.Timer.Ask(&c.Stack, &c.idle, remaining(c.serve.config.IdleTimeout, w.Now-c.activeAt))
	}
	if c.owedAt != 0 && !c.slowly().owed.Waiting() {
		// The timer may fire for a later request, which has less time.
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

// remaining returns what is left of a timeout after elapsed ns. If nothing is left it returns the
// whole timeout, because something else keeps the connection open. It returns at most timerMax.
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

// kill cuts the connection off: it closes in its next turn. kill reports false if the connection
// lingers, or was cut off or closed before.
func (c *conn[Req, Rep]) kill() (cut bool) {
	if c.cut || c.phase >= closing {
		return false
	}
	cut = c.phase < lingering
	c.cutOff(c.Engine())
	c.schedule()
	return cut
}

// close releases everything. The runtime calls it when run or tick has ended for good or panicked,
// when the house has stopped, and when a push finds either.
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
	c.net().Remove(c.token, c.fd)
	c.net().CloseFD(c.fd)
	c.site.remove(c)
}
