package channel

import (
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// readsMax is how many reads a connection makes in one of its turns, before
// others have theirs.
const readsMax = 4

// readMax is the largest Config.ReadSize.
const readMax = pool.SlabMax

// conn is one accepted connection. It is an owned stack of the house that serves
// it, pushed whenever there is something to do; all its fields belong to that
// house's worker.
//
//	open      reads, decodes, answers
//	draining  reads no more; closes when nothing is in flight or unsent: the
//	          client ended its side, sent what can't be decoded, asked for its last
//	          result, or the server drains
//	closed    the descriptor is closed; requests still under way end unheard
type conn[Req, Rep any] struct {
	stack.Stack
	site  *site
	serve *service[Req, Rep]
	codec Codec[Req, Rep]
	fd    int
	token netio.Token

	queued   bool // pushed, and not run yet
	draining bool
	deaf     bool // draining, and results are dropped
	closed   bool
	readable bool // the socket may have bytes
	hungUp   bool // the client ended, or broke, its side
	writable bool // the socket may take bytes
	refused  error

	in       pool.Bytes // received and not decoded: in.B()[from:]
	from     int
	inflight stack.Inflight[Req, Rep]
	out      output
	flush    stack.Deferred

	activeAt int64 // when bytes last came, ns
	stuckAt  int64 // since when the socket takes nothing, ns; 0: it does
	idle     core.Future[core.Tick]
	stuck    core.Future[core.Tick]

	prev, next connection // among the site's
}

// Ready is called by the poller, in the worker's turn.
func (c *conn[Req, Rep]) Ready(r netio.Ready) {
	c.readable = c.readable || r&(netio.Readable|netio.Closed) != 0
	c.hungUp = c.hungUp || r&netio.Closed != 0
	c.writable = c.writable || r&netio.Writable != 0
	if c.readable || c.out.unsent > 0 {
		c.schedule()
	}
}

// schedule has run called in a turn of the house.
func (c *conn[Req, Rep]) schedule() {
	if !c.queued && !c.closed {
		c.queued = true
		c.Worker().Push(&c.Stack)
	}
}

// run is the step of the connection when it was pushed.
func (c *conn[Req, Rep]) run() core.Yield {
	c.queued = false
	if c.closed {
		return stack.End(&c.Stack)
	}
	w := c.Worker()
	c.encode(w)
	if c.refused == nil && !c.draining {
		c.receive(w)
	}
	if c.late(w.Now) || c.finished() {
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

// receive reads and decodes until the socket has no more, a limit stops it, or
// it has had its share of the turn.
func (c *conn[Req, Rep]) receive(w *stack.Worker) {
	for range readsMax {
		c.decode(w)
		if !c.readable || c.full() || c.refused != nil || c.draining {
			return
		}
		if !c.read(w) {
			return
		}
	}
	c.decode(w)
	if c.readable && !c.full() && !c.draining {
		c.schedule()
	}
}

// full reports whether results must leave before more requests may come in.
func (c *conn[Req, Rep]) full() bool {
	return c.inflight.Len() >= c.serve.config.InflightMax || c.out.unsent >= c.serve.config.OutputMax
}

// read reads once; false: there is nothing, or the client has ended its side.
func (c *conn[Req, Rep]) read(w *stack.Worker) bool {
	have := c.room(w)
	space := c.in.Grow(c.in.Cap()).B()[have:]
	n, err := netio.Read(c.fd, space)
	if n > 0 {
		c.in = c.in.Grow(have + n)
		c.activeAt = w.Now
		if n < len(space) && !c.hungUp {
			c.readable = false // drained; the next byte is a new event
		}
		return true
	}
	c.readable = false
	if err != netio.ErrAgain {
		c.draining = true
		c.hungUp = true
	}
	if c.in.Len() == c.from {
		c.dropInput()
	}
	return false
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
	if c.in.Cap() > 0 && c.in.Cap()-c.in.Len() >= min(want-have, want/4) && c.in.Cap()-c.from > have {
		return c.in.Len()
	}
	b := w.Shard.Bytes(max(want, have+want/4))
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
	for c.from < c.in.Len() && !c.full() && c.refused == nil && !c.draining {
		s := stack.Inbound[Req, Rep](w, c.House(), c.serve.handler, c)
		n, err := c.codec.Decode(c.in.B()[c.from:], &s.Req)
		if n > 0 && err == nil {
			c.inflight.Accept(w, s, c.in)
			c.from += n
			continue
		}
		w.Discard(&s.Stack)
		switch {
		case err == ErrSkip && n > 0:
			c.from += n
		case err != nil:
			c.refused = err
			c.serve.counts.refused.Add(1)
		default:
			return
		}
	}
	if c.from == c.in.Len() && c.in.Len() > 0 {
		c.dropInput()
	}
}

// result is called when a request in flight has ended.
func (c *conn[Req, Rep]) result() {
	if c.closed {
		c.discard(c.Worker())
		return
	}
	c.schedule()
}

// encode turns complete results into bytes, in the order of their requests,
// unless too many are unsent already.
func (c *conn[Req, Rep]) encode(w *stack.Worker) {
	if c.deaf {
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
	if c.refused != nil && c.inflight.Len() == 0 && !c.draining {
		room := c.out.reserve(&w.Shard, refusalMax)
		c.out.commit(c.codec.Refuse(room, c.refused))
		c.draining = true
	}
}

// hangUp ends what is in flight: no further result is heard.
func (c *conn[Req, Rep]) hangUp(w *stack.Worker) {
	c.draining, c.deaf = true, true
	c.inflight.Cancel(w)
	c.discard(w)
}

// discard frees complete results that nobody will read.
func (c *conn[Req, Rep]) discard(w *stack.Worker) {
	for c.inflight.Complete() {
		c.inflight.Pop(w)
	}
}

// finished reports whether a draining connection has nothing left to do.
func (c *conn[Req, Rep]) finished() bool {
	return c.draining && c.inflight.Len() == 0 && c.out.unsent == 0
}

// write is the deferred end of a turn: it sends what the turn encoded.
func (c *conn[Req, Rep]) write() {
	if c.closed || !c.writable {
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
		c.out.drop()
		c.hangUp(w)
		c.schedule()
	case c.draining || c.inflight.Complete() || (!c.full() && (c.readable || c.from < c.in.Len())):
		c.schedule()
	}
}

// late reports whether a timeout has passed.
func (c *conn[Req, Rep]) late(now int64) bool {
	f := &c.serve.config
	if c.stuckAt != 0 && now-c.stuckAt >= int64(f.WriteTimeout) {
		c.serve.counts.writeTimeouts.Add(1)
		return true
	}
	if c.inflight.Len() == 0 && c.out.unsent == 0 && now-c.activeAt >= int64(f.IdleTimeout) {
		c.serve.counts.idleTimeouts.Add(1)
		return true
	}
	return false
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

// drain has the connection close when its results are out.
func (c *conn[Req, Rep]) drain() {
	c.draining = true
	c.schedule()
}

// kill closes the connection at once.
func (c *conn[Req, Rep]) kill() {
	if c.closed {
		return
	}
	c.out.drop()
	c.hangUp(c.Worker())
	c.schedule()
}

// close releases everything. It is called once, by the runtime, when run has
// ended for good, panicked, or the house stopped.
func (c *conn[Req, Rep]) close() {
	if c.closed {
		return
	}
	c.closed = true
	w := c.Worker()
	c.site.poller.Remove(c.token, c.fd)
	netio.Close(c.fd)
	c.dropInput()
	c.out.drop()
	c.inflight.Cancel(w)
	c.discard(w)
	c.site.remove(c)
}
