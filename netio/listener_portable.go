//go:build !linux || portable

package netio

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// acceptedMax is how many connections wait for Accept, besides those in the system's queue.
const acceptedMax = 128

// listener is a listening socket. While its queue has room a goroutine accepts ahead.
type listener struct {
	watched
	by        net.Listener
	queue     []net.Conn // accepted by the goroutine, not by Accept. Invariant: len(queue) <= max
	max       int
	failed    error // of the goroutine, until Accept has returned it
	accepting bool  // the goroutine, accept, runs
	survey    survey
}

// retry begins to accept again, after a failure or a full queue.
func (l *listener) retry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = nil
	l.restart()
}

// restart starts accept, unless it runs or can't. The caller holds the lock.
func (l *listener) restart() {
	if !l.accepting && !l.closed && l.failed == nil && len(l.queue) < l.max {
		l.accepting = true
		go l.accept()
	}
}

// accept fills the queue. It is a goroutine.
func (l *listener) accept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) < l.max && l.failed == nil {
		l.mu.Unlock()
		conn, err := l.by.Accept()
		l.mu.Lock()
		switch {
		case l.closed:
			if err == nil {
				conn.Close()
			}
			l.survey.end()
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			l.survey.interrupted(l.by.(deadliner).SetDeadline)
		case err != nil:
			l.failed = failure(err)
		default:
			l.queue = append(l.queue, conn)
		}
		l.changed()
	}
	l.accepting = false
	l.survey.end()
}

// deadliner is what the listeners of package net are.
type deadliner interface{ SetDeadline(time.Time) error }

// settle implements socket.
func (l *listener) settle(done *sync.WaitGroup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if by, ok := l.by.(deadliner); ok && l.accepting {
		l.survey.ask(done, by.SetDeadline)
	}
}

// take returns the connection that has waited longest.
func (l *listener) take() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		conn := l.queue[0]
		l.queue[0], l.queue = nil, l.queue[1:]
		l.restart()
		return conn, nil
	}
	err := l.failed
	if err == nil {
		return nil, ErrAgain
	}
	l.failed = nil
	l.restart()
	return nil, err
}

// ready implements socket.
func (l *listener) ready() (r Ready) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 || l.failed != nil {
		r = Readable
	}
	return r
}

// close implements socket.
func (l *listener) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.watchers = true, nil
	for _, conn := range l.queue {
		conn.Close()
	}
	l.queue = nil
	return failure(l.by.Close())
}

// Accept takes a connection from the listener fd. It returns ErrAgain if there is none, and
// ErrDescriptors if there was no descriptor for one; after that accepting is tried again.
func Accept(fd int) (nfd int, err error) {
	s, err := handles.find(fd)
	if err != nil {
		return -1, err
	}
	l, ok := s.(*listener)
	if !ok {
		return -1, syscall.EINVAL
	}
	conn, err := l.take()
	if err != nil {
		return -1, err
	}
	return handles.enter(connected(conn)), nil
}
