package channel

import (
	"errors"
	"fmt"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

const (
	// readsMax is how many reads a connection makes in one of its turns, before other connections
	// have theirs.
	readsMax = 1
	// skipsMax is how often a connection may skip bytes that ask for nothing in one of its turns.
	// So many skips take as long as a request or two, each of which is a message.
	skipsMax = 16
	// leaveBytes is how many bytes a connection still reads when the server drains. What a client
	// sent before the drain is less.
	leaveBytes = 1 << 20
)

// conn is the typed half of a connection that was accepted: it makes requests of what came, and
// bytes of their results. It has 640 bytes; beyond that the allocator takes 704.
type conn[Req, Rep any] struct {
	wire
	site  *site
	serve *service[Req, Rep]
	codec Codec[Req, Rep] // nil until the first turn

	toRead   int32 // leaving: bytes left to read
	enough   bool  // the codec has returned ErrEnough in this turn
	loner    bool  // the codec is Alone
	sender   bool  // the codec is a Sender
	mute     bool  // this side is to end, or has ended: no result is encoded but the rest of one
	dropping bool  // the first request is in parts, of which none was encoded as this side is to end
	inLine   *line // where it waits, in the line of the site's quota or of its intake; nil: nowhere

	intake   *intake        // the one of the site's two that counts its bytes
	lead     *lead          // nil: it never led, see intake
	counted  int            // bytes that intake has counted for it
	decoding *stack.Inbound // the request that Decode fills; nil outside of Decode
	inflight inflight
	working  int              // requests in flight that have no result yet
	owedAt   int64            // since when the rest of a request is missing, ns; 0: none is
	rare     *rare            // nil: nothing unusual has happened
	pushed   *core.Asked[Rep] // what is being pushed; all connections of a front share it

	prev, next connection // among the site's
}

// run is the step of the connection after a push.
func (c *conn[Req, Rep]) run() core.Yield {
	c.queued = false
	if c.phase == closed {
		return c.End()
	}
	if c.phase == connecting {
		return c.attempt()
	}
	if c.isOrphan() {
		return c.End()
	}
	if c.codec == nil {
		c.begin()
	}
	c.wakeStages()
	c.openLate()
	w := c.Engine()
	if c.hasPanicked() {
		panic(c.rare.panicked)
	}
	c.encode(w)
	switch {
	case c.shuts() || c.phase == deaf: // once more: the step that led to it may have suspended
		c.goDeaf(w)
	case c.phase == changing && c.inflight.n == 0 && !c.hasUnsent():
		return c.change()
	case c.phase == changing: // as before
		c.cancel(w)
	}
	c.letBegin(w)
	if c.leads() {
		c.giveBack(w) // the request that it leads for may be answered
	}
	if c.reads() {
		c.readable = c.readable || c.stalls(w.Now) // the poller may not have told yet
		c.receive(w)
		c.timeRequest(w.Now)
	}
	c.heedStages(w)
	c.refuse(w)
	c.checkGone(w)
	c.giveBack(w)
	c.queueUp()
	c.endIdle(w)
	c.endSide()
	c.tell()
	if c.finished() {
		return c.finish()
	}
	if c.clientIsStuck(w.Now) {
		return c.End()
	}
	if c.toSend() {
		w.Defer(&c.flush)
	}
	c.arm(w)
	return stack.Again(&c.Stack)
}

// begin makes the codec: in the first turn, so that a panic costs this connection only.
func (c *conn[Req, Rep]) begin() {
	c.setCodec(c.serve.config.Codec())
	c.openStages(c.serve.config.Stages, c.serve.secured)
	if !c.isUnopened() {
		c.tellOpened()
	}
}

func (c *conn[Req, Rep]) setCodec(codec Codec[Req, Rep]) {
	if codec == nil {
		panic(errNoCodec)
	}
	c.codec = codec
	_, c.loner = codec.(Alone[Req])
	_, c.sender = codec.(Sender[Rep])
	_, c.inflight.unordered = codec.(Unordered[Req])
	if c.intake = &c.site.intake; c.isStranger() {
		c.intake = &c.site.strangers
	}
}

// errNoCodec is what a step panics with.
var errNoCodec = errors.New("channel: Codec or CodecFor has returned nil")

// openLate tells of the connection once no stage keeps it from that.
func (c *conn[Req, Rep]) openLate() {
	if c.isUnopened() && c.isGivenUp() {
		c.cutOff(c.Engine())
	}
	if c.cut || !c.opensNow() {
		return
	}
	if by := c.serve.config.CodecFor; by != nil {
		c.setCodec(by(c.staged.Protocol()))
	}
	c.tellOpened()
}

// tick is the step of the connection after a timer has fired; run, which it schedules, looks which
// timeouts have passed.
func (c *conn[Req, Rep]) tick() core.Yield {
	c.lookUntaken(c.Engine().Now)
	c.wakeStages() // first: what they wait for may have come before it was late
	c.tickStages()
	if c.clientIsStuck(c.Engine().Now) { // here too: run is held with the front's calls
		return c.End()
	}
	if c.schedule(); c.phase != connecting { // attempt has a timer of its own
		c.arm(c.Engine())
	}
	return stack.Again(&c.Stack)
}

// goDeaf cancels the requests in flight: no further result is written.
func (c *conn[Req, Rep]) goDeaf(w *stack.Engine) {
	c.phase = deaf
	c.in.drop()
	c.cancel(w)
	c.discard(w)
	c.dropAside(w, c.cut)
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
	c.dropUnsent()
	c.goDeaf(w)
}

// heedStages ends a connection whose stages have failed, or want it to end.
func (c *conn[Req, Rep]) heedStages(w *stack.Engine) {
	why := c.stagesEnd()
	if why == nil || c.phase >= deaf {
		return
	}
	if why != errStage {
		c.serve.counts.stages.Add(1)
		c.reportStages(w, fmt.Errorf("channel: connection of %q: %w", c.staged.RemoteAddr(), why))
	}
	if why != errStage || c.heldUnsent() {
		c.dropUnlowered() // nothing passes the stages any more, or who knows when
	}
	c.goDeaf(w)
}

// reportStages tells the system's log, which shows only some lines a second of such errors.
func (c *conn[Req, Rep]) reportStages(w *stack.Engine, err error) {
	if errors.Is(err, secure.ErrPanic) {
		w.Driver.Failed(c.house, &c.Stack, err)
	} else {
		w.Driver.Broken(err)
	}
}

// checkGone cuts off a connection whose client is gone. A client that has only ended its side still
// gets its results. Where this side has ended, too, both look the same, and nobody misses results.
func (c *conn[Req, Rep]) checkGone(w *stack.Engine) {
	if c.suspect && !c.muted && c.phase < deaf && (c.inflight.n > 0 || c.phase == half) && c.net().ConnectError(c.fd) != nil {
		c.cutOff(w)
	}
	c.suspect = false
}

// finished reports whether a connection that takes nothing in has nothing in flight or unsent.
func (c *conn[Req, Rep]) finished() bool {
	return c.phase >= ending && c.phase != changing && c.inflight.n == 0 && c.out.unsent == 0 && c.saidAll()
}

// endIdle ends a connection that has had nothing to do for IdleTimeout.
func (c *conn[Req, Rep]) endIdle(w *stack.Engine) {
	if c.phase <= half && c.inflight.n == 0 && !c.hasUnsent() && c.inLine == nil && w.Now-c.activeAt >= int64(c.serve.config.IdleTimeout) {
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
	c.armStuck(w.Now, c.serve.config.WriteTimeout)
	c.armStages()
}

// drain has the connection close when what has arrived is answered.
func (c *conn[Req, Rep]) drain() {
	switch c.phase {
	case open:
		c.phase, c.toRead = leaving, leaveBytes
		c.readable = true // the poller may not have told yet
		c.schedule()
	case half:
		c.phase = ending
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
	c.leaveSeats()
	w, opened := c.Engine(), c.phase != connecting
	stopped := c.Err() == core.ErrStopped && opened // perhaps in a drain
	if stopped && c.site.actor != nil {
		if c.sender && c.takes() {
			c.out.commit(c.codec.Refuse(c.out.reserve(&w.Shard, refusalMax), core.ErrStopped))
		}
		c.write() // what the socket takes at once
	}
	c.phase = closing // results don't leave the queue while Cancel walks it
	if stopped {
		c.farewell()
	}
	c.cancel(w)
	c.phase = closed
	c.discard(w)
	if c.decoding != nil {
		w.Discard(&c.decoding.Stack)
		c.decoding = nil
	}
	c.leave()
	c.known.Store(isGone) // also for those who get its Peer from now on
	c.dropAside(w, true)
	c.hangUp()
	c.site.remove(c)
	c.tellClosed(opened)
}
