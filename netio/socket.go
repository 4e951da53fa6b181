package netio

// The contract of the sockets, the same on every operating system. All
// descriptors are of non-blocking stream sockets.
//
//	Listen(network, address string, opt ListenOptions) (fd int, bound string, err error)
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
	// ReusePort lets several listeners, each with a queue of its own, share one TCP
	// address; the kernel spreads connections over them. A connection in the queue of
	// a listener that is closed is reset. Only where CanReusePort is true.
	ReusePort bool
	// First makes the first of them fail if somebody else, as another process of the
	// same user, listens there already.
	First bool
	// Backlog is the largest number of connections waiting for Accept. 0: as
	// many as the system allows (net.core.somaxconn, which also bounds other values).
	Backlog int
}
