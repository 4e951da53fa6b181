package channel

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/stackhouse-go/stackhouse/netio"
)

// ErrConnsMax is what a Codec's Refuse gets for a connection beyond Config.ConnsMax.
var ErrConnsMax = errors.New("channel: too many connections")

// door is what all sites of a server know of its listening socket.
type door struct {
	address string
	file    fs.FileInfo // of a Unix socket's path; nil: it has none
	closed  atomic.Bool // nobody listens any more
	refusal []byte      // for a client beyond max

	max      int64
	conns    atomic.Int64  // let in and not closed yet
	rejected atomic.Uint64 // connections beyond max
	failed   atomic.Uint64 // times that the system could give no connection
}

// enter counts a connection, if there is room for it.
func (d *door) enter() bool {
	if d.conns.Add(1) <= d.max {
		return true
	}
	d.conns.Add(-1)
	d.rejected.Add(1)
	return false
}

// reject tells a client that it is beyond max, if the socket takes that at once, and closes fd.
// What the client has sent is read to buffer.
func (d *door) reject(p *netio.Poller, fd int, buffer []byte) {
	if len(d.refusal) > 0 {
		p.Write(fd, d.refusal)
		p.Shutdown(fd, true)
		// unread bytes would make the close a reset, which may overtake the refusal
		p.Read(fd, buffer)
	}
	p.CloseFD(fd)
}

// shut ends the listening socket, of which fd is a descriptor, for all sites. It removes the file
// of a Unix socket if that is still the one that this server made.
func (d *door) shut(p *netio.Poller, fd int) {
	if d.closed.Swap(true) {
		return
	}
	if d.file != nil {
		if now, err := os.Lstat(d.address); err == nil && os.SameFile(d.file, now) {
			os.Remove(d.address)
		}
	}
	p.Shutdown(fd, false)
}
