//go:build !portable

package netio

import (
	"io"
	"unsafe"

	"github.com/stackhouse-go/stackhouse/internal/invariant"
	"golang.org/x/sys/unix"
)

// Read reads bytes that have arrived on fd into p. It returns io.EOF at the end of the stream and
// ErrAgain if nothing has arrived yet.
//
//alloc:none
func Read(fd int, p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil // a read of zero bytes would look like the end
	}
	for {
		got, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd),
			uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return 0, failure(errno)
		case got == 0:
			return 0, io.EOF
		default:
			invariant.WroteBytes(p[:got])
			return int(got), nil
		}
	}
}

// Write writes as much of p as the send buffer of the socket fd has room for, and returns how many
// bytes. It returns ErrAgain if there is no room.
//
// It calls send(2) rather than write(2): after the peer is gone both return EPIPE, but write would
// also raise a signal, which a process that embeds the Go runtime may not survive.
//
//alloc:none
func Write(fd int, p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	invariant.ReadBytes(p)
	for {
		put, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
			uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return 0, failure(errno)
		default:
			return int(put), nil
		}
	}
}

// Writev is Write for several buffers, in one system call. The caller drops the n written bytes by
// v.Advance(n), and calls again when the socket is writable.
//
//alloc:none
func Writev(fd int, v *IOVecs) (n int, err error) {
	if v.first == v.end {
		return 0, nil
	}
	if invariant.Race {
		for _, e := range v.vecs[v.first:v.end] {
			invariant.ReadBytes(e.bytes())
		}
	}
	var m unix.Msghdr
	m.Iov = &v.vecs[v.first].Iovec
	m.SetIovlen(v.end - v.first)
	for {
		put, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd),
			uintptr(unsafe.Pointer(&m)), unix.MSG_NOSIGNAL)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return 0, failure(errno)
		default:
			return int(put), nil
		}
	}
}

// Accept takes a connection from the listener fd: non-blocking and closed on
// exec. It returns ErrAgain if there is none, and ErrDescriptors if there is no
// descriptor for it. Connections that died while they were queued are skipped.
//
//alloc:none
func Accept(fd int) (nfd int, err error) {
	for {
		got, _, errno := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), 0, 0,
			unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
		switch {
		case errno == 0:
			return int(got), nil
		case errno == unix.EINTR || lost(errno):
		case exhausted(errno):
			return -1, ErrDescriptors
		default:
			return -1, failure(errno)
		}
	}
}

func exhausted(errno unix.Errno) bool {
	switch errno {
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		return true
	}
	return false
}

// lost reports whether errno is a failure of the connection that accept took from the queue, not of
// the listener (accept(2), "Error handling").
func lost(errno unix.Errno) bool {
	switch errno {
	case unix.ECONNABORTED, unix.EPROTO, unix.ENOPROTOOPT, unix.ENETDOWN, unix.ENETUNREACH,
		unix.EHOSTDOWN, unix.EHOSTUNREACH, unix.ENONET:
		return true
	}
	return false
}

// SetNoDelay makes TCP send small writes at once rather than collect them.
func SetNoDelay(fd int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}

// Shutdown ends one direction of fd: writing if write is true, so that the peer reads an end, or
// else reading.
func Shutdown(fd int, write bool) error {
	if write {
		return unix.Shutdown(fd, unix.SHUT_WR)
	}
	return unix.Shutdown(fd, unix.SHUT_RD)
}

// Unsent returns how many bytes written to fd the peer's system hasn't acknowledged; an end that
// was sent counts as one. For a Unix socket it returns how much memory the bytes take that the peer
// hasn't read. It reports false if the system doesn't tell.
func Unsent(fd int) (n int, known bool) {
	n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	return n, err == nil
}

// Close closes fd, which must have been removed from its poller. The descriptor is gone even after
// an error.
func Close(fd int) error {
	if err := unix.Close(fd); err != unix.EINTR {
		return err
	}
	return nil
}

func socket(family int) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if errno, ok := err.(unix.Errno); ok && exhausted(errno) {
		return -1, ErrDescriptors
	}
	return fd, err
}

// failure turns the errno of a system call into an error. Go has ready-made interface values for
// such small numbers, so that this doesn't allocate.
//
//go:noinline
func failure(errno unix.Errno) error {
	if errno == unix.EAGAIN {
		return ErrAgain
	}
	return errno
}

// iovec is one buffer of IOVecs, as the kernel takes it.
type iovec struct{ unix.Iovec }

func (e *iovec) set(b []byte) {
	e.Base = &b[0]
	e.SetLen(len(b))
}

func (e *iovec) bytes() []byte { return unsafe.Slice(e.Base, int(e.Len)) }
