package housetest

import (
	"bytes"
	"errors"
	"time"

	"github.com/stackhouse-go/stackhouse/channel"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/pool"
)

// Embedded is the codec of a server's connection, and its stages, without the connection: a test
// gives it bytes and gets requests, and gives it results and gets bytes. It holds codec and stages
// to their contracts, as a connection does: where one is broken it panics.
type Embedded[Req, Rep any] struct {
	codec  channel.Codec[Req, Rep]
	stages *stage.Pipeline
	now    int64
	shard  pool.Shard

	came []byte // while reading is held
	end  bool   // came behind it
	in   []byte // not decoded; requests refer to what was before it
	out  []byte // of the codec, while sending is held
	sent []byte
	err  error // of the codec
}

// Embed returns a codec behind stages, the first of which would stand at the socket.
func Embed[Req, Rep any](codec channel.Codec[Req, Rep], stages ...stage.Stage) *Embedded[Req, Rep] {
	e := &Embedded[Req, Rep]{codec: codec, now: 1}
	e.stages = stage.New(ends[Req, Rep]{e}, stages...)
	e.stages.Open(e.now)
	return e
}

// ends is the connection of an Embedded, as its stages know it.
type ends[Req, Rep any] struct{ e *Embedded[Req, Rep] }

func (x ends[Req, Rep]) Up(p []byte)   { x.e.in = append(bytes.Clone(x.e.in), p...) }
func (x ends[Req, Rep]) Down(p []byte) { x.e.sent = append(x.e.sent, p...) }

func (x ends[Req, Rep]) Bytes(n int) pool.Bytes { return x.e.shard.Bytes(n) }

// Receive takes p as if it came from the network, and returns the requests that are whole now. The
// error is the codec's, which a client would be refused with, or a stage's; nothing is received
// behind it. Requests may be used for ever.
func (e *Embedded[Req, Rep]) Receive(p []byte) ([]Req, error) {
	e.came = append(e.came, p...)
	return e.move()
}

// ReceiveEnd is Receive of the end of the other side.
func (e *Embedded[Req, Rep]) ReceiveEnd() ([]Req, error) {
	e.end = true
	return e.move()
}

// Pass lets time pass, for alarms of stages, and returns the requests that are whole then.
func (e *Embedded[Req, Rep]) Pass(d time.Duration) (all []Req, err error) {
	for end := e.now + int64(d); err == nil; {
		next := end + 1
		for i := range e.stages.Len() {
			if at := e.stages.Alarm(i); at != 0 {
				next = min(next, max(at, e.now))
			}
		}
		if e.now = min(next, end); next > end {
			return all, nil
		}
		e.stages.Tick(e.now)
		var more []Req
		more, err = e.move()
		all = append(all, more...)
	}
	return all, err
}

// Send sends a result: rep, or err if that isn't nil. The error is a stage's.
func (e *Embedded[Req, Rep]) Send(rep Rep, err error) error {
	room := make([]byte, 0, e.codec.Size(&rep, err))
	text := e.codec.Encode(room, &rep, err)
	if len(text) > cap(room) || len(text) > 0 && &text[0] != &room[:1][0] {
		panic("housetest: Encode appended more than Size said, or to other bytes")
	}
	e.out = append(e.out, text...)
	_, err = e.move()
	return err
}

// SendEnd ends the server's side, as a connection does behind all results.
func (e *Embedded[Req, Rep]) SendEnd() error { return e.stages.SendEnd(e.now) }

// Sent returns what went to the network since the last Sent.
func (e *Embedded[Req, Rep]) Sent() []byte {
	sent := e.sent
	e.sent = nil
	return sent
}

// Ended reports whether the other side has ended, for the codec.
func (e *Embedded[Req, Rep]) Ended() bool { return e.stages.Ended() }

// Closing reports whether a stage has closed the connection.
func (e *Embedded[Req, Rep]) Closing() bool { return e.stages.Closing() }

// move moves what isn't held, and decodes.
func (e *Embedded[Req, Rep]) move() (all []Req, err error) {
	if len(e.came) > 0 && !e.stages.HoldsReading() {
		came := e.came
		e.came = nil
		e.stages.Receive(e.now, came)
	}
	if e.end && !e.stages.HoldsReading() {
		e.end = false
		e.stages.ReceiveEnd(e.now)
	}
	if len(e.out) > 0 && !e.stages.HoldsSending() {
		out := e.out
		e.out = nil
		e.stages.Send(e.now, out)
	}
	for len(e.in) > 0 && e.err == nil {
		var req Req
		n, err := e.codec.Decode(e.in, &req)
		switch {
		case uint(n) > uint(len(e.in)):
			panic("housetest: Decode took other bytes than it got")
		case err == nil && n == 0:
			if e.codec.Need() < 1 {
				panic("housetest: a codec needs less than a byte")
			}
			return all, e.stages.Err()
		case err == nil:
			all = append(all, req)
		case err != channel.ErrSkip && err != channel.ErrEnough || n == 0:
			e.err = err
		}
		e.in = e.in[n:]
	}
	return all, errors.Join(e.err, e.stages.Err())
}
