//go:build !portable

package netio

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Connect begins a connection and returns its non-blocking descriptor, to be
// added to a poller right away: it becomes writable when the attempt has
// ended, and ConnectError then tells how. Networks and addresses are Listen's;
// an empty host is this machine. Names are looked up by net.ResolveTCPAddr, which blocks and takes
// one address of several: resolve them before if that matters.
//
// A Unix listener whose queue is full gives ErrAgain; there the attempt has ended.
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

// ConnectError tells how the attempt begun by Connect ended: nil if fd is
// connected, ErrAgain if it has not ended. The kernel tells the reason of a failure
// once; asked again it says unix.ENOTCONN.
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

// connectEnded reports whether anything has happened on fd: on a socket that is
// connecting nothing does.
func connectEnded(fd int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// toItself reports whether TCP has connected fd to itself. It does that on a port of this machine
// that nobody listens on, and from which it makes the connection.
func toItself(fd int, remote unix.Sockaddr) bool {
	return family(remote) != unix.AF_UNIX && text(remote) == LocalAddr(fd)
}
