package stage

import (
	"time"

	"github.com/stackhouse-go/stackhouse/pool"
)

// Stage is a value that has the methods of one or more of [Receiver], [Sender], [Opener], [Ticker],
// [Meter], [Sleeper] and [Closer]. It belongs to one connection: its methods are called in turns of
// the worker that has the connection, never two at a time. They must not block.
//
// An error that a method returns ends the connection: nothing more is received, what stages have
// handed down is still written. A panic ends the connection at once.
type Stage any

// Receiver is a Stage that changes bytes on their way in.
type Receiver interface {
	// Receive takes p, all of it, which came from the socket's side, and hands what it means to
	// f.Up; what it can't use yet it keeps. p is valid during the call only. It returns io.EOF if
	// the other end has said that nothing follows: what is behind it is dropped.
	Receive(f *Flow, p []byte) error
	// ReceiveEnd tells that the stream has ended, behind all that came. It may hand up what the
	// stage has kept, and return an error because the end came too early.
	ReceiveEnd(f *Flow) error
}

// Sender is a Stage that changes bytes on their way out.
type Sender interface {
	// Send takes p, all of it, which the codec's side sends, and hands what becomes of it to
	// f.Down. p is valid during the call only.
	Send(f *Flow, p []byte) error
	// SendEnd tells that nothing more is sent. It may hand a last word to f.Down.
	SendEnd(f *Flow) error
}

// Opener is a Stage that does something at the begin of its connection, before all else.
type Opener interface {
	Open(f *Flow) error
}

// Ticker is a Stage that sets alarms.
type Ticker interface {
	// Tick is called when an alarm has gone off, see Flow.Alarm.
	Tick(f *Flow) error
}

// Meter is a Stage that counts what the socket takes and gives.
type Meter interface {
	// Moved tells that so many bytes were read from the socket, or written to it.
	Moved(f *Flow, received, sent int)
}

// Sleeper is a Stage whose work goes on elsewhere, on goroutines.
type Sleeper interface {
	// Wake is called, once or more often, when somebody has called what Flow.Waker returned. It
	// returns io.EOF as Receiver.Receive does.
	Wake(f *Flow) error
}

// Closer is a Stage that has something to give back.
type Closer interface {
	// Closed tells that the connection has ended, whichever way. Nothing is called behind it.
	Closed(f *Flow)
}

// Flow is a Stage's place in its pipeline, by which the stage acts on its connection. It may be
// used in the stage's methods only.
type Flow struct {
	pipeline *Pipeline

	// the stage, as each of these; nil: it isn't one
	receiver Receiver
	sender   Sender
	opener   Opener
	ticker   Ticker
	meter    Meter
	sleeper  Sleeper
	closer   Closer

	up, down *Flow // the next Receiver and the next Sender on the way; nil: the codec, the socket
	ended    bool  // the stream of received bytes has ended for the stage
	alarm    int64 // when Tick is due, ns; 0: never

	holdsReading, holdsSending, holdsOpening, keepsPart bool
}

// Up hands received bytes on to the codec's side. p is used during the call only.
func (f *Flow) Up(p []byte) {
	switch l := f.pipeline; {
	case len(p) == 0 || l.err != nil || l.ended:
	case f.up == nil:
		if l.holdOpening > 0 {
			panic("stage: bytes for the codec of a connection whose opening is held")
		}
		l.ends.Up(p)
	default:
		f.up.receive(p)
	}
}

// Down hands bytes on to the socket's side. p is used during the call only.
func (f *Flow) Down(p []byte) {
	switch l := f.pipeline; {
	case len(p) == 0 || l.err != nil:
	case f.down == nil:
		l.ends.Down(p)
	default:
		l.note(f.down.sender.Send(f.down, p))
	}
}

// Now returns when the connection's turn began, ns on the worker's clock.
func (f *Flow) Now() int64 { return f.pipeline.now }

// Alarm has Tick called once d has passed. While an alarm waits a further one does nothing: a stage
// that waits for several things sets the first, and looks again in Tick.
func (f *Flow) Alarm(d time.Duration) {
	if f.alarm == 0 {
		f.alarm = f.pipeline.now + int64(max(d, 0))
	}
}

// HoldReading keeps the connection from reading until it is called with false. Bytes that were read
// before may still come to Receive.
func (f *Flow) HoldReading(hold bool) { f.pipeline.holdReading += f.hold(&f.holdsReading, hold) }

// HoldSending keeps bytes of the codec from being sent, until it is called with false. What stages
// hand down themselves is sent. A connection is closed if its bytes are held for
// channel.Config.WriteTimeout.
func (f *Flow) HoldSending(hold bool) { f.pipeline.holdSending += f.hold(&f.holdsSending, hold) }

// KeepPart says whether the stage keeps the beginning of something, of which a client must send the
// rest in channel.Config.RequestTimeout.
func (f *Flow) KeepPart(keep bool) { f.pipeline.keepPart += f.hold(&f.keepsPart, keep) }

// HoldOpening keeps the connection from being told of as opened, see channel.Handler.WithOpened,
// until it is called with false: before anything is handed up. It is for what says more of the
// other end. One that ends before isn't told of.
func (f *Flow) HoldOpening(hold bool) { f.pipeline.holdOpening += f.hold(&f.holdsOpening, hold) }

// Waker returns a function that any goroutine may call, at any time: it has the stages' Wake called
// in a turn that is to come, unless the connection ends before. Where nobody can wake a connection
// it panics.
func (f *Flow) Waker() func() {
	by, ok := f.pipeline.ends.(Waking)
	if !ok {
		panic("stage: a stage that sleeps, in a connection that nobody can wake")
	}
	return by.Waker()
}

// Bytes returns n bytes from the pool of the connection's worker, contents undefined. The stage
// releases them: in Closed at the latest.
func (f *Flow) Bytes(n int) pool.Bytes { return f.pipeline.ends.Bytes(n) }

// SetSession says what the two ends have agreed upon: the protocol, "" if that was no question, and
// whatever users are to know of it. Only a stage that holds the opening may call it.
func (f *Flow) SetSession(protocol string, session any) {
	if !f.holdsOpening {
		panic("stage: the session of a connection is changed that others may know")
	}
	f.pipeline.protocol, f.pipeline.session = protocol, session
}

// RemoteAddr returns the address of the other end, as channel.Peer.Addr does.
func (f *Flow) RemoteAddr() string {
	if at, ok := f.pipeline.ends.(Addressed); ok {
		return at.RemoteAddr()
	}
	return ""
}

// SetRemoteAddr says whose the connection is, in place of whoever has dialled. Only a stage that
// holds the opening may call it.
func (f *Flow) SetRemoteAddr(addr string) {
	if !f.holdsOpening {
		panic("stage: the address of a connection is changed that others may know")
	}
	if at, ok := f.pipeline.ends.(Addressed); ok {
		at.SetRemoteAddr(addr)
	}
}

// hold returns by how much the number of flows that hold something changes.
func (f *Flow) hold(holds *bool, hold bool) int {
	switch {
	case *holds == hold:
		return 0
	case hold:
		*holds = true
		return 1
	}
	*holds = false
	return -1
}

// Close ends the connection as channel.Peer.Close does: what was sent before is still written,
// unless a stage holds it.
func (f *Flow) Close() { f.pipeline.closing = true }
