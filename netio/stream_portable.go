//go:build !linux || portable

package netio

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// sendMax is how many bytes one blocking write takes: room for more comes back in such steps.
	sendMax = 16 << 10
	// sendTimeout is how long such a write may take once the stream is closed.
	sendTimeout = 5 * time.Second
	// discardTimeout is how long, and discardMax how many bytes, a closed stream is read after all
	// is sent.
	discardTimeout = time.Second
	discardMax     = 4 << 20
	// probeEvery is the time between two probes of a peer that has ended its side.
	probeEvery = 50 * time.Millisecond
)

// stream is a connection, or the attempt at one. One goroutine reads ahead while there is room,
// another sends while there are bytes to send. They end otherwise, so neither has to be stopped.
//
// A closed stream first sends the bytes that were written. Then it reads and discards, because a
// system answers the close of a socket with unread bytes by a reset, which may overtake the bytes
// sent.
type stream struct {
	watched
	conn       net.Conn           // nil until connected
	cancel     context.CancelFunc // gives up the attempt; nil: there was none
	in         ring               // received, and not read by the user
	out        ring               // written and not sent
	inEnd      error              // why nothing more comes in; nil: more may come
	failed     error              // why the connection broke; nil: it didn't
	reading    bool               // read runs
	sending    bool               // send runs
	short      bool               // a Write found too little room, and room hasn't been told since
	writeShut  bool               // no more is written
	readShut   bool               // the user wants no more to come in
	discarding bool               // closed, and all is sent
	dropped    int                // bytes that came after the close
	held       *machine           // the poller whose Close waits until all is sent
	survey     survey

	sendTimeout, discardTimeout time.Duration // shorter in tests
}

// connected makes a stream of an open connection.
func connected(conn net.Conn) *stream {
	s := newStream()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(conn)
	return s
}

func newStream() *stream { return &stream{sendTimeout: sendTimeout, discardTimeout: discardTimeout} }

// begin makes conn the stream's connection. The caller holds the lock, as for all methods here that
// don't say otherwise.
func (s *stream) begin(conn net.Conn) {
	s.conn = conn
	s.restart()
	s.changed()
}

// connect dials. It is a goroutine; the caller doesn't hold the lock.
func (s *stream) connect(ctx context.Context, network, address string) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.fail(failure(err))
	case s.closed:
		conn.Close()
	default:
		s.begin(conn)
	}
}

// fail breaks the connection because of err. The first reason stays.
func (s *stream) fail(err error) {
	if s.failed == nil {
		s.failed = err
	}
	if s.inEnd == nil {
		s.inEnd = s.failed
	}
	s.out.drop(s.out.size)
	s.changed()
}

// restart starts read, unless it runs, if at least half of the ring is free.
func (s *stream) restart() {
	if !s.reading && s.inEnd == nil && s.in.free() >= ringMax/2 {
		s.reading = true
		go s.read()
	}
}

// read fills the ring. It is a goroutine; the caller doesn't hold the lock.
func (s *stream) read() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.inEnd == nil {
		space := s.in.space()
		if len(space) == 0 {
			break
		}
		s.mu.Unlock()
		n, err := s.conn.Read(space)
		s.mu.Lock()
		s.received(n, err)
	}
	s.reading = false
	s.survey.end()
	s.finish()
}

func (s *stream) received(n int, err error) {
	s.in.commit(n)
	if s.closed {
		s.in.drop(s.in.size)
		if s.dropped += n; s.dropped > discardMax && err == nil {
			err = io.EOF
		}
	}
	switch {
	case err == nil:
		s.changed()
	case s.readShut || s.closed || err == io.EOF:
		s.inEnd = io.EOF
		s.changed()
		time.AfterFunc(probeEvery, s.probe)
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.survey.interrupted(s.conn.SetReadDeadline)
	default:
		s.fail(failure(err))
	}
}

// probe finds out whether a peer that has ended its side is gone: nothing is read any more, so only
// a write can tell. The caller doesn't hold the lock.
func (s *stream) probe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.writeShut || s.failed != nil {
		return
	}
	s.mu.Unlock()
	_, err := s.conn.Write(nil)
	s.mu.Lock()
	if err == nil {
		time.AfterFunc(probeEvery, s.probe)
	} else if !s.closed && !s.writeShut {
		s.fail(failure(err))
	}
}

// settle implements socket.
func (s *stream) settle(done *sync.WaitGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading {
		s.survey.ask(done, s.conn.SetReadDeadline)
	}
}

// write queues as much of b as there is room for.
func (s *stream) write(b []byte) int {
	n := s.out.put(b)
	s.short = s.short || n < len(b)
	if !s.sending && s.out.size > 0 {
		s.sending = true
		go s.send()
	}
	return n
}

// writable returns why no bytes can be written; nil if some can.
func (s *stream) writable() error {
	switch {
	case s.failed != nil:
		return s.failed
	case s.writeShut:
		return syscall.EPIPE
	case s.conn == nil:
		return ErrAgain
	}
	return nil
}

// send empties the ring, and ends the sending side if that is shut. It is a goroutine; the caller
// doesn't hold the lock.
func (s *stream) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.out.size > 0 {
		b := s.out.front()
		b = b[:min(len(b), sendMax)]
		s.mu.Unlock()
		_, err := s.conn.Write(b)
		s.mu.Lock()
		s.sent(len(b), err)
	}
	s.sending = false
	if s.writeShut && s.failed == nil {
		closeWrite(s.conn)
	}
	s.finish()
}

func (s *stream) sent(n int, err error) {
	if err != nil {
		s.fail(failure(err))
		return
	}
	if s.out.size > 0 { // else fail has dropped all bytes
		s.out.drop(n)
	}
	if s.short && s.out.free() >= ringMax/2 {
		s.short = false
		s.changed()
	}
	if s.closed {
		s.conn.SetWriteDeadline(time.Now().Add(s.sendTimeout))
	}
}

// finish is the last call of both goroutines. It closes the connection of a closed stream once all
// bytes are sent and the peer has had discardTimeout to end its side.
func (s *stream) finish() {
	if !s.closed || s.sending {
		return
	}
	if s.held != nil {
		s.held.release()
		s.held = nil
	}
	switch {
	case s.inEnd != nil || s.failed != nil:
		s.conn.Close() // ends read, if it runs
	case !s.discarding:
		s.discarding = true
		s.conn.SetReadDeadline(time.Now().Add(s.discardTimeout))
		s.restart()
	}
}

// close implements socket.
func (s *stream) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.watchers = true, nil
	s.in.drop(s.in.size)
	if s.conn == nil {
		if s.cancel != nil {
			s.cancel()
		}
		return nil
	}
	if s.out.size > 0 {
		s.conn.SetWriteDeadline(time.Now().Add(s.sendTimeout))
		if s.poller != nil && s.poller.hold() {
			s.held = s.poller
		}
	}
	if !s.writeShut && !s.sending {
		closeWrite(s.conn)
	}
	s.writeShut = true
	s.finish()
	return nil
}

// ready implements socket.
func (s *stream) ready() (r Ready) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in.size > 0 || s.inEnd != nil {
		r |= Readable
	}
	if s.failed != nil || s.conn != nil && s.out.free() > 0 {
		r |= Writable
	}
	if s.inEnd != nil {
		r |= Closed
	}
	return r
}

// shutdown ends one direction.
func (s *stream) shutdown(write bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.conn == nil:
		return syscall.ENOTCONN
	case write && !s.writeShut:
		s.writeShut = true
		if !s.sending {
			closeWrite(s.conn)
		}
	case !write && !s.readShut:
		s.readShut = true
		closeRead(s.conn)
		s.conn.SetReadDeadline(time.Unix(1, 0)) // ends read on every system
		if !s.reading && s.inEnd == nil {
			s.inEnd = io.EOF
			s.changed()
		}
	}
	return nil
}

// The connections of package net have CloseWrite and CloseRead. The next read or write tells a
// failure.

func closeWrite(conn net.Conn) {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

func closeRead(conn net.Conn) {
	if c, ok := conn.(interface{ CloseRead() error }); ok {
		c.CloseRead()
	}
}
