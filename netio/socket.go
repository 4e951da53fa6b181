package netio

import (
	"io/fs"
	"time"
)

// The contract of the sockets, the same on every operating system. All
// descriptors are of non-blocking stream sockets.
//
//	Listen(network, address string, opt ListenOptions) (fd int, bound string, err error)
//	Share(fd int) (nfd int, err error)
//	Accept(fd int) (nfd int, err error)
//	Connect(network, address string) (fd int, err error)
//	ConnectError(fd int) error
//	Read(fd int, p []byte) (n int, err error)
//	Write(fd int, p []byte) (n int, err error)
//	Writev(fd int, v *IOVecs) (n int, err error)
//	SetNoDelay(fd int) error
//	SetTimeouts(fd int, keepAlive, ack time.Duration) error
//	Shutdown(fd int, write bool) error
//	Unsent(fd int) (n int, known bool)
//	Close(fd int) error
//	LocalAddr(fd int) string
//	RemoteAddr(fd int) string

// ListenOptions are the options of Listen. The zero value is useful.
type ListenOptions struct {
	// KeepAlive is how long the peer of an accepted TCP connection may be silent before its system
	// is probed. After three unanswered probes, KeepAlive apart, the connection is broken. It is
	// rounded up to seconds. 0: no probes.
	KeepAlive time.Duration
	// AckTimeout is how long written bytes may stay unacknowledged, or unsent because the peer's
	// buffer is full, until the connection is broken. Only for TCP on Linux. 0: as the system has
	// it.
	AckTimeout time.Duration
	// Mode is the file mode of a Unix listener's path. 0: as the umask has it.
	Mode fs.FileMode
	// Backlog is how many connections may wait for Accept. 0: as many as the system allows
	// (net.core.somaxconn, which bounds other values too).
	Backlog int
}
