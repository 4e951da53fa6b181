package netio

import "errors"

var (
	// ErrAgain reports that the call would block. On an edge-triggered descriptor an event follows
	// as soon as the call can succeed.
	ErrAgain = errors.New("netio: would block")

	// ErrDescriptors reports that the process or the system has no descriptors, or no
	// memory for sockets, left. The connection stays in the listener's
	// queue, and the listener stays ready: remove it from the poller for a while,
	// or every Poll will report it again.
	ErrDescriptors = errors.New("netio: out of descriptors")

	// ErrStale reports a token whose registration was removed, or which
	// belongs to another descriptor.
	ErrStale = errors.New("netio: stale token")

	// ErrClosed reports that the poller was closed.
	ErrClosed = errors.New("netio: poller closed")

	// Wrapped by Listen and Connect.
	errNetwork = errors.New("unknown network")
	errAddress = errors.New("missing address")
	errOptions = errors.New("bad options")
)
