package channel

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how the stages of a connection stand between its socket and its codec: see package
// stage. Bytes that were read go up through them into wire.in; those of wire.out go down through
// them into staged.raw, which the socket takes.

// staged is what a connection has that has stages.
type staged struct {
	*stage.Pipeline
	wire     *wire
	raw      output
	taken    uint64        // bytes of raw that the socket took
	need     int           // how many bytes the first message of wire.in has at least
	held     bool          // reading is held
	unopened bool          // the opening is held, or hasn't been told of yet
	over     bool          // the stages know that nothing more is sent, or aren't to know
	full     bool          // reading waits until the socket has taken bytes of raw, see rawMax
	token    atomic.Uint64 // the netio.Token of the connection
	panicked any           // by a stage, outside of a step
	alarms   []core.Future[core.Tick]
}

// errStage is why a connection ends that a stage has closed.
var errStage = errors.New("channel: a stage has closed the connection")

// openStages makes the stages of a connection that stands: those of by, and behind them secured;
// either may be nil. Only a step of it calls this.
func (c *wire) openStages(by func() []stage.Stage, secured func() stage.Stage) {
	if by == nil && secured == nil {
		return
	}
	var all []stage.Stage
	if by != nil {
		all = by()
	}
	if secured != nil {
		all = append(all, secured())
	}
	s := &staged{wire: c}
	s.Pipeline = stage.New(s, all...)
	s.alarms = make([]core.Future[core.Tick], s.Len())
	c.staged = s
	s.token.Store(uint64(c.token))
	s.Open(c.Engine().Now)
	s.unopened = s.HoldsOpening()
	s.settle()
}

// wakeStages wakes stages for which somebody has asked. Only a step calls it.
func (c *wire) wakeStages() {
	s, woken := c.staged, c.woken
	if c.woken = false; !woken || s == nil {
		return
	}
	s.Wake(c.Engine().Now)
	c.readable = c.readable || s.Ended()
	s.settle()
}

// closeStages tells the stages that the connection has ended.
func (c *wire) closeStages() {
	if s := c.staged; s != nil {
		defer s.contain()
		s.Close(c.Engine().Now)
	}
}

// Waker implements stage.Waking.
func (s *staged) Waker() func() {
	p := s.wire.net()
	return func() { p.Post(netio.Token(s.token.Load())) }
}

// RemoteAddr implements stage.Addressed.
func (s *staged) RemoteAddr() string {
	if a := s.wire.about; a != nil {
		return a.addr
	}
	return s.wire.net().RemoteAddr(s.wire.fd)
}

// SetRemoteAddr implements stage.Addressed. It changes nothing if others may know the address, as
// of a connection that Connect has opened.
func (s *staged) SetRemoteAddr(addr string) {
	if s.wire.about == nil {
		s.wire.about = &about{addr: addr}
	}
}

// opensNow reports whether the stages have just let the connection be told of. It is the transition
// from unopened.
func (c *wire) opensNow() bool {
	s := c.staged
	if s == nil || !s.unopened || s.HoldsOpening() || s.Err() != nil {
		return false
	}
	s.unopened = false
	if session := s.Session(); session != nil {
		c.Introduce()
		c.about.session = session
	}
	return true
}

// isUnopened reports whether stages keep the connection from being told of.
func (c *wire) isUnopened() bool { return c.staged != nil && c.staged.unopened }

// moveTo has the stages stand before another connection, of the same socket.
func (s *staged) moveTo(c *wire) {
	s.wire = c
	s.token.Store(uint64(c.token))
	c.woken = true                                     // the former connection may have been asked
	s.alarms = make([]core.Future[core.Tick], s.Len()) // others end with the former connection
	s.settle()
}

// tickStages tells the stages the time. Only a step calls it.
func (c *wire) tickStages() {
	if s := c.staged; s != nil {
		s.Tick(c.Engine().Now)
		s.settle()
	}
}

// stagesEnd returns why the connection is to end, if its stages have failed, or errStage if they
// want it to. Only a step calls it.
func (c *wire) stagesEnd() error {
	s := c.staged
	switch {
	case s == nil:
		return nil
	case s.panicked != nil:
		panic(s.panicked)
	case s.Err() == nil && s.Closing():
		return errStage
	}
	return s.Err()
}

// hasUnsent reports whether the socket has yet to take bytes.
func (c *wire) hasUnsent() bool {
	return c.out.unsent > 0 || c.staged != nil && c.staged.raw.unsent > 0
}

// heldUnsent reports whether there is something to send, all of which stages hold.
func (c *wire) heldUnsent() bool { return c.out.unsent > 0 && !c.toSend() }

// noteHeld has the write timeout begin if stages hold all that is to be sent.
func (c *wire) noteHeld() {
	if c.stuckAt == 0 && c.heldUnsent() {
		c.schedule() // to arm it
	}
}

// readingHeld reports whether a stage keeps the connection from reading.
func (c *wire) readingHeld() bool { return c.staged != nil && c.staged.held }

// stagesWait reports whether a stage keeps a part of something, whose rest must come.
func (c *wire) stagesWait() bool { return c.staged != nil && c.staged.KeepsPart() }

// toSend reports whether the socket may be given bytes: those that stages don't hold.
func (c *wire) toSend() bool {
	if s := c.staged; s != nil {
		return s.raw.unsent > 0 || c.out.unsent > 0 && s.sends()
	}
	return c.out.unsent > 0
}

// saidAll reports whether the stages have sent their last words, once everything else is sent.
func (c *wire) saidAll() bool {
	s := c.staged
	if s == nil || c.cut {
		return true
	}
	if !s.over {
		s.over = true
		s.SendEnd(c.Engine().Now)
		s.settle()
	}
	return s.raw.unsent == 0
}

// farewell sends the last words of the stages, as far as the socket takes them at once; unless they
// would be taken for the end of what isn't sent any more.
func (c *wire) farewell() {
	if c.staged == nil || c.staged.panicked != nil || c.out.unsent > 0 {
		return
	}
	defer c.staged.contain()
	if !c.saidAll() {
		c.staged.raw.send(c.net(), c.fd, &c.tools.iov, writeMax)
	}
}

// Up implements stage.Ends.
func (s *staged) Up(p []byte) {
	s.wire.in.add(&s.wire.Engine().Shard, p, s.need)
	s.wire.partial = false
}

// Bytes implements stage.Ends.
func (s *staged) Bytes(n int) pool.Bytes { return s.wire.Engine().Shard.Bytes(n) }

// Down implements stage.Ends.
func (s *staged) Down(p []byte) {
	s.raw.commit(append(s.raw.reserve(&s.wire.Engine().Shard, len(p)), p...))
}

// settle does what the stages want. It is called after each call of the pipeline's.
func (s *staged) settle() {
	s.heed()
	if s.wire.toSend() {
		s.wire.Engine().Defer(&s.wire.flush)
	}
}

// heed is settle where bytes are being sent already.
func (s *staged) heed() {
	c := s.wire
	if held := s.HoldsReading(); held != s.held {
		s.held, c.readable = held, !held
		c.schedule()
	}
	if s.Err() != nil || s.Closing() || s.toArm() {
		c.schedule()
	}
}

// dropUnlowered drops bytes that the stages haven't let pass: nor do they say any more that this
// was all.
func (c *wire) dropUnlowered() {
	c.staged.over = c.staged.over || c.out.unsent > 0
	c.out.drop()
}

// toArm reports whether a stage has set an alarm that no timer waits for.
func (s *staged) toArm() bool {
	for i := range s.alarms {
		if s.Alarm(i) != 0 && !s.alarms[i].Waiting() {
			return true
		}
	}
	return false
}

// armStages has tick called when alarms of stages go off. Only a step calls it.
func (c *wire) armStages() {
	s := c.staged
	if s == nil {
		return
	}
	for i := range s.alarms {
		if at := s.Alarm(i); at != 0 && !s.alarms[i].Waiting() {
			core.Timer.Ask(&c.Stack, &s.alarms[i], time.Duration(at-c.Engine().Now))
		}
	}
}

// rawMax is how many bytes of raw keep a connection from reading, so that what stages answer to
// what they read is bounded. Bytes of the codec never come to so many, see lower.
const rawMax = 2 * writeMax

// fill is wire.fill through the stages.
func (s *staged) fill(w *stack.Engine, most, need int) (n int, err error) {
	c := s.wire
	c.readable = false
	switch {
	case s.Err() != nil:
		return 0, netio.ErrAgain // stagesEnd says why the connection ends
	case s.Ended():
		c.readable = true // for a connection that lingers: the poller may have told of the socket's end
		return 0, io.EOF
	case s.held:
		return 0, netio.ErrAgain
	case s.raw.unsent >= rawMax:
		s.full = true
		return 0, netio.ErrAgain
	}
	space := c.tools.buffer[:min(len(c.tools.buffer), most)]
	n, err = c.net().Read(c.fd, space)
	if n <= 0 && err != io.EOF {
		return 0, err
	}
	s.need = need
	if n > 0 {
		s.Receive(w.Now, space[:n])
	} else {
		c.eof = true
		s.ReceiveEnd(w.Now)
	}
	c.readable = n == len(space) || c.hungUp || c.urgent || s.Ended()
	s.settle()
	return n, nil
}

// contain is deferred where stages run outside of a step: the next step panics in their place.
func (s *staged) contain() {
	if value := recover(); value != nil {
		s.panicked = value
		s.wire.schedule()
	}
}

// sent notes that the socket has taken n bytes of raw.
func (s *staged) sent(now int64, n int) {
	defer s.contain()
	s.taken += uint64(n)
	s.Sent(now, n)
	if s.full && s.raw.unsent < rawMax {
		s.full, s.wire.readable = false, true
		s.wire.schedule()
	}
	s.heed()
}

// sends reports whether bytes of the codec may go down.
func (s *staged) sends() bool { return s.Err() == nil && !s.HoldsSending() && s.panicked == nil }

// lower has bytes of the codec go down, as many as the socket may be given now, and returns what is
// for the socket. If a stage panics the next step panics in its place.
func (s *staged) lower(now int64) (raw *output) {
	raw = &s.raw
	defer s.contain()
	for c := s.wire; c.out.unsent > 0 && s.raw.unsent < writeMax && s.sends(); {
		b := c.out.chunks[c.out.first].next(chunkSize)
		s.Send(now, b)
		c.out.sent(len(b))
	}
	s.heed()
	return raw
}
