//go:build !linux || portable

package netio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// CanShare reports whether Share is possible here.
const CanShare = false

// Share fails: several pollers can't share a listener here.
func Share(int) (nfd int, err error) { return -1, errOptions }

// Listen opens a listener and returns it with the address that it is bound to. The
// network is "tcp", "tcp4", "tcp6" or "unix".
//
// The address of a TCP listener is host:port, as for package net; names are
// looked up by net.ResolveTCPAddr, which blocks. Port 0 lets the system choose.
// With "tcp", an empty host or "::" is every address of both families, whereas
// "0.0.0.0" is every IPv4 address only.
//
// The address of a Unix listener is a path, or on Linux "@name" in the abstract name space. A
// socket file that refuses connections is replaced, as a dead process has left it. If two processes
// start on one path at the same moment both may replace the file; the later one then has the path.
// Closing the listener leaves the file.
func Listen(network, address string, opt ListenOptions) (fd int, bound string, err error) {
	var l net.Listener
	switch {
	case opt.Backlog < 0 || opt.KeepAlive < 0 || opt.AckTimeout < 0:
		err = errOptions
	case network == "unix":
		l, err = listenUnix(address, opt.Mode)
	default:
		l, err = listenTCP(network, address, opt.KeepAlive)
	}
	if err != nil {
		return -1, "", fmt.Errorf("netio: listen %s %s: %w", network, address, failure(err))
	}
	s := &listener{by: l, max: acceptedMax}
	if opt.Backlog > 0 {
		s.max = min(s.max, opt.Backlog)
	}
	s.retry()
	return handles.enter(s), text(l.Addr()), nil
}

func listenTCP(network, address string, keepAlive time.Duration) (net.Listener, error) {
	a, err := resolve(network, address)
	if err != nil {
		return nil, err
	}
	if network == "tcp" && a.IP.To4() != nil {
		network = "tcp4" // package net takes 0.0.0.0 for both families
	}
	every := net.KeepAliveConfig{Enable: keepAlive > 0, Idle: keepAlive, Interval: keepAlive, Count: keepAliveProbes}
	by := net.ListenConfig{KeepAlive: -1, KeepAliveConfig: every}
	return by.Listen(context.Background(), network, a.String())
}

// keepAliveProbes is how many probes a silent peer leaves unanswered before the connection ends.
const keepAliveProbes = 3

func listenUnix(path string, mode fs.FileMode) (net.Listener, error) {
	a, err := unixAddr(path)
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", a)
	if errors.Is(failure(err), syscall.EADDRINUSE) && abandoned(a) {
		if err = os.Remove(path); err == nil {
			l, err = net.ListenUnix("unix", a)
		}
	}
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if mode != 0 && !strings.HasPrefix(path, "@") {
		if err = os.Chmod(path, mode.Perm()); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// unixAddr refuses paths that package net would take for another kind of address.
func unixAddr(path string) (*net.UnixAddr, error) {
	if path == "" || strings.HasPrefix(path, "@") && runtime.GOOS != "linux" {
		return nil, errAddress
	}
	return &net.UnixAddr{Name: path, Net: "unix"}, nil
}

// abandoned reports whether a is a socket file on which nobody listens.
func abandoned(a *net.UnixAddr) bool {
	s, err := os.Lstat(a.Name)
	if err != nil || s.Mode()&os.ModeSocket == 0 {
		return false
	}
	conn, err := net.DialUnix("unix", nil, a)
	if err == nil {
		conn.Close()
	}
	return failure(err) == syscall.ECONNREFUSED
}
