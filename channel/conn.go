package channel

import (
	"io"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

const (
	// readsMax is how many reads a connection makes in one of its turns, before
	// others have theirs.
	readsMax = 4
	// skipsMax is how often it may skip bytes that ask for nothing: they take as long as a request
	// or two, which are a message each.
	skipsMax = 16
	// readMax is the largest Config.ReadSize.
	readMax = pool.SlabMax
	// leaveBytes is how much a connection reads on when the server drains. What a client sent
	// before comes to less.
	leaveBytes = 1 << 20
)

// phase is a connection's life. It only ever goes forward.
//
//	open      reads, decodes, answers
//	leaving   the server drains: the same, until what had arrived is read; then ending
//	refusing  the client sent what can't be decoded: takes nothing in; when what is in
//	          flight has been answered it is told so; then ending
//	ending    takes nothing in; when nothing is in flight or unsent it parts, or closes if
//	          the client has ended its side, as that brings it here, too
//	deaf      the same, and results are dropped: behind the last result; and, to be closed without
//	          parting, after a failure of the socket, or when the server cuts off
//	parting   all is sent: waits for the client's end, see linger.go
//	closing   what is in flight is being cancelled
//	closed    the descriptor is closed; requests still under way end unheard
type phase uint8

const (
	open phase = iota
	leaving
	refusing
	ending
	deaf
	parting
	closing
	closed
)

// conn is one accepted connection. It is an owned stack of the house that serves
// it, pushed whenever there is something to do; all its fields belong to that
// house's worker.
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
	suspect  bool  // it did so since the last look
	ended    bool  // all that it sent, up to its end, was read
	waits    bool  // for its turn, while all requests of the site are in flight
	cut      bool  // nobody is to hear of the end
	known    bool  // addr is: it isn't written again, as others may read it
	toRead   int32 // leaving: bytes left to read
	refused  error // why the client is refused
	panicked any   // by the codec, outside of a step

	in       input
	missing  bool                         // the end of the request that in begins with; until more was read
	begun    *core.ChannelStack[Req, Rep] // the request that Decode is at
	inflight stack.Inflight[Req, Rep]
	working  int // requests in flight that have no result yet
	out      output
	flush    stack.Deferred

	activeAt int64 // when a request, or a part of one, last came, or the last of a result went, ns
	owedAt   int64 // since when the client could have sent the rest of a request, ns; 0: it has
	stuckAt  int64 // since when the socket takes nothing, ns; 0: it does
	idle     core.Future[core.Tick]
	owed     core.Future[core.Tick]
	stuck    core.Future[core.Tick]
	linger   *linger // non-nil: it parts

	prev, next connection // among the site's
}

// Ready is called by the poller, in the worker's turn.
func (c *conn[Req, Rep]) Ready(r netio.Ready) {
	c.readable = c.readable || r&(netio.Readable|netio.Closed) != 0
	c.writable = c.writable || r&netio.Writable != 0
	c.urgent = c.urgent || r&netio.Urgent != 0
	if r&netio.Closed != 0 {
		c.hungUp, c.suspect = true, true
	}
	if c.readable || c.out.unsent > 0 {
		c.schedule()
	}
}

// Introduce implements stack.Endpoint.
func (c *conn[Req, Rep]) Introduce() {
	if !c.known && c.phase != closed {
		c.addr, c.known = netio.RemoteAddr(c.fd), true
	}
}

// Addr implements stack.Endpoint.
func (c *conn[Req, Rep]) Addr() string { return c.addr }

// schedule has run called in a turn of the house.
func (c *conn[Req, Rep]) schedule() {
	if !c.queued && c.phase < closing {
		c.queued = true
		c.Worker().Push(c.House(), &c.Stack)
	}
}

// run is the step of the connection when it was pushed.
func (c *conn[Req, Rep]) run() core.Yield {
	c.queued = false
	if c.phase == closed {
		return stack.End(&c.Stack)
	}
	if c.codec == nil {
		c.codec = c.serve.config.Codec() // here, so that a panic costs this connection only
	}
	w := c.Worker()
	if c.panicked != nil {
		panic(c.panicked)
	}
	c.encode(w)
	c.letBegin(w)
	if c.takes() {
		c.receive(w)
		c.timeRequest(w.Now)
	}
	c.queueUp()
	if c.in.len() == 0 && c.inflight.Len() == 0 {
		c.in.drop() // an idle connection holds no buffer
	}
	c.refuse(w)
	c.check(w)
	c.endIdle(w.Now)
	if c.finished() {
		return c.part()
	}
	if c.isStuck(w.Now) {
		return stack.End(&c.Stack)
	}
	if c.out.unsent > 0 {
		w.Defer(&c.flush)
	}
	c.arm(w)
	return stack.Again(&c.Stack)
}

// tick is its step when a timer fired: run looks what is late.
func (c *conn[Req, Rep]) tick() core.Yield {
	if c.isStuck(c.Worker().Now) { // also while the front's calls are held, as run is then
		return stack.End(&c.Stack)
	}
	c.schedule()
	c.arm(c.Worker())
	return stack.Again(&c.Stack)
}

// takes reports whether requests may come in.
func (c *conn[Req, Rep]) takes() bool { return c.phase <= leaving }

// full reports whether results must leave before more requests may come in: of this connection, or
// of others.
func (c *conn[Req, Rep]) full() bool {
	return c.inflight.Len() >= c.serve.config.InflightMax || c.overfull() || c.inflight.HeldBack() || c.site.share.full(c)
}

// queueUp has the connection wait for its turn, if it is others' requests that it waits for.
func (c *conn[Req, Rep]) queueUp() {
	st := &c.site.share
	st.looked(c)
	if !c.waits && c.takes() && st.full(c) && (c.readable || c.in.len() > 0 && !c.missing) {
		c.waits = true
		st.wait(c)
	}
}

// resume has run called when it is the connection's turn.
func (c *conn[Req, Rep]) resume() {
	c.waits = false
	c.schedule()
}

// receive reads and decodes until the socket has no more, a limit stops it, or
// it has had its share of the turn.
func (c *conn[Req, Rep]) receive(w *stack.Worker) {
	for reads, skips := 0, skipsMax; ; reads++ {
		skips = c.decode(w, skips)
		switch {
		case !c.takes() || c.full():
			return
		case skips == 0:
			c.schedule() // others have their turn
			return
		case !c.readable || c.phase == leaving && c.toRead <= 0:
			if c.phase == leaving {
				c.phase = ending
			}
			return
		case reads == readsMax:
			c.schedule()
			return
		}
		c.read(w)
	}
}

// read reads once.
func (c *conn[Req, Rep]) read(w *stack.Worker) {
	space, own := c.site.buffer, c.makeRoom(w)
	if own {
		space = c.in.tail()
	}
	n, err := netio.Read(c.fd, space)
	if n > 0 {
		if own {
			c.in.added(n)
		} else {
			c.in.add(&w.Shard, space[:n], c.codec.Need())
		}
		c.missing = false
		c.toRead -= int32(n)
		if n < len(space) && !c.hungUp && !c.urgent {
			c.readable = false // drained; the next byte is a new event
		}
		return
	}
	c.readable = false
	switch err {
	case netio.ErrAgain:
	case io.EOF:
		c.phase, c.ended = ending, true
		c.in.drop() // the start of a request that will not end
	default:
		c.cutOff(w)
	}
}

// makeRoom makes room behind what was received of a long request; false: it isn't long.
func (c *conn[Req, Rep]) makeRoom(w *stack.Worker) bool {
	have, size := c.in.len(), len(c.site.buffer)
	if have < size || c.codec.Need()-have < size {
		return false
	}
	if c.in.free() < size {
		c.in.move(&w.Shard, have+size, c.codec.Need())
	}
	return true
}

// decode starts a handler for every whole request that was received. Of bytes that ask for nothing
// it takes at most skips runs, and returns what is left of that.
func (c *conn[Req, Rep]) decode(w *stack.Worker, skips int) int {
	for c.in.len() > 0 && !c.missing && skips > 0 && c.takes() && !c.full() {
		if c.decodeOne(w, c.in.rest()) {
			skips--
		}
	}
	return skips
}

// decodeOne decodes a request from the start of in. It reports whether the codec skipped bytes
// instead.
func (c *conn[Req, Rep]) decodeOne(w *stack.Worker, in []byte) (skipped bool) {
	s := stack.Inbound[Req, Rep](w, c.House(), c.serve.handler, c)
	c.begun = s // if Decode panics, close gives it back
	n, err := c.codec.Decode(in, &s.Req)
	if uint(n) > uint(len(in)) {
		panic("channel: Decode took other bytes than it got")
	}
	c.begun = nil
	if n > 0 && err == nil {
		c.accept(w, s)
		c.in.from += n
		c.activeAt, c.owedAt = w.Now, 0
		return false
	}
	w.Discard(&s.Stack)
	switch {
	case err == ErrSkip && n > 0:
		c.in.from += n
		c.owedAt = 0
		return true
	case err != nil:
		c.serve.counts.refused.Add(1)
		c.refuseWith(err)
	default:
		c.missing = true
		c.activeAt = w.Now
	}
	return false
}

// accept starts the handler of s, unless there are too many.
func (c *conn[Req, Rep]) accept(w *stack.Worker, s *core.ChannelStack[Req, Rep]) {
	if c.working < c.serve.config.WorkMax {
		c.working++
		c.site.share.begun()
		c.inflight.Accept(w, s, c.in.slab)
		return
	}
	c.serve.counts.overloaded.Add(1)
	c.inflight.Refuse(s, c.in.slab, core.ErrOverloaded) // others' ends have it encoded
}

// refuseWith has the client told why it isn't listened to any more.
func (c *conn[Req, Rep]) refuseWith(err error) {
	c.refused, c.phase = err, refusing
	c.in.drop()
}

// timeRequest ends a connection whose client lets a request wait for its end. That isn't asked of
// one that isn't read.
func (c *conn[Req, Rep]) timeRequest(now int64) {
	switch {
	case !c.missing || !c.takes() || c.full() || c.serve.config.RequestTimeout == never:
		c.owedAt = 0
	case c.owedAt == 0:
		c.owedAt = now
	case now-c.owedAt >= int64(c.requestTimeout()):
		c.serve.counts.requestTimeouts.Add(1)
		c.refuseWith(ErrSlowRequest)
	}
}

// requestTimeout is how long the request that the client is at may take in all.
func (c *conn[Req, Rep]) requestTimeout() time.Duration {
	return c.serve.config.requestTimeout(c.in.len())
}

// result is called when a request in flight has ended.
func (c *conn[Req, Rep]) result(s *core.ChannelStack[Req, Rep]) {
	c.working--
	if !s.KeptBack() {
		c.site.share.ended()
	}
	switch w := c.Worker(); c.phase {
	case closing: // close discards it
	case closed:
		c.discard(w)
	default:
		if c.inflight.Ended(s); c.overfull() {
			c.holdBack()
		}
		w.Defer(&c.flush) // should run not come to it: what holds the front's requests doesn't hold results
		c.schedule()
	}
}

// overfull reports whether no further request may begin before results have left.
func (c *conn[Req, Rep]) overfull() bool {
	return c.out.unsent+c.inflight.Held() >= c.serve.config.OutputMax
}

// holdBack keeps requests that came in from beginning; letBegin ends that. In between they have no
// part in the site's share.
func (c *conn[Req, Rep]) holdBack() {
	for range c.inflight.HoldBack() {
		c.site.share.ended()
	}
}

func (c *conn[Req, Rep]) letBegin(w *stack.Worker) {
	if !c.inflight.HeldBack() || c.overfull() {
		return
	}
	n, done := c.inflight.LetBegin(w)
	for range n {
		c.site.share.begun()
	}
	if !done {
		c.schedule() // behind those
	}
}

// encode turns complete results into bytes, in the order of their requests,
// unless too many are unsent already.
func (c *conn[Req, Rep]) encode(w *stack.Worker) {
	if c.phase == deaf {
		c.discard(w)
		return
	}
	for c.inflight.Complete() && c.out.unsent < c.serve.config.OutputMax {
		rep, last, err := c.inflight.Result()
		room := c.out.reserve(&w.Shard, c.codec.Size(rep, err))
		c.out.commit(c.codec.Encode(room, rep, err))
		c.inflight.Pop(w)
		if last {
			c.hangUp(w)
			return
		}
	}
}

// refuse tells the client, once it has the results in flight, that it can't be
// understood.
func (c *conn[Req, Rep]) refuse(w *stack.Worker) {
	if c.phase == refusing && c.inflight.Len() == 0 {
		room := c.out.reserve(&w.Shard, refusalMax)
		c.out.commit(c.codec.Refuse(room, c.refused))
		c.phase = ending
	}
}

// hangUp ends what is in flight: no further result is heard.
func (c *conn[Req, Rep]) hangUp(w *stack.Worker) {
	c.phase = deaf
	c.in.drop()
	c.cancel(w)
	c.discard(w)
}

// cancel ends what is in flight.
func (c *conn[Req, Rep]) cancel(w *stack.Worker) {
	for range c.inflight.Cancel(w) {
		c.site.share.begun() // as it ends, too
	}
}

// cutOff is hangUp, drops what is unsent, and has the connection close at once.
func (c *conn[Req, Rep]) cutOff(w *stack.Worker) {
	c.cut = true
	c.out.drop()
	c.hangUp(w)
}

// discard frees complete results that nobody will read.
func (c *conn[Req, Rep]) discard(w *stack.Worker) {
	for c.inflight.Complete() {
		c.inflight.Pop(w)
	}
}

// check looks whether the client, of which nothing can be read now, is gone: if it
// ended its side only, it waits for its results.
func (c *conn[Req, Rep]) check(w *stack.Worker) {
	if c.suspect && c.phase < deaf && c.inflight.Len() > 0 && netio.ConnectError(c.fd) != nil {
		c.cutOff(w)
	}
	c.suspect = false
}

// finished reports whether a connection that takes nothing in has nothing left to do.
func (c *conn[Req, Rep]) finished() bool {
	return c.phase >= ending && c.inflight.Len() == 0 && c.out.unsent == 0
}

// write is the deferred end of a turn: it sends what the turn encoded, and encodes what run didn't
// come to.
func (c *conn[Req, Rep]) write() {
	if c.phase >= closing || c.panicked != nil {
		return
	}
	w := c.Worker()
	if c.inflight.Complete() && !c.encodeLate(w) || !c.writable {
		return
	}
	before := c.out.unsent
	err := c.out.send(c.fd, &c.site.iov)
	if c.out.unsent < before {
		c.stuckAt = 0
	}
	switch {
	case err == netio.ErrAgain:
		c.writable = false
		if c.stuckAt == 0 {
			c.stuckAt = w.Now
			c.schedule() // to arm the write timeout
		}
	case err != nil:
		c.cutOff(w)
		c.schedule()
	default:
		c.activeAt = w.Now
		if c.phase != open || c.inflight.Complete() || c.inflight.HeldBack() || (!c.full() && (c.readable || c.in.len() > 0 && !c.missing)) {
			c.schedule()
		}
	}
}

// encodeLate is encode outside of a step: a panic of the codec is left to the next one. Then it
// reports false.
func (c *conn[Req, Rep]) encodeLate(w *stack.Worker) bool {
	defer func() {
		if c.panicked = recover(); c.panicked != nil {
			c.schedule()
		}
	}()
	c.encode(w)
	return true
}

// isStuck reports whether the client has taken nothing for WriteTimeout.
func (c *conn[Req, Rep]) isStuck(now int64) bool {
	if c.stuckAt == 0 || now-c.stuckAt < int64(c.serve.config.WriteTimeout) {
		return false
	}
	c.serve.counts.writeTimeouts.Add(1)
	return true
}

// endIdle ends a connection that has had nothing to do for IdleTimeout.
func (c *conn[Req, Rep]) endIdle(now int64) {
	if c.takes() && c.inflight.Len() == 0 && c.out.unsent == 0 && now-c.activeAt >= int64(c.serve.config.IdleTimeout) {
		c.serve.counts.idleTimeouts.Add(1)
		c.phase = ending
		c.in.drop()
	}
}

// arm has run called when a timeout could have passed. A timer isn't moved when
// bytes come: it looks again when it fires. There always is one, so that the
// end of the house ends the connection.
func (c *conn[Req, Rep]) arm(w *stack.Worker) {
	if !c.idle.Waiting() {
		core.Timer.Ask(&c.Stack, &c.idle, remaining(c.serve.config.IdleTimeout, w.Now-c.activeAt))
	}
	if c.owedAt != 0 && !c.owed.Waiting() {
		core.Timer.Ask(&c.Stack, &c.owed, remaining(c.requestTimeout(), w.Now-c.owedAt))
	}
	if c.stuckAt != 0 && !c.stuck.Waiting() {
		core.Timer.Ask(&c.Stack, &c.stuck, remaining(c.serve.config.WriteTimeout, w.Now-c.stuckAt))
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

// kill closes the connection at once: in its next turn. It reports whether that cuts
// something off.
func (c *conn[Req, Rep]) kill() (cut bool) {
	if c.cut || c.phase >= closing {
		return false
	}
	cut = c.phase < parting
	c.cutOff(c.Worker())
	c.schedule()
	return cut
}

// close releases everything. The runtime calls it when run has ended for good or
// panicked, the house stopped, or a push came too late for either.
func (c *conn[Req, Rep]) close() {
	if c.phase == closed {
		return
	}
	w := c.Worker()
	c.phase = closing // results don't leave the queue while Cancel walks it
	c.cancel(w)
	c.phase = closed
	c.discard(w)
	if c.begun != nil {
		w.Discard(&c.begun.Stack)
		c.begun = nil
	}
	c.in.drop()
	c.out.drop()
	c.site.share.leave(c, c.waits)
	c.site.poller.Remove(c.token, c.fd)
	netio.Close(c.fd)
	c.site.remove(c)
}
