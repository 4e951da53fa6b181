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
//	Shutdown(fd int, write bool) error
//	Close(fd int) error
//	LocalAddr(fd int) string
//	RemoteAddr(fd int) string

// ListenOptions are Listen's. Zero is useful.
type ListenOptions struct {
	// KeepAlive is for how long the peer of an accepted TCP connection may be silent before its
	// system is asked for a sign of life; after three unanswered questions, as far apart, the
	// connection is broken. Whole seconds. 0: never.
	KeepAlive time.Duration
	// AckTimeout is for how long written bytes may stay unacknowledged, or unsent as the peer's
	// buffer is full, until the connection is broken. TCP, and only where the system can. 0: as the
	// system has it.
	AckTimeout time.Duration
	// Mode is the file mode of a Unix listener's path. 0: as the umask has it.
	Mode fs.FileMode
	// Backlog is the largest number of connections waiting for Accept. 0: as
	// many as the system allows (net.core.somaxconn, which also bounds other values).
	Backlog int
}
