package secure

import (
	"crypto/tls"
	"io"
	"net"
	"net/netip"

	"github.com/stackhouse-go/stackhouse/channel/stage"
)

// state is a session's. It only ever goes forward.
//
//	greeting  a server's: keeps what it has of the ClientHello
//	shaking   the handshake waits for a goroutine, or runs on one. While it doesn't wait for the
//	          other end nothing is read: an end of the stream may follow what belongs to open
//	open      records are read and written
//	ended     as open, but the other end has said that it sends no more
//	over      it has failed, or the connection has closed
type state uint8

const (
	greeting state = iota
	shaking
	open
	ended
	over
)

// session is the Stage of one connection's TLS.
type session struct {
	by     *TLS
	host   string // a client's: the server's name
	client bool

	state  state
	hello  []byte     // greeting
	shake  *handshake // shaking
	conn   *tls.Conn
	memory memory
	record records
}

// Open implements stage.Opener.
func (s *session) Open(f *stage.Flow) error {
	f.HoldOpening(true)
	f.HoldSending(true)
	f.Alarm(s.by.limits.Time)
	if s.client {
		s.begin(f)
	}
	return nil
}

// Tick implements stage.Ticker.
func (s *session) Tick(*stage.Flow) error {
	if s.state < open {
		return s.fail(ErrHandshakeTime)
	}
	return nil
}

// begin is the transition to shaking.
func (s *session) begin(f *stage.Flow) {
	s.state = shaking
	s.memory.remote = address(f.RemoteAddr())
	config, from := s.by.config.Load(), netip.Addr{}
	if s.client {
		if config.ServerName == "" {
			config = config.Clone()
			config.ServerName = s.host
		}
		s.conn = tls.Client(&s.memory, config)
	} else {
		from = customer(string(s.memory.remote))
		s.conn = tls.Server(&s.memory, config)
	}
	s.shake = newHandshake(s.by, from, f.Waker())
	s.shake.conn, s.shake.in, s.hello = s.conn, s.hello, nil
	s.memory.ends = s.shake
	f.HoldReading(true)
	s.by.gate.enter(s.shake)
}

// customer returns what handshakes of clients are counted by: an address or, of version 6, what one
// customer has. Those without an address, on a Unix socket or already gone, are one customer.
func customer(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.IPv6Unspecified()
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is6() {
		network, _ := addr.Prefix(64)
		return network.Addr()
	}
	return addr
}

// Receive implements stage.Receiver.
func (s *session) Receive(f *stage.Flow, p []byte) error {
	switch s.state {
	case greeting:
		if s.hello = append(s.hello, p...); hasHello(s.hello) {
			s.begin(f)
		} else if len(s.hello) > s.by.limits.Size {
			return s.fail(ErrHandshakeSize)
		}
	case shaking:
		f.HoldReading(true)
		s.shake.give(p)
	case open:
		return s.read(f, p)
	}
	return nil
}

// Wake implements stage.Sleeper.
func (s *session) Wake(f *stage.Flow) error {
	if s.state != shaking {
		return nil
	}
	out, waits, done, err := s.shake.take()
	f.Down(out)
	switch {
	case !done:
		f.HoldReading(!waits)
		return nil
	case err != nil:
		return s.fail(err)
	}
	rest := s.shake.in
	s.state, s.shake, s.memory.ends = open, nil, &s.record
	f.SetSession(s.conn.ConnectionState().NegotiatedProtocol, s.conn)
	f.HoldOpening(false)
	f.HoldSending(false)
	f.HoldReading(false)
	return s.read(f, rest)
}

// read reads the records of p.
func (s *session) read(f *stage.Flow, p []byte) error {
	defer func() { f.KeepPart(s.record.have > 0) }()
	s.record.flow = f
	for len(p) > 0 {
		s.record.feed, p = s.record.next(p)
		if s.record.feed == nil {
			return nil
		}
		err := s.readOne(f)
		s.record.release()
		switch {
		case err == io.EOF:
			s.state = ended
			return io.EOF
		case err != nil && err != again:
			return s.fail(err)
		}
	}
	return nil
}

// readOne reads the record in feed.
func (s *session) readOne(f *stage.Flow) error {
	text := f.Bytes(len(s.record.feed)) // more than what is in the record
	defer text.Release()                // also if a stage above panics
	n, err := s.conn.Read(text.B())
	f.Up(text.B()[:n])
	return err
}

// ReceiveEnd implements stage.Receiver.
func (s *session) ReceiveEnd(*stage.Flow) error {
	if s.state == greeting && len(s.hello) == 0 {
		return nil // somebody has looked whether anybody is there
	}
	if s.state < open {
		return s.fail(ErrTruncated)
	}
	return ErrTruncated
}

// Send implements stage.Sender.
func (s *session) Send(f *stage.Flow, p []byte) error {
	s.record.flow = f
	_, err := s.conn.Write(p)
	return err
}

// SendEnd implements stage.Sender: the last word is close_notify.
func (s *session) SendEnd(f *stage.Flow) error {
	if s.state != open && s.state != ended {
		return nil
	}
	s.record.flow = f
	err := s.conn.CloseWrite()
	s.record.mute = true
	return err
}

// fail is the transition to over.
func (s *session) fail(err error) error {
	s.close()
	return err
}

// Closed implements stage.Closer.
func (s *session) Closed(*stage.Flow) { s.close() }

// close is the transition to over, if it isn't.
func (s *session) close() {
	if s.state == shaking && !s.by.gate.leave(s.shake) {
		s.shake.giveUp(net.ErrClosed)
	}
	s.record.release()
	s.state, s.hello, s.shake = over, nil, nil
}
