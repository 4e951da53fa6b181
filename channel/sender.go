package channel

import "github.com/stackhouse-go/stackhouse/core"

// Sender is implemented by a Codec that sends of its own accord, as those of protocols do that
// acknowledge what they have read: by Endpoint.Push of the connection. It is called in turns of the
// actor that owns the connection, outside of that actor's steps. If that actor stops, Refuse gets
// core.ErrStopped: what it appends are the last bytes of a connection that is open.
type Sender[Rep any] interface {
	// Opened tells the codec, before the first Decode, which connection it is of.
	Opened(of core.Endpoint[Rep])
	// Room says that bytes have left the connection: what was refused for want of room may be
	// pushed again.
	Room()
	// Closed says that the connection has ended. It is called if Opened was, and is the last call.
	Closed()
}
