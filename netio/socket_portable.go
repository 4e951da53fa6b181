//go:build !linux || portable

package netio

import (
	"net"
	"syscall"
	"time"
)

// Read reads bytes that have arrived on fd into p. It returns io.EOF at the end of the stream and
// ErrAgain if nothing has arrived yet.
func Read(fd int, p []byte) (n int, err error) {
	s, err := streamOf(fd)
	if err != nil || len(p) == 0 {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n = s.in.take(p); n > 0 {
		s.restart()
		return n, nil
	}
	if s.inEnd != nil {
		return 0, s.inEnd
	}
	return 0, ErrAgain
}

// Write writes as much of p as the send buffer of the socket fd has room for, and returns how many
// bytes. It returns ErrAgain if there is no room.
func Write(fd int, p []byte) (n int, err error) { return write(fd, []iovec{{p}}) }

// Writev is Write for several buffers. The caller drops the n written bytes by v.Advance(n), and
// calls again when the socket is writable.
func Writev(fd int, v *IOVecs) (n int, err error) { return write(fd, v.vecs[v.first:v.end]) }

func write(fd int, all []iovec) (n int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	s, err := streamOf(fd)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return 0, err
	}
	for _, e := range all {
		k := s.write(e.b)
		n += k
		if n == 0 && len(e.b) > 0 {
			return 0, ErrAgain
		}
		if k < len(e.b) {
			break
		}
	}
	return n, nil
}

// SetNoDelay makes TCP send small writes at once rather than collect them.
func SetNoDelay(fd int) error {
	s, err := streamOf(fd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.conn.(*net.TCPConn); ok {
		return failure(c.SetNoDelay(true))
	}
	return syscall.EINVAL
}

// SetTimeouts sets the KeepAlive of ListenOptions on fd, a TCP socket. ack is for Linux only.
func SetTimeouts(fd int, keepAlive, _ time.Duration) error {
	s, err := streamOf(fd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.conn.(*net.TCPConn); ok {
		return failure(c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: keepAlive > 0, Idle: keepAlive, Interval: keepAlive, Count: keepAliveProbes}))
	}
	return syscall.EINVAL
}

// Shutdown ends one direction of fd: writing if write is true, so that the peer reads an end, or
// else reading.
func Shutdown(fd int, write bool) error {
	s, err := streamOf(fd)
	if err != nil {
		return err
	}
	return s.shutdown(write)
}

// Unsent reports false: it isn't known here how many bytes the peer's system hasn't acknowledged.
func Unsent(fd int) (n int, known bool) { return 0, false }

// Close closes fd, which must have been removed from its poller. The descriptor is gone even after
// an error. Bytes that were written are still sent.
func Close(fd int) error {
	s, err := handles.leave(fd)
	if err != nil {
		return err
	}
	return s.close()
}

// LocalAddr returns the address of fd's own end: host:port, a path, "@name", or
// "" if it has none.
func LocalAddr(fd int) string {
	switch s, _ := handles.find(fd); s := s.(type) {
	case *listener:
		return text(s.by.Addr())
	case *stream:
		return s.address(net.Conn.LocalAddr)
	}
	return ""
}

// RemoteAddr returns the address of fd's other end, in LocalAddr's form.
func RemoteAddr(fd int) string {
	if s, err := streamOf(fd); err == nil {
		return s.address(net.Conn.RemoteAddr)
	}
	return ""
}

func (s *stream) address(end func(net.Conn) net.Addr) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return ""
	}
	return text(end(s.conn))
}

func text(a net.Addr) string {
	if a == nil {
		return ""
	}
	if s := a.String(); s != "@" {
		return s
	}
	return "" // unnamed, as every connecting end of a Unix connection is
}

// iovec is one buffer of IOVecs.
type iovec struct{ b []byte }

func (e *iovec) set(b []byte) { e.b = b }

func (e *iovec) bytes() []byte { return e.b }
