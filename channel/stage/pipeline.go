package stage

import (
	"fmt"
	"io"

	"github.com/stackhouse-go/stackhouse/pool"
)

// Pipeline is the stages of one connection, as a state machine without I/O. Who has the connection
// calls Open first, then tells what happens to it, and does what HoldsReading, HoldsSending,
// Closing and Alarm say. New makes it.
type Pipeline struct {
	flows []Flow
	first *Flow // the Receiver at the socket; nil: none
	last  *Flow // the Sender at the codec; nil: none
	ends  Ends
	now   int64

	err     error // of a stage, the first; nothing passes behind it
	ended   bool  // nothing more comes up
	closing bool

	protocol string
	session  any

	// flows that hold it
	holdReading, holdSending, holdOpening, keepPart int
}

// Ends is the connection around a Pipeline. Its methods use p during the call only.
type Ends interface {
	Up(p []byte)   // received bytes, for the codec
	Down(p []byte) // for the socket
	// Bytes returns n bytes of the worker's pool.
	Bytes(n int) pool.Bytes
}

// Addressed is Ends that have an address.
type Addressed interface {
	RemoteAddr() string
	SetRemoteAddr(addr string)
}

// Waking is Ends whose turns others can bring about.
type Waking interface {
	// Waker returns a function that any goroutine may call, after which Pipeline.Wake is called in a
	// turn of the connection's, if that still stands.
	Waker() func()
}

// New returns the pipeline of stages, the first of which stands at the socket. It panics if one of
// them is no Stage.
func New(ends Ends, stages ...Stage) *Pipeline {
	l := &Pipeline{ends: ends, flows: make([]Flow, len(stages))}
	for i, s := range stages {
		f := &l.flows[i]
		f.pipeline = l
		f.receiver, _ = s.(Receiver)
		f.sender, _ = s.(Sender)
		f.opener, _ = s.(Opener)
		f.ticker, _ = s.(Ticker)
		f.meter, _ = s.(Meter)
		f.sleeper, _ = s.(Sleeper)
		f.closer, _ = s.(Closer)
		if f.isNone() || f.isHalf(s) {
			panic(fmt.Sprintf("stage: a %T is no Stage: it has none of the methods, or one of two", s))
		}
	}
	l.sort()
	return l
}

// isNone reports whether the value is no Stage.
func (f *Flow) isNone() bool {
	return f.receiver == nil && f.sender == nil && f.opener == nil && f.ticker == nil && f.meter == nil && f.sleeper == nil && f.closer == nil
}

// isHalf reports whether s has one of the two methods of a Receiver, or of a Sender.
func (f *Flow) isHalf(s Stage) bool {
	_, receives := s.(interface{ Receive(f *Flow, p []byte) error })
	_, ends := s.(interface{ ReceiveEnd(f *Flow) error })
	_, sends := s.(interface{ Send(f *Flow, p []byte) error })
	_, sendsEnd := s.(interface{ SendEnd(f *Flow) error })
	return f.receiver == nil && (receives || ends) || f.sender == nil && (sends || sendsEnd)
}

// sort links each flow with those that its bytes go to.
func (l *Pipeline) sort() {
	for i := range l.flows {
		f := &l.flows[i]
		if f.down = l.last; f.sender != nil {
			l.last = f
		}
	}
	for i := len(l.flows) - 1; i >= 0; i-- {
		f := &l.flows[i]
		if f.up = l.first; f.receiver != nil {
			l.first = f
		}
	}
}

// Open begins. now is on the worker's clock, ns, here and in what follows. Errors, here too, are
// those of stages: the first one, again and again.
func (l *Pipeline) Open(now int64) error {
	l.now = now
	for i := range l.flows {
		if f := &l.flows[i]; f.opener != nil && l.err == nil {
			l.note(f.opener.Open(f))
		}
	}
	return l.err
}

// Receive takes bytes that were read from the socket.
func (l *Pipeline) Receive(now int64, p []byte) error {
	l.now = now
	l.moved(len(p), 0)
	switch {
	case l.err != nil || l.ended:
	case l.first == nil:
		l.ends.Up(p)
	default:
		l.first.receive(p)
	}
	return l.err
}

// receive has the stage take p, unless the stream has ended for it.
func (f *Flow) receive(p []byte) {
	if f.ended {
		return
	}
	f.came(f.receiver.Receive(f, p))
}

// came takes what a method of the stage has returned that hands bytes up.
func (f *Flow) came(err error) {
	if err != io.EOF {
		f.pipeline.note(err)
	} else if !f.ended {
		f.ended = true
		f.up.end(f.pipeline)
	}
}

// ReceiveEnd tells that the socket has nothing more to read.
func (l *Pipeline) ReceiveEnd(now int64) error {
	l.now = now
	l.first.end(l)
	return l.err
}

// end tells the end of the stream to f, and to the stages above.
func (f *Flow) end(l *Pipeline) {
	for ; f != nil && l.err == nil; f = f.up {
		if !f.ended {
			f.ended = true
			l.note(f.receiver.ReceiveEnd(f))
		}
	}
	l.ended = true
}

// Ended reports whether nothing more comes up.
func (l *Pipeline) Ended() bool { return l.ended }

// Send takes bytes of the codec. Who sends asks first whether sending is held.
func (l *Pipeline) Send(now int64, p []byte) error {
	l.now = now
	switch {
	case l.err != nil:
	case l.last == nil:
		l.ends.Down(p)
	default:
		l.note(l.last.sender.Send(l.last, p))
	}
	return l.err
}

// SendEnd tells that the codec sends nothing more.
func (l *Pipeline) SendEnd(now int64) error {
	l.now = now
	for f := l.last; f != nil && l.err == nil; f = f.down {
		l.note(f.sender.SendEnd(f))
	}
	return l.err
}

// Sent tells that the socket has taken n bytes.
func (l *Pipeline) Sent(now int64, n int) {
	l.now = now
	l.moved(0, n)
}

func (l *Pipeline) moved(received, sent int) {
	for i := range l.flows {
		if f := &l.flows[i]; f.meter != nil {
			f.meter.Moved(f, received, sent)
		}
	}
}

// Tick tells that it is now.
func (l *Pipeline) Tick(now int64) error {
	l.now = now
	for i := range l.flows {
		if f := &l.flows[i]; f.alarm != 0 && f.alarm <= now && l.err == nil {
			f.alarm = 0
			if f.ticker == nil {
				panic("stage: an alarm of a stage that has no Tick")
			}
			l.note(f.ticker.Tick(f))
		}
	}
	return l.err
}

// Wake tells that somebody has called what Flow.Waker returned.
func (l *Pipeline) Wake(now int64) error {
	l.now = now
	for i := range l.flows {
		if f := &l.flows[i]; f.sleeper != nil && l.err == nil {
			f.came(f.sleeper.Wake(f))
		}
	}
	return l.err
}

// Close tells that the connection has ended; each stage is told, though another one panics. Nothing
// may be called behind it.
func (l *Pipeline) Close(now int64) {
	l.now = now
	for i := range l.flows {
		if f := &l.flows[i]; f.closer != nil {
			defer f.closer.Closed(f)
		}
	}
}

// Protocol returns which protocol the two ends have agreed upon; "": none, or there was no
// question.
func (l *Pipeline) Protocol() string { return l.protocol }

// Session returns what a stage has told of the connection; nil: nothing.
func (l *Pipeline) Session() any { return l.session }

// Len returns how many stages there are.
func (l *Pipeline) Len() int { return len(l.flows) }

// Alarm returns when stage i wants Tick to be called, ns; 0: not at all. It stands until that call.
func (l *Pipeline) Alarm(i int) int64 { return l.flows[i].alarm }

// HoldsReading reports whether a stage keeps the connection from reading.
func (l *Pipeline) HoldsReading() bool { return l.holdReading > 0 }

// HoldsSending reports whether a stage keeps bytes of the codec from being sent.
func (l *Pipeline) HoldsSending() bool { return l.holdSending > 0 }

// HoldsOpening reports whether a stage keeps the connection from being told of.
func (l *Pipeline) HoldsOpening() bool { return l.holdOpening > 0 }

// KeepsPart reports whether a stage keeps a part of something, whose rest the other end has to
// send.
func (l *Pipeline) KeepsPart() bool { return l.keepPart > 0 }

// Closing reports whether a stage wants the connection to end.
func (l *Pipeline) Closing() bool { return l.closing }

// Err returns the first error of a stage.
func (l *Pipeline) Err() error { return l.err }

func (l *Pipeline) note(err error) {
	if l.err == nil {
		l.err = err
	}
}
