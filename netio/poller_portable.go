//go:build !linux || portable

package netio

import (
	"sync"
	"time"
)

// machine is a Poller: the goroutines behind the sockets queue their registrations here. Adding and
// removing while another goroutine is in Wait is allowed, as with epoll.
type machine struct {
	// Written by the polling thread.
	slots      slots
	registered map[Token]*registration

	// The batch fetched last; events[at:end] are not delivered yet.
	// Invariant: at <= end <= len(events).
	events  []event
	at, end int

	timer *time.Timer   // runs only in Wait
	bell  chan struct{} // holds one value after a push, a Wake or a release

	mu      sync.Mutex // guards the fields below, and registration.queued and .gone
	queue   []*registration
	woken   bool
	closed  bool
	sending int // closed streams that still send
}

// event is one handler to call.
type event struct {
	token Token
	ready Ready
}

// registration is one socket's place in one poller.
type registration struct {
	p      *machine
	token  Token
	of     socket
	level  bool
	queued bool // in p.queue
	gone   bool // removed
}

func (p *machine) open(batch int) error {
	p.events, p.registered, p.bell = make([]event, batch), map[Token]*registration{}, make(chan struct{}, 1)
	p.timer = time.NewTimer(time.Hour)
	p.timer.Stop()
	p.slots.init()
	return nil
}

// Add registers fd, edge-triggered for reading, writing and closing, until Remove. If fd is ready
// for anything already, that is the first event. The descriptor stays the caller's, who must remove
// it before closing it.
func (p *machine) Add(fd int, h Handler) (Token, error) { return p.add(fd, h, false) }

// AddLevel registers a listener, level-triggered: its handler is called at every Poll for as long
// as there are connections to accept. All pollers that wait for it are woken. A listener whose
// accept has failed tries again.
func (p *machine) AddLevel(fd int, h Handler) (Token, error) { return p.add(fd, h, true) }

func (p *machine) add(fd int, h Handler, level bool) (Token, error) {
	if p.isClosed() {
		return 0, ErrClosed
	}
	s, err := handles.find(fd)
	if err != nil {
		return 0, err
	}
	r := &registration{p: p, token: p.slots.take(fd, h), of: s, level: level}
	if err := s.common().watch(r); err != nil {
		p.slots.put(r.token, fd)
		return 0, err
	}
	p.registered[r.token] = r
	if l, ok := s.(*listener); ok {
		l.retry()
	}
	p.push(r)
	return r.token, nil
}

// Remove ends the registration t of fd. From then on its handler is not called, not even for events
// fetched before. If t is stale nothing happens and ErrStale is returned. Any other error means
// that the descriptor was closed too early; t is removed all the same.
func (p *machine) Remove(t Token, fd int) error {
	if p.isClosed() {
		return ErrClosed
	}
	if !p.slots.put(t, fd) {
		return ErrStale
	}
	r := p.registered[t]
	delete(p.registered, t)
	p.forget(r)
	return r.of.common().unwatch(r)
}

func (p *machine) forget(r *registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.gone = true
}

// Poll delivers one batch of events to their handlers and returns how many handlers it called. It
// never blocks.
//
// Poll may take a Wake that came before it, which then doesn't end the next Wait. So the caller
// must look at its queues between Poll and Wait.
func (p *machine) Poll() (n int, err error) {
	if p.at == p.end {
		p.at, p.end = 0, 0
		if _, err := p.fetch(); err != nil {
			return 0, err
		}
	}
	return p.Deliver(), nil
}

// Wait blocks until there is another event or a Wake, at most for ns nanoseconds; for ever if ns is
// negative. It calls no handler: it fetches events for Deliver, so that a worker can wait while
// another goroutine runs its turns. Events fetched and not delivered don't end a further Wait,
// which adds to them, unless they fill the batch. If neither a Poll nor another Wait has taken a
// Wake, Wait returns at once. It may also return early: the caller looks at its queues and its
// clock.
func (p *machine) Wait(ns int64) error {
	if p.at == p.end {
		p.at, p.end = 0, 0
	}
	if p.end == len(p.events) {
		return nil
	}
	var late <-chan time.Time // nil: never
	if ns >= 0 {
		p.timer.Reset(time.Duration(ns))
		defer p.timer.Stop()
		late = p.timer.C
	}
	for {
		if any, err := p.fetch(); any || err != nil {
			return err
		}
		select {
		case <-p.bell:
		case <-late:
			return nil
		}
	}
}

// WaitForWake is Wait: events end it too.
func (p *machine) WaitForWake(ns int64) error { return p.Wait(ns) }

// CanNap reports false: events end WaitForWake too.
func (p *machine) CanNap() bool { return false }

// fetch takes events, as far as there is room, and a Wake. It reports whether there was any. It
// asks each queued socket what it is ready for now, not what it was when queued, so that changes
// add up. A level-triggered socket that is ready is queued again.
func (p *machine) fetch() (any bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false, ErrClosed
	}
	any, p.woken = p.woken, false
	for n := len(p.queue); n > 0 && p.end < len(p.events); n-- {
		r := p.queue[0]
		p.queue[0], p.queue = nil, p.queue[1:]
		r.queued = false // before ready: a change after that is a new event
		p.mu.Unlock()
		is := r.of.ready()
		p.mu.Lock()
		if is == 0 || r.gone {
			continue
		}
		p.events[p.end] = event{r.token, is}
		p.end++
		any = true
		if r.level && !r.queued {
			r.queued, p.queue = true, append(p.queue, r)
		}
	}
	return any, nil
}

// push queues r, unless it is queued already.
func (p *machine) push(r *registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.queued || p.closed {
		return
	}
	r.queued, p.queue = true, append(p.queue, r)
	p.ring()
}

// ring ends a Wait. The caller holds the lock.
func (p *machine) ring() {
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

// Settle returns when bytes and connections that had arrived at the registered descriptors can be
// read or accepted, as far as there is room for them. It takes some milliseconds.
func (p *machine) Settle() {
	var done sync.WaitGroup
	for _, r := range p.registered {
		r.of.settle(&done)
	}
	done.Wait()
}

// Deliver calls the handlers of events that Wait fetched, or that are left of a batch in which a
// handler panicked. It returns how many it called. An event is taken out before its handler runs:
// the handler may panic, poll, or close.
func (p *machine) Deliver() (n int) {
	for p.at < p.end {
		e := p.events[p.at]
		p.at++
		if p.slots.deliver(e.token, e.ready) {
			n++
		}
	}
	return n
}

// Wake makes a Wait in progress, or else the next Wait or Poll, return. Any
// thread may call it, also while and after the poller is closed.
func (p *machine) Wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.woken = true
	p.ring()
}

// Len returns how many descriptors are registered.
func (p *machine) Len() int { return p.slots.used }

// Stale returns how many events were dropped because their registration had ended before they were
// delivered.
func (p *machine) Stale() uint64 { return p.slots.stale }

func (p *machine) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Close ends all registrations. The descriptors stay open: they are the callers'. A handler may
// call it: no other handler is called after that. Close waits until bytes written to descriptors
// that are closed are sent, or their sending has failed, because the process may end next.
func (p *machine) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return ErrClosed
	}
	p.closed, p.queue = true, nil
	for p.sending > 0 {
		p.mu.Unlock()
		<-p.bell
		p.mu.Lock()
	}
	p.mu.Unlock()
	for _, r := range p.registered {
		r.of.common().unwatch(r)
	}
	p.registered = nil
	p.at, p.end = 0, 0
	p.slots.chunks, p.slots.used = nil, 0
	p.slots.init()
	return nil
}

// hold makes Close wait for a release. It reports false if the poller is closed.
func (p *machine) hold() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.sending++
	return true
}

func (p *machine) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending--
	p.ring()
}
