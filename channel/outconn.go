package channel

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/sent"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// outConn is the typed half of a client's connection: it makes bytes of asks, and replies of what
// came. Of the phases it has connecting, open, closing and closed.
type outConn[Req, Rep any] struct {
	wire
	pool     *connPool[Req, Rep]
	codec    ClientCodec[Req, Rep] // nil until the first turn
	numbered Numbered[Req, Rep]    // the codec, if it is; otherwise nil
	loner    Alone[Req]            // the codec, if it is; otherwise nil

	requests sent.Requests[*stack.Stack]
	encoded  uint64 // bytes of requests, from the beginning
	reply    Rep    // what is decoded before it is known whose it is
	openedAt int64  // when it began to connect, ns
	joined   bool   // the pool counts it among its connections
	proved   bool   // a reply has come
	broken   error  // why it can't send any more; nil: it can

	panicked any  // by the codec, outside of a step
	judging  bool // Alone is called, of the ask that has waited longest
	// why the connection is to end; nil: it isn't. While the codec is at work it is core.ErrPanic,
	// and stays so if that panics
	why error
}

// Why connections end.
var (
	errIdle         = errors.New("channel: nobody has used the connection")
	errReplyTimeout = errors.New("channel: the server has not replied in time")
	errWriteTimeout = errors.New("channel: the server takes no bytes")
	errUnasked      = errors.New("channel: a reply came that nobody has asked for")
	errConnectTime  = errors.New("channel: the server has not accepted the connection in time")
)

// newOutConn returns the connection of fd, which is connecting.
func newOutConn[Req, Rep any](p *connPool[Req, Rep], fd int) *outConn[Req, Rep] {
	config := &p.client.config
	c := &outConn[Req, Rep]{pool: p, requests: sent.Make[*stack.Stack](config.InflightMax)}
	c.tools, c.fd, c.phase, c.urgent = &p.tools, fd, connecting, config.Network == "unix"
	stack.Own(c, p.house, p.client.conn)
	c.house = p.house
	c.activeAt = c.Engine().Now
	c.openedAt = c.activeAt
	c.flush.Run = func(*stack.Deferred) { c.write() }
	return c
}

// run is the step of the connection after a push.
func (c *outConn[Req, Rep]) run() core.Yield {
	c.queued = false
	if c.phase == closed {
		return c.End()
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	w := c.Engine()
	if c.why == nil && c.codec == nil {
		c.makeCodec()
	}
	if c.phase == connecting {
		c.join()
	}
	if c.phase == open && c.why == nil {
		c.wakeStages()
		c.openLate()
		c.receive(w)
		c.openLate()
		if c.why == nil {
			c.why = c.stagesEnd()
		}
		if c.why == nil && !c.readable {
			c.why = c.broken
		}
		c.lookTimes(w.Now)
	}
	if c.why != nil {
		return c.End()
	}
	if c.toSend() {
		w.Defer(&c.flush)
	}
	c.arm(w.Now)
	return stack.Again(&c.Stack)
}

func (c *outConn[Req, Rep]) makeCodec() {
	c.why = core.ErrPanic
	c.setCodec(c.pool.client.config.Codec())
	c.why = nil
}

func (c *outConn[Req, Rep]) setCodec(codec ClientCodec[Req, Rep]) {
	if codec == nil {
		panic(errNoCodec)
	}
	c.codec = codec
	c.numbered, _ = codec.(Numbered[Req, Rep])
	c.loner, _ = codec.(Alone[Req])
}

// tick is the step of the connection after a timer has fired.
func (c *outConn[Req, Rep]) tick() core.Yield {
	c.lookUntaken(c.Engine().Now)
	if c.why == nil {
		c.tickStages()
	}
	c.schedule()
	c.arm(c.Engine().Now)
	return stack.Again(&c.Stack)
}

// end has the connection end in its next step; cause says why.
func (c *outConn[Req, Rep]) end(cause error) {
	if c.why == nil {
		c.why = cause
		c.schedule()
	}
}

// join looks whether the server has accepted: connecting -> open.
func (c *outConn[Req, Rep]) join() {
	config := &c.pool.client.config
	switch err := c.net().ConnectError(c.fd); {
	case c.why != nil:
	case err == nil:
		c.phase, c.writable, c.readable = open, true, true
		c.activeAt = c.Engine().Now
		c.tune(config.KeepAlive, config.WriteTimeout)
		c.openStages(config.Stages, clientOf(config.TLS, config.Address, ""))
		if !c.isUnopened() {
			c.opens()
		}
	case err != netio.ErrAgain:
		c.why = err
	case c.Engine().Now-c.activeAt >= int64(config.ConnectTimeout):
		c.why = errConnectTime
	}
}

// opens has the pool use the connection.
func (c *outConn[Req, Rep]) opens() {
	c.joined = true
	c.pool.dialer.joined(c)
}

// openLate has the pool use the connection once no stage keeps it from that.
func (c *outConn[Req, Rep]) openLate() {
	if !c.opensNow() {
		return
	}
	if by := c.pool.client.config.CodecFor; by != nil {
		c.why = core.ErrPanic
		c.setCodec(by(c.staged.Protocol()))
		c.why = nil
	}
	c.opens()
}

// lookTimes ends the connection if it is late, or nobody uses it.
func (c *outConn[Req, Rep]) lookTimes(now int64) {
	config := &c.pool.client.config
	_, since, waits := c.requests.Oldest()
	switch {
	case c.why != nil:
	case waits && now-since >= int64(config.ReplyTimeout):
		c.why = errReplyTimeout
	case c.isStuck(now, config.WriteTimeout):
		c.why = errWriteTimeout
	case !waits && c.pool.waiting.len() == 0 && now-c.activeAt >= int64(config.IdleTimeout):
		c.why = errIdle
	}
}

// lookMin is how late a connection may find that it is idle, so that a very short IdleTimeout
// doesn't have it look all the time while it isn't.
const lookMin = time.Millisecond

// arm has tick called when the connection may be late. The timer isn't moved: tick looks again. It
// always waits, so that the end of the house ends the connection.
func (c *outConn[Req, Rep]) arm(now int64) {
	config := &c.pool.client.config
	c.armStuck(now, config.WriteTimeout)
	c.armStages()
	if c.idle.Waiting() {
		return
	}
	first := min(remaining(config.ReplyTimeout, 0), remaining(config.IdleTimeout, now-c.activeAt))
	if c.phase == connecting {
		first = min(max(first, lookMin), remaining(config.ConnectTimeout, now-c.activeAt))
	} else if _, since, waits := c.requests.Oldest(); waits { // when the timer fires it may be idle
		first = min(remaining(config.ReplyTimeout, now-since), max(remaining(config.IdleTimeout, 0), lookMin))
	}
	core.Timer.Ask(&c.Stack, &c.idle, first)
}

// mayEncode reports whether the connection may take the ask that has waited longest.
func (c *outConn[Req, Rep]) mayEncode() bool {
	return c.joined && c.phase == open && c.why == nil && c.broken == nil && !c.hungUp && c.requests.Admits(c.pool.alone) && c.out.unsent < c.pool.client.config.OutputMax
}

// write is the work of flush, at the end of a turn: it encodes asks that wait, and sends.
func (c *outConn[Req, Rep]) write() {
	if c.phase != open || c.why != nil || !c.encodeLate() {
		return
	}
	if c.noteHeld(); !c.writable || !c.toSend() {
		return
	}
	w := c.Engine()
	switch err := c.send(w.Now); {
	case err == netio.ErrAgain:
	case err != nil: // what has come is read all the same
		c.broken, c.readable = err, true
		c.schedule()
	case c.toSend(): // others have their turn
		w.DeferOn(&c.flush)
	case c.pool.waiting.len() > 0 && c.mayEncode():
		w.Defer(&c.flush)
	}
}

// encodeLate is encode outside of a step. If the codec panics it reports false, and the next step
// panics in its place.
func (c *outConn[Req, Rep]) encodeLate() bool {
	defer func() {
		if c.panicked = recover(); c.panicked != nil {
			if c.judging { // no other connection is to try it
				c.pool.client.stats.notSent.Add(1)
				c.Engine().Answer(c.pool.next(), pool.Bytes{}, fmt.Errorf("%w: %w", core.ErrNotSent, core.ErrPanic))
			}
			c.schedule()
		}
	}()
	c.encode()
	return true
}

// encode makes bytes of the asks that wait, as many as there is room for. An ask that was given up
// meanwhile is answered without.
func (c *outConn[Req, Rep]) encode() {
	w, p := c.Engine(), c.pool
	for p.waiting.len() > 0 && c.mayEncode() {
		s := p.waiting.oldest()
		if err := s.Due(w.Now); err != nil {
			w.Answer(p.next(), pool.Bytes{}, err)
			continue
		}
		c.encodeOne(w, s)
	}
	if p.waiting.len() > 0 {
		p.send(w)
	}
	p.lookRest()
}

// encodeOne makes bytes of s, which has waited longest; unless it must go alone, and can't yet.
func (c *outConn[Req, Rep]) encodeOne(w *stack.Engine, s *stack.Stack) {
	req := stack.Request[Req, Rep](s)
	c.why = core.ErrPanic
	if c.loner != nil {
		c.judging = true
		c.pool.alone = c.loner.Alone(req)
		c.judging = false
	}
	if alone := c.pool.alone; c.requests.Admits(alone) {
		number := c.requests.Add(c.pool.next(), c.encoded, w.Now, alone)
		if c.numbered != nil {
			c.numbered.SetNumber(req, uint64(number))
		}
		before := c.out.unsent
		c.out.commit(c.codec.AppendRequest(c.out.reserve(&w.Shard, c.codec.RequestSize(req)), req))
		c.encoded += uint64(c.out.unsent - before)
	}
	c.why = nil
}

// receive reads and decodes, for the connection's share of a turn.
func (c *outConn[Req, Rep]) receive(w *stack.Engine) {
	for reads := 0; ; reads++ {
		c.decode(w)
		if c.why != nil || !c.readable {
			break
		}
		if reads == readsMax {
			c.schedule()
			break
		}
		need := 1
		if c.partial {
			c.why = core.ErrPanic
			need = c.codec.Need()
			c.why = nil
		}
		switch _, err := c.fill(w, math.MaxInt, need); err {
		case nil, netio.ErrAgain:
		case io.EOF:
			c.why = io.ErrUnexpectedEOF
			if c.requests.Len() == 0 {
				c.why = io.EOF
			}
		default:
			c.why = err
		}
	}
	if c.in.len() == 0 || c.requests.Len() == 0 {
		c.in.shrink(&w.Shard)
	}
	if c.pool.waiting.len() > 0 {
		c.pool.send(w)
	}
	c.pool.lookRest()
}

// decode answers the asks whose replies have come.
func (c *outConn[Req, Rep]) decode(w *stack.Engine) {
	for c.in.len() > 0 && !c.partial && c.why == nil {
		c.decodeOne(w, c.in.rest())
	}
}

// decodeOne decodes a reply from the start of in.
func (c *outConn[Req, Rep]) decodeOne(w *stack.Engine, in []byte) {
	rep := &c.reply
	if c.numbered == nil {
		if s, _, ok := c.requests.Oldest(); ok {
			rep = stack.Reply[Rep](s)
		}
	}
	var zero Rep
	c.why = core.ErrPanic
	n, err := c.codec.Decode(in, rep)
	if uint(n) > uint(len(in)) {
		panic("channel: Decode took other bytes than it got")
	}
	c.why = nil
	if n == 0 || err == ErrSkip {
		*rep = zero
		c.in.from += n
		if c.partial = n == 0; err != ErrSkip || c.partial {
			c.why = err
		}
		return
	}
	bytes := c.in.slab.Slice(c.in.from, c.in.from+n)
	c.in.from += n
	c.activeAt = w.Now
	s, ok := c.askOf(rep)
	if !ok {
		c.reply, c.why = zero, errUnasked
		return
	}
	c.proved = true
	c.pool.dialer.backoff = c.pool.client.config.BackoffMin
	w.Answer(s, bytes, err)
}

// askOf takes out the ask that rep replies to, and sees to it that rep is its reply.
func (c *outConn[Req, Rep]) askOf(rep *Rep) (s *stack.Stack, ok bool) {
	if c.numbered == nil {
		s, _, ok = c.requests.Take() // rep is its reply already
		return s, ok
	}
	c.why = core.ErrPanic
	number := c.numbered.Number(rep)
	c.why = nil
	if s, _, ok = c.requests.TakeID(number); ok {
		var zero Rep
		*stack.Reply[Rep](s), *rep = *rep, zero
	}
	return s, ok
}

// close answers what is in flight, and releases everything. The runtime calls it when run or tick
// has ended for good or panicked, when the house has stopped, and when a push finds either.
func (c *outConn[Req, Rep]) close() {
	if c.phase == closed {
		return
	}
	c.phase = closed
	if c.why == nil {
		c.why = core.ErrStopped
	}
	c.answerAll(c.Engine())
	c.farewell()
	c.hangUp()
	if d := &c.pool.dialer; c.joined {
		d.left(c, c.why)
	} else {
		d.failed(c, c.why)
	}
}

// answerAll answers the asks in flight. The system has taken some bytes of those that it may have
// sent, and none of the others.
func (c *outConn[Req, Rep]) answerAll(w *stack.Engine) {
	if c.requests.Len() == 0 {
		return
	}
	taken := c.encoded - uint64(c.out.unsent) // by the system
	notSent, lost := fmt.Errorf("%w: %w", core.ErrNotSent, c.why), fmt.Errorf("%w: %w", core.ErrLost, c.why)
	for s, at, ok := c.requests.Take(); ok; s, at, ok = c.requests.Take() {
		if at >= taken {
			c.pool.client.stats.notSent.Add(1)
			w.Answer(s, pool.Bytes{}, notSent)
		} else {
			c.pool.client.stats.lost.Add(1)
			w.Answer(s, pool.Bytes{}, lost)
		}
	}
}
