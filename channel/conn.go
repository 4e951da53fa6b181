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
	// readMax is the largest Config.ReadSize.
	readMax = pool.SlabMax
	// leaveBytes is how much a connection reads on when the server drains. What a client sent before comes to less.
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

	phase    phase
	queued   bool  // pushed, and not run yet
	readable bool  // the socket may have bytes
	writable bool  // the socket may take bytes
	hungUp   bool  // the client ended, or broke, its side
	suspect  bool  // it did so since the last look
	ended    bool  // all that it sent, up to its end, was read
	cut      bool  // nobody is to hear of the end
	toRead   int32 // leaving: bytes left to read
	refused  error // why the client is refused

	in       pool.Bytes // received and not decoded: in.B()[from:]
	from     int
	begun    *core.ChannelStack[Req, Rep] // the request that Decode is at
	inflight stack.Inflight[Req, Rep]
	working  int // requests in flight that have no result yet
	out      output
	flush    stack.Deferred

	activeAt int64 // when bytes last came, or the last of a result went, ns
	stuckAt  int64 // since when the socket takes nothing, ns; 0: it does
	idle     core.Future[core.Tick]
	stuck    core.Future[core.Tick]
	linger   *linger // non-nil: it parts

	prev, next connection // among the site's
}

// Ready is called by the poller, in the worker's turn.
func (c *conn[Req, Rep]) Ready(r netio.Ready) {
	c.readable = c.readable || r&(netio.Readable|netio.Closed) != 0
	c.writable = c.writable || r&netio.Writable != 0
	if r&netio.Closed != 0 {
		c.hungUp, c.suspect = true, true
	}
	if c.readable || c.out.unsent > 0 {
		c.schedule()
	}
}

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
	c.encode(w)
	if c.takes() {
		c.receive(w)
	}
	c.refuse(w)
	c.check(w)
	c.endIdle(w.Now)
	if c.finished() {
		return c.part(w)
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
	c.schedule()
	c.arm(c.Worker())
	return stack.Again(&c.Stack)
}

// takes reports whether requests may come in.
func (c *conn[Req, Rep]) takes() bool { return c.phase <= leaving }

// full reports whether results must leave before more requests may come in.
func (c *conn[Req, Rep]) full() bool {
	return c.inflight.Len() >= c.serve.config.InflightMax || c.out.unsent >= c.serve.config.OutputMax
}

// receive reads and decodes until the socket has no more, a limit stops it, or
// it has had its share of the turn.
func (c *conn[Req, Rep]) receive(w *stack.Worker) {
	for reads := 0; ; reads++ {
		c.decode(w)
		switch {
		case !c.takes() || c.full():
			return
		case !c.readable || c.phase == leaving && c.toRead <= 0:
			if c.phase == leaving {
				c.phase = ending
			}
			return
		case reads == readsMax:
			c.schedule() // others have their turn
			return
		}
		c.read(w)
	}
}

// read reads once.
func (c *conn[Req, Rep]) read(w *stack.Worker) {
	have := c.room(w)
	space := c.in.Grow(c.in.Cap()).B()[have:]
	n, err := netio.Read(c.fd, space)
	if n > 0 {
		c.in = c.in.Grow(have + n)
		c.activeAt = w.Now
		c.toRead -= int32(n)
		if n < len(space) && !c.hungUp {
			c.readable = false // drained; the next byte is a new event
		}
		return
	}
	c.readable = false
	if c.in.Len() == c.from {
		c.dropInput()
	}
	switch err {
	case netio.ErrAgain:
	case io.EOF:
		c.phase, c.ended = ending, true
		c.dropInput() // the start of a request that will not end
	default:
		c.cutOff(w)
	}
}

// room makes room for a read behind the bytes not decoded yet and returns how
// many bytes stand before it. What was decoded stays in the old slab, which its
// requests hold. A long request's room doubles as its bytes come, so that memory
// is bounded by what was received, not by what was announced.
func (c *conn[Req, Rep]) room(w *stack.Worker) int {
	have := c.in.Len() - c.from
	want := c.serve.config.ReadSize
	if have > 0 {
		want = max(want, min(c.codec.Need(), 2*have))
	}
	if free := c.in.Cap() - c.in.Len(); free > 0 && free >= min(want-have, want/4) {
		return c.in.Len()
	}
	b := w.Shard.Bytes(max(want, have+max(want, have)/4))
	copy(b.B(), c.in.B()[c.from:])
	c.in.Release()
	c.in, c.from = b.Grow(have), 0
	return have
}

func (c *conn[Req, Rep]) dropInput() {
	c.in.Release()
	c.in, c.from = pool.Bytes{}, 0
}

// decode starts a handler for every whole request that was received.
func (c *conn[Req, Rep]) decode(w *stack.Worker) {
	for c.from < c.in.Len() && c.takes() && !c.full() {
		if !c.decodeOne(w, c.in.B()[c.from:]) {
			return
		}
	}
	if c.from == c.in.Len() && c.from > 0 {
		c.dropInput()
	}
}

// decodeOne decodes a request from the start of in; false: its end is missing.
func (c *conn[Req, Rep]) decodeOne(w *stack.Worker, in []byte) bool {
	s := stack.Inbound[Req, Rep](w, c.House(), c.serve.handler, c)
	c.begun = s // if Decode panics, close gives it back
	n, err := c.codec.Decode(in, &s.Req)
	if uint(n) > uint(len(in)) {
		panic("channel: Decode took other bytes than it got")
	}
	c.begun = nil
	if n > 0 && err == nil {
		if c.working < c.serve.config.WorkMax {
			c.working++
			c.inflight.Accept(w, s, c.in)
		} else { // its result waits for others, whose ends have it encoded
			c.serve.counts.overloaded.Add(1)
			c.inflight.Refuse(s, c.in, core.ErrOverloaded)
		}
		c.from += n
		return true
	}
	w.Discard(&s.Stack)
	switch {
	case err == ErrSkip && n > 0:
		c.from += n
		return true
	case err != nil:
		c.refused, c.phase = err, refusing
		c.serve.counts.refused.Add(1)
		c.dropInput()
	}
	return false
}

// result is called when a request in flight has ended.
func (c *conn[Req, Rep]) result() {
	c.working--
	switch c.phase {
	case closing: // close discards it
	case closed:
		c.discard(c.Worker())
	default:
		c.schedule()
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
	c.dropInput()
	c.inflight.Cancel(w)
	c.discard(w)
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

// write is the deferred end of a turn: it sends what the turn encoded.
func (c *conn[Req, Rep]) write() {
	if c.phase >= closing || !c.writable {
		return
	}
	w := c.Worker()
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
		if c.phase != open || c.inflight.Complete() || (!c.full() && (c.readable || c.from < c.in.Len())) {
			c.schedule()
		}
	}
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
		c.dropInput()
	}
}

// arm has run called when a timeout could have passed. A timer isn't moved when
// bytes come: it looks again when it fires. There always is one, so that the
// end of the house ends the connection.
func (c *conn[Req, Rep]) arm(w *stack.Worker) {
	if !c.idle.Waiting() {
		core.Timer.Ask(&c.Stack, &c.idle, remaining(c.serve.config.IdleTimeout, w.Now-c.activeAt))
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
	c.inflight.Cancel(w)
	c.phase = closed
	c.discard(w)
	if c.begun != nil {
		w.Discard(&c.begun.Stack)
		c.begun = nil
	}
	c.dropInput()
	c.out.drop()
	c.site.poller.Remove(c.token, c.fd)
	netio.Close(c.fd)
	c.site.remove(c)
}
