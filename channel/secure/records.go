package secure

import (
	"encoding/binary"
	"net"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/pool"
)

// memory is the net.Conn of a tls.Conn: of its handshake first, then of its records.
type memory struct {
	ends
	remote address
}

type ends interface {
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	Close() error
}

func (m *memory) LocalAddr() net.Addr              { return address("") }
func (m *memory) RemoteAddr() net.Addr             { return m.remote }
func (m *memory) SetDeadline(time.Time) error      { return nil }
func (m *memory) SetReadDeadline(time.Time) error  { return nil }
func (m *memory) SetWriteDeadline(time.Time) error { return nil }

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

// records is what a tls.Conn reads and writes behind its handshake, in turns of the connection's
// worker. It gives one record after the other, each as a whole: then the tls.Conn keeps nothing,
// and allocates once for each.
type records struct {
	flow *stage.Flow // in a call of the stage's
	feed []byte      // the rest of the record that is being read
	room pool.Bytes  // for a record that hasn't come as a whole; zero: none has come in part
	have int         // bytes of it that came
	mute bool        // close_notify is written: what is behind it, as an answer to KeyUpdate, isn't
}

// errAgain is what a tls.Conn doesn't take for the end.
type errAgain struct{}

func (errAgain) Error() string   { return "secure: no more bytes yet" }
func (errAgain) Timeout() bool   { return true }
func (errAgain) Temporary() bool { return true }

var again error = errAgain{}

func (r *records) Read(p []byte) (int, error) {
	if len(r.feed) == 0 {
		return 0, again
	}
	n := copy(p, r.feed)
	r.feed = r.feed[n:]
	return n, nil
}

func (r *records) Write(p []byte) (int, error) {
	if !r.mute {
		r.flow.Down(p)
	}
	return len(p), nil
}

func (r *records) Close() error { return nil }

// next returns the next record of those that begin in room and go on in p, and the rest of p.
// Without a whole one it keeps p. The record is valid until release.
func (r *records) next(p []byte) (record, rest []byte) {
	if r.have == 0 {
		if n := recordLen(p); n > 0 && n <= len(p) {
			return p[:n], p[n:]
		}
	}
	for len(p) > 0 {
		n := recordLen(r.part())
		if n == 0 {
			n = headerLen
		}
		m := min(n-r.have, len(p))
		r.grow(r.have+m, n)
		copy(r.room.B()[r.have:], p[:m])
		r.have, p = r.have+m, p[m:]
		if n = recordLen(r.part()); n > 0 && n <= r.have {
			return r.part(), p
		}
	}
	return nil, nil
}

// part is what has come of a record.
func (r *records) part() []byte { return r.room.B()[:r.have] }

// grow makes room for n bytes of a record of size. Room is bounded by what has come, not by what
// was announced.
func (r *records) grow(n, size int) {
	if r.room.Len() < n {
		more := r.flow.Bytes(min(size, max(roomMin, 2*n)))
		copy(more.B(), r.part())
		r.room.Release()
		r.room = more
	}
}

// release drops what has come of a record.
func (r *records) release() {
	r.room.Release()
	r.room, r.have = pool.Bytes{}, 0
}

// recordLen returns how long the record is that b begins with; 0: its header hasn't come. One that
// is too long ends with its header, which is refused.
func recordLen(b []byte) int {
	if len(b) < headerLen {
		return 0
	}
	if n := int(binary.BigEndian.Uint16(b[3:])); n <= recordMax {
		return headerLen + n
	}
	return headerLen
}

// roomMin is the least room for a record that comes in parts.
const roomMin = 512
