//go:build !linux || portable

package netio

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// failure returns the reason in an error of package net: a sentinel or a syscall.Errno if there is
// one.
func failure(err error) error {
	var errno syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, net.ErrClosed):
		return syscall.EBADF
	case !errors.As(err, &errno):
		return err
	}
	switch errno = usual(errno); errno {
	case syscall.EAGAIN:
		return ErrAgain
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
		return ErrDescriptors
	}
	return errno
}

// usual turns error numbers of Windows' sockets, which no other system has, into those that package
// syscall has on every system.
func usual(errno syscall.Errno) syscall.Errno {
	switch errno {
	case 10022:
		return syscall.EINVAL
	case 10024:
		return syscall.EMFILE
	case 10035:
		return syscall.EAGAIN
	case 10048:
		return syscall.EADDRINUSE
	case 10049:
		return syscall.EADDRNOTAVAIL
	case 10053:
		return syscall.ECONNABORTED
	case 10054:
		return syscall.ECONNRESET
	case 10055:
		return syscall.ENOBUFS
	case 10057:
		return syscall.ENOTCONN
	case 10058:
		return syscall.EPIPE
	case 10061:
		return syscall.ECONNREFUSED
	}
	return errno
}
