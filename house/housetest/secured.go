package housetest

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/channel/stage"
)

// Secured is what stands for TLS in simulations, in which no goroutine runs: both ends of a
// connection have it in place of a secure.TLS. It keeps nothing secret, but it has the same states:
//
//	shaking  nothing is sent or told of: the client greets, the server answers after Took
//	open     bytes go in records
//	ended    as open, but the other end has said, by close_notify, that it sends no more
//	broken   by what is no record, by a handshake that isn't over in two seconds, by Fails, or by an
//	         end without close_notify
type Secured struct {
	Took     time.Duration // of a server's handshake, at least 1 ns
	Protocol string        // what both agree upon; the session is this Secured
	Fails    bool          // a server refuses its clients
	// State is what channel.TLSOf returns, at either end, beside Protocol.
	State tls.ConnectionState
}

// ConnectionState returns State, as a tls.Conn does.
func (s *Secured) ConnectionState() tls.ConnectionState {
	state := s.State
	state.NegotiatedProtocol = s.Protocol
	return state
}

// Server returns the Stage of a server.
func (s *Secured) Server() stage.Stage { return &secured{by: s} }

// Client returns the Stage of a client.
func (s *Secured) Client() stage.Stage { return &secured{by: s, client: true} }

// Errors of a Secured, beside those of package secure.
var (
	ErrRefused = errors.New("housetest: the other end has refused the handshake")
	ErrGarbled = errors.New("housetest: what came is no record")
)

// The kinds of records. Each is followed by two bytes of length, and so many bytes.
const (
	recordHello = 0x80 + iota // no text begins so
	recordAnswer
	recordRefuse
	recordBytes
	recordEnd  // close_notify
	recordHead = 3
)

const securedTime = 2 * time.Second

type secured struct {
	by      *Secured
	client  bool
	open    bool
	until   int64 // when the handshake must be over, ns
	answers int64 // a server's: when it answers; 0: it wasn't greeted
	part    []byte
}

func (s *secured) Open(f *stage.Flow) error {
	f.HoldOpening(true)
	f.HoldSending(true)
	s.until = f.Now() + int64(securedTime)
	if s.client {
		s.send(f, recordHello, nil)
		f.Alarm(securedTime)
	} else {
		f.Alarm(s.pace())
	}
	return nil
}

// pace is how often a server looks whether it is to answer.
func (s *secured) pace() time.Duration { return min(max(s.by.Took, 1), securedTime) }

func (s *secured) Tick(f *stage.Flow) error {
	switch {
	case s.open:
		return nil
	case f.Now() >= s.until:
		return secure.ErrHandshakeTime
	case s.answers == 0 || f.Now() < s.answers:
		f.Alarm(s.pace())
		return nil
	case s.by.Fails:
		s.send(f, recordRefuse, nil)
		return ErrRefused
	}
	s.send(f, recordAnswer, nil)
	s.establish(f)
	return nil
}

func (s *secured) establish(f *stage.Flow) {
	s.open = true
	f.SetSession(s.by.Protocol, s.by)
	f.HoldOpening(false)
	f.HoldSending(false)
}

func (s *secured) Receive(f *stage.Flow, p []byte) error {
	s.part = append(s.part, p...)
	for len(s.part) >= recordHead {
		end := recordHead + int(binary.BigEndian.Uint16(s.part[1:]))
		if len(s.part) < end {
			break
		}
		kind, body := s.part[0], s.part[recordHead:end]
		s.part = s.part[end:]
		if err := s.take(f, kind, body); err != nil {
			return err
		}
	}
	f.KeepPart(s.open && len(s.part) > 0)
	return nil
}

// take takes one record.
func (s *secured) take(f *stage.Flow, kind byte, body []byte) error {
	switch {
	case kind == recordHello && !s.client && !s.open && s.answers == 0:
		s.answers = f.Now() + int64(s.by.Took)
	case kind == recordAnswer && s.client && !s.open:
		s.establish(f)
	case kind == recordRefuse && s.client && !s.open:
		return ErrRefused
	case kind == recordBytes && s.open:
		f.Up(body)
	case kind == recordEnd && s.open:
		return io.EOF
	default:
		return ErrGarbled
	}
	return nil
}

func (s *secured) ReceiveEnd(*stage.Flow) error {
	if !s.client && !s.open && s.answers == 0 && len(s.part) == 0 {
		return nil // somebody has looked whether anybody is there
	}
	return secure.ErrTruncated
}

func (s *secured) Send(f *stage.Flow, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), 1<<14)
		s.send(f, recordBytes, p[:n])
		p = p[n:]
	}
	return nil
}

func (s *secured) SendEnd(f *stage.Flow) error {
	if s.open {
		s.send(f, recordEnd, nil)
	}
	return nil
}

func (s *secured) send(f *stage.Flow, kind byte, body []byte) {
	f.Down(binary.BigEndian.AppendUint16([]byte{kind}, uint16(len(body))))
	f.Down(body)
}
