//go:build !portable

package netio

import (
	"errors"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wakeToken is the zero Token, which no descriptor ever gets.
const wakeToken = Token(0)

// machine is a Poller by epoll.
type machine struct {
	// Written by the polling thread.
	epfd   int // -1 once closed
	slots  slots
	coarse bool // the kernel lacks epoll_pwait2

	// The batch fetched last; events[at:end] are not delivered yet.
	// Invariant: at <= end <= len(events).
	events  []unix.EpollEvent
	at, end int

	_ [128]byte

	// Written by any thread.
	bell   bell
	wakefd int // a second epoll, of the bell alone
}

func (p *machine) open(batch int) error {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	wakefd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		unix.Close(epfd)
		return err
	}
	bell, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(epfd)
		unix.Close(wakefd)
		return err
	}
	p.epfd, p.wakefd, p.events = epfd, wakefd, make([]unix.EpollEvent, batch)
	p.bell.fd = bell
	p.slots.init()
	if err := errors.Join(p.addBell(epfd), p.addBell(wakefd)); err != nil {
		p.Close()
		return err
	}
	return nil
}

// Add registers fd, edge-triggered for reading, writing and closing, until Remove. If fd is ready
// for anything already, that is the first event. The descriptor stays the caller's, who must remove
// it before closing it.
//
//alloc:none
func (p *machine) Add(fd int, h Handler) (Token, error) {
	return p.add(fd, h, unix.EPOLLIN|unix.EPOLLPRI|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET)
}

// AddLevel registers a listener, level-triggered: its handler is called at every Poll for as long
// as there are connections to accept. If several pollers wait for one descriptor the kernel wakes
// one or a few of them, not all.
//
//alloc:none
func (p *machine) AddLevel(fd int, h Handler) (Token, error) {
	return p.add(fd, h, unix.EPOLLIN|unix.EPOLLEXCLUSIVE)
}

func (p *machine) add(fd int, h Handler, events uint32) (Token, error) {
	t := p.slots.take(fd, h)
	if err := p.control(p.epfd, unix.EPOLL_CTL_ADD, fd, events, t); err != nil {
		p.slots.put(t, fd)
		return 0, err
	}
	return t, nil
}

// Remove ends the registration t of fd. From then on its handler is not called, not even for events
// fetched before. If t is stale nothing happens and ErrStale is returned. Any other error means
// that the kernel no longer knew the descriptor, because it was closed too early; t is removed all
// the same.
//
//alloc:none
func (p *machine) Remove(t Token, fd int) error {
	if p.epfd < 0 {
		return ErrClosed
	}
	if !p.slots.put(t, fd) {
		return ErrStale
	}
	return p.control(p.epfd, unix.EPOLL_CTL_DEL, fd, 0, wakeToken)
}

// addBell registers the bell with epfd, one of the two epolls of p, so that each Wake is an event
// there.
func (p *machine) addBell(epfd int) error {
	return p.control(epfd, unix.EPOLL_CTL_ADD, p.bell.fd, unix.EPOLLIN|unix.EPOLLET, wakeToken)
}

// control is epoll_ctl, which never blocks.
func (p *machine) control(epfd, op, fd int, events uint32, t Token) error {
	e := event(events, t)
	_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(epfd), uintptr(op), uintptr(fd),
		uintptr(unsafe.Pointer(&e)), 0, 0)
	if errno != 0 {
		return p.failure(errno)
	}
	return nil
}

// Poll delivers one batch of events to their handlers and returns how many handlers it called. It
// never blocks, and the Go scheduler isn't told of it.
//
// Poll may take a Wake that came before it, which then doesn't end the next Wait. So the caller
// must look at its queues between Poll and Wait.
//
//alloc:none
func (p *machine) Poll() (n int, err error) {
	if n = p.Deliver(); n > 0 { // events that were left
		return n, nil
	}
	p.at, p.end = 0, 0
	// epoll_pwait, because not every architecture has epoll_wait.
	got, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epfd),
		uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), 0, 0, 0)
	if err := p.fetched(got, errno); err != nil {
		return 0, err
	}
	return p.Deliver(), nil
}

// Wait blocks until there is another event or a Wake, at most for ns nanoseconds; for ever if ns is
// negative. It calls no handler: it fetches events for Deliver, so that a worker can wait while
// another goroutine runs its turns. Events fetched and not delivered don't end a further Wait,
// which adds to them, unless they fill the batch. If neither a Poll nor another Wait has taken a
// Wake, Wait returns at once. It may also return early after a stale event or a signal: the caller
// looks at its queues and its clock.
//
//alloc:none
func (p *machine) Wait(ns int64) error {
	if p.at == p.end {
		p.at, p.end = 0, 0
	}
	if p.end == len(p.events) {
		return nil
	}
	got, errno := p.wait(p.epfd, p.events[p.end:], ns)
	return p.fetched(got, errno)
}

// WaitForWake is Wait for a Wake alone: it fetches no events, and no event ends it. A Wake that a
// Poll or Wait has taken may end it too, and a Wake that it has taken may end a Wait.
//
//alloc:none
func (p *machine) WaitForWake(ns int64) error {
	var rung [1]unix.EpollEvent
	if _, errno := p.wait(p.wakefd, rung[:], ns); errno != 0 && errno != unix.EINTR {
		return p.failure(errno)
	}
	return nil
}

// CanNap reports whether WaitForWake keeps limits below a millisecond, and only a Wake ends it
// early.
func (p *machine) CanNap() bool { return !p.coarse }

// wait blocks until epfd, one of the two epolls of p, has events, which it puts into room.
func (p *machine) wait(epfd int, room []unix.EpollEvent, ns int64) (uintptr, unix.Errno) {
	if !p.coarse {
		got, errno := waitPrecise(epfd, room, ns)
		if !p.absent(errno) {
			return got, errno
		}
	}
	got, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd),
		uintptr(unsafe.Pointer(&room[0])), uintptr(len(room)), uintptr(milliseconds(ns)), 0, 0)
	return got, errno
}

// exactMost is the limit, in ns, below which a Wait ends as exactly as the system can. A longer
// Wait may end 50 µs late, together with others. Exactness costs a system call.
const exactMost = 10_000_000

// waitPrecise is epoll_pwait2. Its timespec has 64 bits on every architecture.
func waitPrecise(epfd int, room []unix.EpollEvent, ns int64) (uintptr, unix.Errno) {
	var limit *[2]int64 // seconds, nanoseconds; nil: none
	var span [2]int64
	if ns >= 0 {
		span[0], span[1] = ns/1e9, ns%1e9
		limit = &span
	}
	if uint64(ns) < exactMost { // each time, as the goroutine may have another thread
		unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0)
	}
	got, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epfd),
		uintptr(unsafe.Pointer(&room[0])), uintptr(len(room)), uintptr(unsafe.Pointer(limit)), 0, 0)
	return got, errno
}

// absent notes whether errno says that epoll_pwait2 does not exist: before Linux
// 5.11, or, as EPERM, under an old sandbox that refuses calls unknown to it.
func (p *machine) absent(errno unix.Errno) bool {
	p.coarse = errno == unix.ENOSYS || errno == unix.EPERM
	return p.coarse
}

// milliseconds is ns as the timeout of epoll_pwait: rounded up, because a worker would spin if its
// wait ended before its timer is due.
func milliseconds(ns int64) int32 {
	if ns < 0 {
		return -1
	}
	ms := ns / 1e6
	if ns%1e6 > 0 {
		ms++
	}
	return int32(min(ms, math.MaxInt32))
}

func (p *machine) fetched(got uintptr, errno unix.Errno) error {
	if errno == unix.EINTR {
		return nil
	}
	if errno != 0 {
		return p.failure(errno)
	}
	p.end += int(got)
	return nil
}

// Deliver calls the handlers of events that Wait fetched, or that are left of a batch in which a
// handler panicked. It returns how many it called. An event is taken out before its handler runs:
// the handler may panic, poll, or close.
//
//alloc:none
func (p *machine) Deliver() (n int) {
	for p.at < p.end {
		e := &p.events[p.at]
		p.at++
		t := token(e)
		if t != wakeToken && p.slots.deliver(t, ready(e.Events)) {
			n++
		}
	}
	return n
}

// Settle returns when bytes and connections that had arrived at the registered descriptors can be
// read or accepted: at once, as Read and Accept ask the system itself.
func (p *machine) Settle() {}

// event and token carry a Token through the eight bytes that the kernel
// returns with an event.
func event(events uint32, t Token) unix.EpollEvent {
	return unix.EpollEvent{Events: events, Fd: int32(t.slot()), Pad: int32(t.generation())}
}

func token(e *unix.EpollEvent) Token { return tokenOf(uint32(e.Fd), uint32(e.Pad)) }

func ready(events uint32) (r Ready) {
	if events&unix.EPOLLIN != 0 {
		r |= Readable
	}
	if events&unix.EPOLLPRI != 0 {
		r |= Readable | Urgent
	}
	if events&unix.EPOLLOUT != 0 {
		r |= Writable
	}
	if events&(unix.EPOLLHUP|unix.EPOLLRDHUP|unix.EPOLLERR) != 0 {
		r |= Closed
	}
	return r
}

//go:noinline
func (p *machine) failure(errno unix.Errno) error {
	if p.epfd < 0 {
		return ErrClosed
	}
	return errno
}

// Wake makes a Wait in progress, or else the next Wait or Poll, return. Any thread may call it,
// also while and after the poller is closed. It is one write to an eventfd, which is never read:
// each write is an event, so none is lost. Only after 2^64 writes would the counter be full, and
// writes refused.
//
//alloc:none
func (p *machine) Wake() { p.bell.ring() }

// Len returns how many descriptors are registered.
func (p *machine) Len() int { return p.slots.used }

// Stale returns how many events were dropped because their registration had ended before they were
// delivered.
func (p *machine) Stale() uint64 { return p.slots.stale }

// Close ends all registrations. The descriptors stay open: they are the callers'. A handler may
// call it: no other handler is called after that.
func (p *machine) Close() error {
	if p.epfd < 0 {
		return ErrClosed
	}
	err := unix.Close(p.epfd)
	p.epfd = -1
	p.at, p.end = 0, 0
	p.slots.chunks, p.slots.used = nil, 0
	p.slots.init()
	unix.Close(p.wakefd)
	p.bell.close()
	return err
}

// write8 adds word to the counter of an eventfd. It can fail only if the counter is full, which
// takes centuries.
func write8(fd int, word *uint64) {
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(word)), 8)
		if errno != unix.EINTR {
			return
		}
	}
}
