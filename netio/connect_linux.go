//go:build !portable

package netio

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Connect begins a connection and returns its non-blocking descriptor, to be added to a poller
// right away: it becomes writable when the attempt has ended, and then ConnectError returns its
// result. Networks and addresses are those of Listen; an empty host is this machine. Names are
// looked up by net.ResolveTCPAddr, which blocks and takes one address of several: if that matters
// resolve names first.
//
// If the queue of a Unix listener is full Connect returns ErrAgain: that attempt has ended.
func Connect(network, address string) (fd int, err error) {
	fd, err = connect(network, address)
	if err != nil {
		return -1, fmt.Errorf("netio: connect %s %s: %w", network, address, err)
	}
	return fd, nil
}

func connect(network, address string) (int, error) {
	sa, err := target(network, address)
	if err != nil {
		return -1, err
	}
	fd, err := socket(family(sa))
	if err != nil {
		return -1, err
	}
	switch err := unix.Connect(fd, sa); err {
	case nil, unix.EINPROGRESS, unix.EINTR: // a signal doesn't end the attempt
		return fd, nil
	case unix.EAGAIN:
		unix.Close(fd)
		return -1, ErrAgain
	default:
		unix.Close(fd)
		return -1, err
	}
}

func target(network, address string) (unix.Sockaddr, error) {
	if network == "unix" {
		if address == "" {
			return nil, errAddress
		}
		return &unix.SockaddrUnix{Name: address}, nil
	}
	a, err := resolve(network, address)
	if err != nil {
		return nil, err
	}
	return sockaddr(a, network != "tcp6") // the kernel takes 0.0.0.0 for 127.0.0.1
}

// ConnectError returns the result of the attempt begun by Connect: nil if fd is connected, ErrAgain
// if the attempt has not ended, otherwise why it failed. The kernel tells the reason only once; a
// second call returns unix.ENOTCONN.
func ConnectError(fd int) error {
	ended := connectEnded(fd) // before Getpeername, whose answer is then final
	remote, absent := unix.Getpeername(fd)
	if absent == unix.ENOTCONN && !ended {
		return ErrAgain
	}
	reason, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		return err
	case reason != 0:
		return unix.Errno(reason)
	case absent != nil:
		return absent
	case toItself(fd, remote):
		return unix.ECONNREFUSED
	}
	return nil
}

// connectEnded reports whether anything has happened on fd: nothing happens on a socket while it is
// connecting.
func connectEnded(fd int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// toItself reports whether TCP has connected fd to itself. That happens if the target is a port of
// this machine on which no socket listens, and the kernel chooses the same port for this end.
func toItself(fd int, remote unix.Sockaddr) bool {
	return family(remote) != unix.AF_UNIX && text(remote) == LocalAddr(fd)
}
