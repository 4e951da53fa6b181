package channel

import (
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

const (
	// writeMax is how many bytes a connection sends at the end of a turn. The system may hand them
	// to their reader on the same CPU: 1 MiB takes as long as two turns.
	writeMax = 64 << 10
	// readMax is the largest Config.ReadSize.
	readMax = pool.SlabMax
	// stuckLooks is how often in WriteTimeout a connection whose socket takes nothing looks whether
	// the other end does.
	stuckLooks = 4
)

// phase is a connection's life. It only ever goes forward.
//
//	connecting
//	          a client's, or an actor's own: the other end hasn't accepted yet
//	open      reads, decodes, answers
//	leaving   the server drains: as open, until what had arrived is read; then ending
//	half      the other end has ended its side, and the actor was told: results are still written,
//	          and messages taken, until the Peer is closed, the server drains, or IdleTimeout
//	refusing  the client sent what can't be decoded, or too slowly: takes nothing in; when all
//	          requests in flight are answered the client is told why; then ending
//	ending    takes nothing in, as after the client's end or IdleTimeout; when nothing is in
//	          flight or unsent it lingers, or closes if the client has ended its side
//	changing  behind the result of a request that upgrades it: takes nothing in, results are
//	          dropped, and once nothing is in flight its bytes are another's, see upgrade.go
//	deaf      as ending, and results are dropped: after the result that was to be the last, after
//	          a failure of the socket, or when the server cuts off; the latter two don't linger
//	lingering all is sent: waits for the client's end, see linger.go
//	closing   requests in flight are being cancelled
//	closed    the descriptor is closed; results of requests still under way are dropped
type phase uint8

const (
	connecting phase = iota
	open
	leaving
	half
	refusing
	ending
	changing
	deaf
	lingering
	closing
	closed
)

// tools is what the connections of one actor use in turn.
type tools struct {
	poller *netio.Poller
	buffer []byte // connections read to it; nothing stays there
	iov    netio.IOVecs
}

// wire is the byte half of a connection: its socket, what came and isn't decoded, what waits to be
// sent, and since when either hasn't moved. The typed half embeds it, gives what came a meaning,
// and decides when to read and when to end. Both are one owned stack of the house whose actor has
// the connection, pushed whenever there is something to do; all fields belong to that house's
// worker.
type wire struct {
	stack.Stack
	house *stack.House // of Stack, whose own word each push writes: other threads read this one
	tools *tools
	fd    int
	token netio.Token
	// of the other end, once it was asked for; then it isn't written again, as other goroutines may
	// read it
	about *about

	phase    phase
	queued   bool          // pushed, and not run yet
	readable bool          // the socket may have bytes
	urgent   bool          // a read may leave bytes, as at urgent data or a message with descriptors
	writable bool          // the socket may take bytes
	hungUp   bool          // the other end ended, or broke, its side
	suspect  bool          // hungUp was set since the last look
	eof      bool          // all that the other end sent, up to its end, was read
	muted    bool          // this side was ended: see Peer.End
	cut      bool          // closes at once, without lingering
	partial  bool          // in holds no whole message, until more is read
	woken    bool          // stages are to be woken
	known    atomic.Uint32 // by other threads: whether it takes messages, see push.go

	in     input
	out    output
	flush  stack.Deferred // sends, at the end of a turn
	staged *staged        // nil: there are no stages between socket and codec

	activeAt int64 // when bytes of a message last came or went, ns
	// since when neither the socket nor, as far as known, the other end takes bytes, ns; 0: one does
	stuckAt int64
	idle    core.Future[core.Tick]
	slow    *slow   // nil: nothing was late yet
	linger  *linger // nil: it hasn't begun to linger
}

// about is what is known of the other end of a connection.
type about struct {
	addr    string
	session any // of a stage; nil: none
}

// slow is what a connection needs only once a message, from the other end or to it, was late.
type slow struct {
	owed  core.Future[core.Tick] // the rest of a message is missing
	stuck core.Future[core.Tick]
	// bytes that the other end had yet to take at stuckAt, as far as known; or held
	untaken int
}

// held is slow.untaken where it isn't the socket that takes nothing: stages do.
const held = math.MaxInt

// slowly returns c.slow, made on first use.
func (c *wire) slowly() *slow {
	if c.slow == nil {
		c.slow = &slow{}
	}
	return c.slow
}

// Ready is called by the poller, in the worker's turn.
func (c *wire) Ready(r netio.Ready) {
	c.readable = c.readable || r&(netio.Readable|netio.Closed) != 0
	c.writable = c.writable || r&netio.Writable != 0
	c.urgent = c.urgent || r&netio.Urgent != 0
	if r&netio.Closed != 0 {
		c.hungUp, c.suspect = true, true
	}
	c.woken = c.woken || r&netio.Posted != 0
	if c.writable && c.toSend() && c.phase < closing {
		c.Engine().Defer(&c.flush)
	}
	if c.readable || c.woken || c.hasUnsent() || c.phase == connecting {
		c.schedule()
	}
}

// net returns the poller of the connection's worker.
func (c *wire) net() *netio.Poller { return c.tools.poller }

// House implements core.Endpoint.
func (c *wire) House() *stack.House { return c.house }

// Introduce implements core.Endpoint.
func (c *wire) Introduce() {
	if c.about == nil && c.phase != closed {
		c.about = &about{addr: c.net().RemoteAddr(c.fd)}
	}
}

// Addr implements core.Endpoint.
func (c *wire) Addr() string {
	if c.about == nil {
		return ""
	}
	return c.about.addr
}

// Session returns what a stage has told of the connection.
func (c *wire) Session() any {
	if c.about == nil {
		return nil
	}
	return c.about.session
}

// schedule has the step after a push run in a later visit to the house.
func (c *wire) schedule() {
	if !c.queued && c.phase < closing {
		c.queued = true
		c.Engine().Push(c.House(), &c.Stack)
	}
}

// fill reads once, most bytes at most, of a message that has at least need bytes. The error is
// netio.ErrAgain, io.EOF, or why the connection broke.
func (c *wire) fill(w *stack.Engine, most, need int) (n int, err error) {
	if c.staged != nil {
		return c.staged.fill(w, most, need)
	}
	space, own := c.tools.buffer, c.makeRoom(w, most, need)
	if own {
		space = c.in.tail()
	}
	space = space[:min(len(space), most)]
	n, err = c.net().Read(c.fd, space)
	if n <= 0 {
		c.readable = false
		c.eof = c.eof || err == io.EOF
		return 0, err
	}
	if own {
		c.in.added(n)
	} else {
		c.in.add(&w.Shard, space[:n], need)
	}
	c.partial = false
	if n < len(space) && !c.hungUp && !c.urgent {
		c.readable = false // drained; the next byte is a new event
	}
	return n, nil
}

// makeRoom makes room for the next read, of most bytes at most, behind the received part of a long
// message. It reports false if the message isn't long: then the read goes to the tools' buffer.
func (c *wire) makeRoom(w *stack.Engine, most, need int) bool {
	have, size := c.in.len(), len(c.tools.buffer)
	if have < size || need-have < size {
		return false
	}
	if size = min(size, most); c.in.free() < size {
		c.in.move(&w.Shard, have+size, need)
	}
	return true
}

// send sends what waits, for the connection's share of a turn. After netio.ErrAgain, Ready tells
// when the socket takes more; any other error has broken the connection.
func (c *wire) send(now int64) error {
	out := &c.out
	if c.staged != nil {
		out = c.staged.lower(now)
	}
	before := out.unsent
	err := out.send(c.net(), c.fd, &c.tools.iov, writeMax)
	if out.unsent < before {
		c.stuckAt, c.activeAt = 0, now
		if c.staged != nil {
			c.staged.sent(now, before-out.unsent)
		}
	}
	if err == netio.ErrAgain {
		c.writable = false
		if c.stuckAt == 0 || c.slowly().untaken == held {
			c.stuckAt = now
			c.slowly().untaken, _ = c.net().Unsent(c.fd)
			c.schedule() // to arm the write timeout
		}
	}
	return err
}

// lookUntaken notes whether the other end takes bytes although the socket doesn't: a kernel asks
// for more bytes only when it has room for many.
func (c *wire) lookUntaken(now int64) {
	if c.stuckAt == 0 || c.writable {
		return
	}
	if n, known := c.net().Unsent(c.fd); known && n < c.slow.untaken {
		c.stuckAt, c.slow.untaken = now, n
	}
}

// isStuck reports whether the other end has taken nothing for timeout.
func (c *wire) isStuck(now int64, timeout time.Duration) bool {
	if c.stuckAt == 0 || c.writable && !c.heldUnsent() || now-c.stuckAt < int64(timeout) {
		return false
	}
	c.lookUntaken(now)
	return c.stuckAt != now
}

// armStuck has tick called when isStuck may report true.
func (c *wire) armStuck(now int64, timeout time.Duration) {
	if c.stuckAt == 0 && c.heldUnsent() {
		c.stuckAt, c.slowly().untaken = now, held
	}
	if c.stuckAt != 0 && !c.slowly().stuck.Waiting() {
		core.Timer.Ask(&c.Stack, &c.slow.stuck, min(timeout/stuckLooks+1, remaining(timeout, now-c.stuckAt)))
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

// tune sets the options of a socket that has connected. A Unix socket has none of them.
func (c *wire) tune(keepAlive, write time.Duration) {
	c.net().SetNoDelay(c.fd)
	probe, ack := probing(keepAlive, write)
	c.net().SetTimeouts(c.fd, probe, ack)
}

// hangUp closes the socket and releases all bytes.
func (c *wire) hangUp() {
	c.in.drop()
	c.dropUnsent()
	c.closeStages()
	c.net().Remove(c.token, c.fd)
	c.net().CloseFD(c.fd)
}

// dropUnsent drops what the socket hasn't taken.
func (c *wire) dropUnsent() {
	c.out.drop()
	if c.staged != nil {
		c.staged.raw.drop()
	}
}
