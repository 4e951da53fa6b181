//go:build !portable

package netio

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CanShare reports whether Share is possible here.
const CanShare = true

// Share returns another descriptor of the listener fd, so that several pollers, each with its own,
// wait for the connections of one queue. The listener ends when all its descriptors are closed, or
// one is shut down for reading.
func Share(fd int) (nfd int, err error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
}

// backlogMax is the default backlog, which the kernel cuts down to the system's limit.
const backlogMax = 1<<16 - 1

// Listen opens a non-blocking listener and returns it with the address that it
// is bound to. The network is "tcp", "tcp4", "tcp6" or "unix".
//
// The address of a TCP listener is host:port, as for package net; names are
// looked up by net.ResolveTCPAddr, which blocks. Port 0 lets the system choose.
// With "tcp", an empty host or "::" is every address of both families, whereas
// "0.0.0.0" is every IPv4 address only.
//
// The address of a Unix listener is a path, or "@name" in the abstract name space. A socket file
// that refuses connections is replaced, as a dead process has left it. If two processes start on
// one path at the same moment both may replace the file; the later one then has the path. Closing
// the listener leaves the file.
func Listen(network, address string, opt ListenOptions) (fd int, bound string, err error) {
	switch {
	case opt.Backlog < 0 || opt.KeepAlive < 0 || opt.AckTimeout < 0:
		fd, err = -1, errOptions
	case network == "unix":
		fd, err = listenUnix(address, opt)
	default:
		fd, err = listenTCP(network, address, opt)
	}
	if err != nil {
		return -1, "", fmt.Errorf("netio: listen %s %s: %w", network, address, err)
	}
	return fd, LocalAddr(fd), nil
}

func listenTCP(network, address string, opt ListenOptions) (int, error) {
	a, err := resolve(network, address)
	if err != nil {
		return -1, err
	}
	sa, err := sockaddr(a, network == "tcp4")
	if err != nil {
		return -1, err
	}
	fd, err := bindTCP(sa, network == "tcp6", opt)
	if errors.Is(err, unix.EAFNOSUPPORT) && a.IP == nil && network == "tcp" {
		fd, err = bindTCP(&unix.SockaddrInet4{Port: a.Port}, false, opt) // a system without IPv6
	}
	return fd, err
}

func bindTCP(sa unix.Sockaddr, only6 bool, opt ListenOptions) (int, error) {
	fd, err := bound(sa, only6)
	if err != nil {
		return -1, err
	}
	return listen(fd, SetTimeouts(fd, opt.KeepAlive, opt.AckTimeout), opt)
}

// bound opens a socket and binds it.
func bound(sa unix.Sockaddr, only6 bool) (int, error) {
	fd, err := socket(family(sa))
	if err != nil {
		return -1, err
	}
	if family(sa) == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, number(only6))
	}
	// A restarted server gets its port although old connections linger.
	err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1))
	if err == nil {
		err = unix.Bind(fd, sa)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

const (
	// keepAliveProbes is how many probes a silent peer leaves unanswered before the connection
	// ends.
	keepAliveProbes = 3
	// timeoutMax is the longest timeout that a kernel takes: 32,767 s.
	timeoutMax = 9 * time.Hour
)

// SetTimeouts sets the KeepAlive and the AckTimeout of ListenOptions on fd, a TCP socket. What is
// accepted from a listener inherits them.
func SetTimeouts(fd int, keepAlive, ack time.Duration) (err error) {
	if ack > 0 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(min(ack, timeoutMax)/time.Millisecond))
	}
	if keepAlive <= 0 {
		return err
	}
	seconds := int((min(keepAlive, timeoutMax) + time.Second - 1) / time.Second)
	return errors.Join(err,
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, seconds),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, seconds),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keepAliveProbes),
	)
}

func listenUnix(path string, opt ListenOptions) (int, error) {
	if path == "" {
		return -1, errAddress // the kernel would choose a name
	}
	fd, err := socket(unix.AF_UNIX)
	if err != nil {
		return -1, err
	}
	sa := &unix.SockaddrUnix{Name: path}
	err = unix.Bind(fd, sa)
	if err == unix.EADDRINUSE && abandoned(path) {
		if err = unix.Unlink(path); err == nil {
			err = unix.Bind(fd, sa)
		}
	}
	if err != nil || strings.HasPrefix(path, "@") {
		return listen(fd, err, opt)
	}
	if opt.Mode != 0 {
		err = unix.Chmod(path, uint32(opt.Mode.Perm())) // nobody can connect yet
	}
	if fd, err = listen(fd, err, opt); err != nil {
		unix.Unlink(path)
	}
	return fd, err
}

// abandoned reports whether path is a socket file on which nobody listens.
func abandoned(path string) bool {
	var s unix.Stat_t
	if strings.HasPrefix(path, "@") || unix.Lstat(path, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return false
	}
	fd, err := socket(unix.AF_UNIX)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: path}) == unix.ECONNREFUSED
}

// listen is the last part of opening the listener fd. It closes fd and fails if err isn't nil, or
// if it fails itself.
func listen(fd int, err error, opt ListenOptions) (int, error) {
	backlog := opt.Backlog
	if backlog == 0 {
		backlog = backlogMax
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
