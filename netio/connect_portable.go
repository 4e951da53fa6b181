//go:build !linux || portable

package netio

import (
	"context"
	"fmt"
	"net"
)

// Connect begins a connection and returns its descriptor, to be added to a poller right away: it
// becomes writable when the attempt has ended, and then ConnectError returns its result. Networks
// and addresses are those of Listen; an empty host is this machine. Names are looked up by
// net.ResolveTCPAddr, which blocks and takes one address of several: if that matters resolve names
// first.
//
// An attempt at a Unix listener has ended when Connect returns.
func Connect(network, address string) (fd int, err error) {
	s, err := connect(network, address)
	if err != nil {
		return -1, fmt.Errorf("netio: connect %s %s: %w", network, address, failure(err))
	}
	return handles.enter(s), nil
}

func connect(network, address string) (*stream, error) {
	if network == "unix" {
		a, err := unixAddr(address)
		if err != nil {
			return nil, err
		}
		conn, err := net.DialUnix("unix", nil, a)
		if err != nil {
			return nil, err
		}
		return connected(conn), nil
	}
	a, err := resolve(network, address)
	if err != nil {
		return nil, err
	}
	s := newStream()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.connect(ctx, network, a.String())
	return s, nil
}

// ConnectError returns the result of the attempt begun by Connect: nil if fd is connected, ErrAgain
// if the attempt has not ended, otherwise why it failed. If the connection has broken since then it
// returns the reason of that.
func ConnectError(fd int) error {
	s, err := streamOf(fd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failed != nil:
		return s.failed
	case s.conn == nil:
		return ErrAgain
	}
	return nil
}
