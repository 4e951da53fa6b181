//go:build !linux || portable

package netio

import (
	"math"
	"slices"
	"sync"
	"syscall"
)

// socket is what a descriptor stands for: a stream or a listener.
type socket interface {
	common() *node
	ready() Ready
	settle(done *sync.WaitGroup)
	close() error
}

// handles are the open descriptors. They count up, and a number comes back only
// after all others, so that a stale one finds nothing.
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
		if t.last++; t.last > math.MaxInt32 { // a slot keeps no more
			t.last = 1
		}
		if t.open[t.last] == nil {
			t.open[t.last] = s
			return t.last
		}
	}
}

// leave forgets fd and returns what it stood for.
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

// node is what streams and listeners have in common. Its lock is taken before a poller's.
type node struct {
	mu       sync.Mutex // guards all fields of the socket
	watchers []*registration
	home     *Poller // the last that watched
	closed   bool
}

func (n *node) common() *node { return n }

// watch has r told of every change.
func (n *node) watch(r *registration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.ContainsFunc(n.watchers, func(w *registration) bool { return w.p == r.p }) {
		return syscall.EEXIST
	}
	n.watchers, n.home = append(n.watchers, r), r.p
	return nil
}

// unwatch undoes watch, unless the socket was closed before: that is too early.
func (n *node) unwatch(r *registration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return syscall.EBADF
	}
	n.watchers = slices.DeleteFunc(n.watchers, func(w *registration) bool { return w == r })
	return nil
}

// changed tells the pollers that something became ready. The caller holds the lock.
func (n *node) changed() {
	for _, r := range n.watchers {
		r.p.push(r)
	}
}
