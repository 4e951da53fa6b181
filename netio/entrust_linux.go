//go:build !portable

package netio

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// trust is a Poller's way to another one, which may watch it.
type trust struct {
	to    int // the other one's epoll, a descriptor of this poller's own; 0: none
	token Token
}

// MayEntrust lets p be entrusted to by, as often as its owner likes: h is told by by, then, that p has
// events. It is called once, before either is used, and needs an epoll of the system.
func (p *Poller) MayEntrust(by *Poller, h Handler) error {
	to, err := unix.FcntlInt(uintptr(by.epfd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return err
	}
	p.trust = trust{to, by.slots.take(to, h)}
	by.reserved++
	return nil
}

// Entrust has the other poller watch p until TakeBack: from now on its handler is told of each event that p gets,
// or has, and whoever stands in for p's worker may call Poll. A Wake isn't an event. The worker waits with WaitForWake,
// behind a look at Ready. If it fails, nothing has changed.
//
//alloc:none
func (p *Poller) Entrust() error {
	if err := p.control(p.trust.to, unix.EPOLL_CTL_ADD, p.epfd, unix.EPOLLIN|unix.EPOLLET, p.trust.token); err != nil {
		return err
	}
	return p.control(p.epfd, unix.EPOLL_CTL_DEL, p.bell.fd, 0, wakeToken)
}

// TakeBack ends what Entrust began. The other handler may be told of one more event. If it fails, it may be tried again.
//
//alloc:none
func (p *Poller) TakeBack() error {
	if err := p.addBell(p.epfd); err != nil && err != unix.EEXIST { // it is told of at once, if it was ever rung
		return err
	}
	return p.control(p.trust.to, unix.EPOLL_CTL_DEL, p.epfd, 0, wakeToken)
}

// Ready reports whether Poll would find something.
//
//alloc:none
func (p *Poller) Ready() bool {
	look := unix.PollFd{Fd: int32(p.epfd), Events: unix.POLLIN}
	var none unix.Timespec
	got, _, _ := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&look)), 1, uintptr(unsafe.Pointer(&none)), 0, 0, 0)
	return got == 1
}

// WaitForWake is Wait for a Wake alone: it fetches no events, and no event ends it. It reports false if the time was
// over. A Wake that a Poll or Wait has taken may end the next one too, and the other way round.
//
//alloc:none
func (p *Poller) WaitForWake(ns int64) (woken bool, err error) {
	var rung [1]unix.EpollEvent
	got, errno := p.wait(p.doze, rung[:], ns)
	if errno == unix.EINTR {
		return true, nil
	}
	if errno != 0 {
		return true, p.failure(errno)
	}
	return got == 1, nil
}

// CanNap reports whether WaitForWake can be as short as it is asked to, and ends for a Wake alone.
func (p *Poller) CanNap() bool { return !p.coarse }

// addBell has epfd, one of p's two, tell of each Wake.
func (p *Poller) addBell(epfd int) error {
	return p.control(epfd, unix.EPOLL_CTL_ADD, p.bell.fd, unix.EPOLLIN|unix.EPOLLET, wakeToken)
}

func (t *trust) close() {
	if t.to != 0 {
		unix.Close(t.to)
	}
}
