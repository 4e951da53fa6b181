//go:build !linux || portable

package netio

import (
	"math"
	"slices"
	"sync"
	"syscall"
)

// socket is what a descriptor refers to: a stream or a listener.
type socket interface {
	common() *watched
	ready() Ready
	settle(done *sync.WaitGroup)
	close() error
}

// handles are the open descriptors. Numbers are given in ascending order, so that one comes back
// only after all others: a stale descriptor finds nothing.
var handles = table{open: map[int]socket{}}

type table struct {
	mu   sync.RWMutex
	open map[int]socket
	last int
}

func (t *table) enter(s socket) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if t.last++; t.last > math.MaxInt32 { // slot.fd has 32 bits
			t.last = 1
		}
		if t.open[t.last] == nil {
			t.open[t.last] = s
			return t.last
		}
	}
}

// leave forgets fd and returns its socket.
func (t *table) leave(fd int) (socket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.open[fd]
	if s == nil {
		return nil, syscall.EBADF
	}
	delete(t.open, fd)
	return s, nil
}

func (t *table) find(fd int) (socket, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.open[fd]; s != nil {
		return s, nil
	}
	return nil, syscall.EBADF
}

func streamOf(fd int) (*stream, error) {
	s, err := handles.find(fd)
	if err != nil {
		return nil, err
	}
	if s, ok := s.(*stream); ok {
		return s, nil
	}
	return nil, syscall.ENOTCONN
}

// watched is what streams and listeners have in common. A goroutine takes its lock before a
// poller's.
type watched struct {
	mu       sync.Mutex // guards all fields of the socket
	watchers []*registration
	poller   *machine // the last one that watched
	closed   bool
}

func (w *watched) common() *watched { return w }

// watch adds r to the registrations that changed tells. A poller may have one of each socket.
func (w *watched) watch(r *registration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(w.watchers, func(other *registration) bool { return other.p == r.p }) {
		return syscall.EEXIST
	}
	w.watchers, w.poller = append(w.watchers, r), r.p
	return nil
}

// unwatch undoes watch. It fails if the socket was closed already, which must come after.
func (w *watched) unwatch(r *registration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return syscall.EBADF
	}
	w.watchers = slices.DeleteFunc(w.watchers, func(other *registration) bool { return other == r })
	return nil
}

// changed tells the pollers that something became ready. The caller holds the lock.
func (w *watched) changed() {
	for _, r := range w.watchers {
		r.p.push(r)
	}
}
