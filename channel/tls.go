package channel

import (
	"crypto/tls"
	"net"

	"github.com/stackhouse-go/stackhouse/channel/secure"
	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
)

// TLSOf returns what is known of the TLS of a connection: the certificates that the other end has
// shown, and whom they are believed to be of, the protocol, the name that a client has asked for.
// secured is false if the connection is plain, and for the zero Peer. Any goroutine may call it,
// also when the connection has ended.
func TLSOf[Rep any](p Peer[Rep]) (state tls.ConnectionState, secured bool) {
	of, _ := core.EndpointOf(p).(interface{ Session() any })
	if of == nil {
		return state, false
	}
	conn, secured := of.Session().(interface{ ConnectionState() tls.ConnectionState })
	if secured {
		state = conn.ConnectionState()
	}
	return state, secured
}

// clientOf returns what makes the stage of connections to an address; nil: they are plain.
func clientOf(by *secure.TLS, address, name string) func() stage.Stage {
	if by == nil {
		return nil
	}
	if name == "" {
		name, _, _ = net.SplitHostPort(address)
	}
	return func() stage.Stage { return by.Client(name) }
}
