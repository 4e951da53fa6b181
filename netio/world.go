package netio

import (
	"sync/atomic"
	"time"
)

// World is a network. A Poller belongs to one: the machine's, or one that takes its place in
// simulations, such as that of package housetest. The methods that are named like functions of this
// package do what these do; their callers are the Poller's methods. A World belongs to the
// goroutine in which its simulation runs.
type World interface {
	// Watch has events of fd come to p with t, until Unwatch: edge-triggered or, if level is true,
	// for as long as there are connections to accept.
	Watch(p *Poller, fd int, t Token, level bool) error
	Unwatch(p *Poller, fd int, t Token) error
	// Poll calls p.Call for the events of p that have come, and returns how many of these calls
	// reported true.
	Poll(p *Poller) (n int)

	Listen(network, address string, opt ListenOptions) (fd int, bound string, err error)
	Share(fd int) (nfd int, err error)
	Accept(fd int) (nfd int, err error)
	Connect(network, address string) (fd int, err error)
	ConnectError(fd int) error
	Read(fd int, p []byte) (n int, err error)
	Write(fd int, p []byte) (n int, err error)
	Shutdown(fd int, write bool) error
	Unsent(fd int) (n int, known bool)
	Close(fd int) error
	LocalAddr(fd int) string
	RemoteAddr(fd int) string
}

// Poller tells one worker which of its descriptors are ready, and makes the socket calls on them.
// Only the worker that polls may call its methods, except Wake, Post and the socket calls, which
// any goroutine may make. While one goroutine is in Wait another may stand in for the worker, and
// may call all methods but Poll, Wait, Deliver and Close.
type Poller struct {
	world World // nil: the machine's. First: what other threads write is at machine's end
	machine
	due   *post                // posts that are being delivered
	posts atomic.Pointer[post] // the last comes first
}

// post is a call of Post that hasn't been delivered.
type post struct {
	token Token
	next  *post
}

// Open returns a poller of the machine's network, without descriptors.
func Open() (*Poller, error) { return open(batchMax) }

func open(batch int) (*Poller, error) {
	p := &Poller{}
	if err := p.machine.open(batch); err != nil {
		return nil, err
	}
	return p, nil
}

// OpenIn returns a poller of w, without descriptors. It can't Wait: it is for systems whose turns
// are called by hand.
func OpenIn(w World) *Poller {
	p := &Poller{world: w}
	p.slots.init()
	return p
}

// Call calls the handler of t. It reports false if t is stale. Only a World calls it, in Poll.
func (p *Poller) Call(t Token, r Ready) bool { return p.slots.deliver(t, r) }

// Add registers fd, edge-triggered for reading, writing and closing, until Remove. If fd is ready
// for anything already, that is the first event. The descriptor stays the caller's, who must remove
// it before closing it.
//
//alloc:none
func (p *Poller) Add(fd int, h Handler) (Token, error) {
	if p.world != nil {
		return p.watch(fd, h, false)
	}
	return p.machine.Add(fd, h)
}

// AddLevel registers a listener, level-triggered: its handler is called at every Poll for as long
// as there are connections to accept. If several pollers wait for one descriptor one or a few of
// them are woken, or all where CanShare is false.
//
//alloc:none
func (p *Poller) AddLevel(fd int, h Handler) (Token, error) {
	if p.world != nil {
		return p.watch(fd, h, true)
	}
	return p.machine.AddLevel(fd, h)
}

func (p *Poller) watch(fd int, h Handler, level bool) (Token, error) {
	t := p.slots.take(fd, h)
	if err := p.world.Watch(p, fd, t, level); err != nil {
		p.slots.put(t, fd)
		return 0, err
	}
	return t, nil
}

// Remove ends the registration t of fd. From then on its handler is not called, not even for events
// fetched before. If t is stale nothing happens and ErrStale is returned. Any other error means
// that the descriptor was closed too early; t is removed all the same.
//
//alloc:none
func (p *Poller) Remove(t Token, fd int) error {
	if p.world == nil {
		return p.machine.Remove(t, fd)
	}
	if !p.slots.put(t, fd) {
		return ErrStale
	}
	return p.world.Unwatch(p, fd, t)
}

// Poll delivers one batch of events to their handlers and returns how many handlers it called. It
// never blocks.
//
// Poll may take a Wake that came before it, which then doesn't end the next Wait. So the caller
// must look at its queues between Poll and Wait.
//
//alloc:none
func (p *Poller) Poll() (n int, err error) {
	if p.world != nil {
		return p.world.Poll(p) + p.deliverPosts(), nil
	}
	n, err = p.machine.Poll()
	return n + p.deliverPosts(), err
}

// Deliver calls the handlers of events that Wait fetched, or that are left of a batch in which a
// handler panicked, and of what was posted. It returns how many it called.
//
//alloc:none
func (p *Poller) Deliver() (n int) { return p.machine.Deliver() + p.deliverPosts() }

// Post has the handler of t called with Posted in a Poll or Deliver that is to come, if t isn't
// stale by then. Any goroutine may call it, also while and after
// the poller is closed. It allocates.
func (p *Poller) Post(t Token) {
	for new := (&post{token: t}); ; {
		if new.next = p.posts.Load(); p.posts.CompareAndSwap(new.next, new) {
			break
		}
	}
	p.Wake()
}

// deliverPosts delivers what was posted, behind the Wake of it: so a Poll that takes a Wake has the
// post, too.
func (p *Poller) deliverPosts() (n int) {
	if p.due == nil && p.posts.Load() != nil {
		p.due = p.posts.Swap(nil)
	}
	for p.due != nil {
		t := p.due.token
		p.due = p.due.next // before the handler, which may panic
		if p.slots.deliver(t, Posted) {
			n++
		}
	}
	return n
}

// Settle returns when bytes and connections that had arrived at the registered descriptors can be
// read or accepted, as far as there is room for them.
func (p *Poller) Settle() {
	if p.world == nil {
		p.machine.Settle()
	}
}

// Wake makes a Wait in progress, or else the next Wait or Poll, return. Any goroutine may call it,
// also while and after the poller is closed.
//
//alloc:none
func (p *Poller) Wake() {
	if p.world == nil {
		p.machine.Wake()
	}
}

// Close ends all registrations. The descriptors stay open: they are the callers'. A handler may
// call it: no other handler is called after that. Where CanShare is false it waits until bytes
// written to descriptors that are closed are sent, because the process may end next.
func (p *Poller) Close() error {
	if p.world == nil {
		return p.machine.Close()
	}
	p.slots = slots{}
	p.slots.init()
	return nil
}

// Listen is the function Listen in the poller's world.
func (p *Poller) Listen(network, address string, opt ListenOptions) (fd int, bound string, err error) {
	if p.world != nil {
		return p.world.Listen(network, address, opt)
	}
	return Listen(network, address, opt)
}

// CanShare reports whether Share is possible in the poller's world.
func (p *Poller) CanShare() bool { return CanShare || p.world != nil }

// Share is the function Share in the poller's world.
func (p *Poller) Share(fd int) (nfd int, err error) {
	if p.world != nil {
		return p.world.Share(fd)
	}
	return Share(fd)
}

// Accept is the function Accept in the poller's world.
//
//alloc:none
func (p *Poller) Accept(fd int) (nfd int, err error) {
	if p.world != nil {
		return p.world.Accept(fd)
	}
	return Accept(fd)
}

// Connect is the function Connect in the poller's world.
func (p *Poller) Connect(network, address string) (fd int, err error) {
	if p.world != nil {
		return p.world.Connect(network, address)
	}
	return Connect(network, address)
}

// ConnectError is the function ConnectError in the poller's world.
func (p *Poller) ConnectError(fd int) error {
	if p.world != nil {
		return p.world.ConnectError(fd)
	}
	return ConnectError(fd)
}

// Read is the function Read in the poller's world.
//
//alloc:none
func (p *Poller) Read(fd int, b []byte) (n int, err error) {
	if p.world != nil {
		return p.world.Read(fd, b)
	}
	return Read(fd, b)
}

// Write is the function Write in the poller's world.
//
//alloc:none
func (p *Poller) Write(fd int, b []byte) (n int, err error) {
	if p.world != nil {
		return p.world.Write(fd, b)
	}
	return Write(fd, b)
}

// Writev is the function Writev in the poller's world.
//
//alloc:none
func (p *Poller) Writev(fd int, v *IOVecs) (n int, err error) {
	if p.world == nil {
		return Writev(fd, v)
	}
	for i := v.first; i < v.end; i++ {
		b := v.vecs[i].bytes()
		k, err := p.world.Write(fd, b)
		if n += k; err != nil && n == 0 {
			return 0, err
		}
		if k < len(b) {
			break
		}
	}
	return n, nil
}

// SetNoDelay is the function SetNoDelay in the poller's world.
func (p *Poller) SetNoDelay(fd int) error {
	if p.world != nil {
		return nil
	}
	return SetNoDelay(fd)
}

// SetTimeouts is the function SetTimeouts in the poller's world.
func (p *Poller) SetTimeouts(fd int, keepAlive, ack time.Duration) error {
	if p.world != nil {
		return nil
	}
	return SetTimeouts(fd, keepAlive, ack)
}

// Shutdown is the function Shutdown in the poller's world.
func (p *Poller) Shutdown(fd int, write bool) error {
	if p.world != nil {
		return p.world.Shutdown(fd, write)
	}
	return Shutdown(fd, write)
}

// Unsent is the function Unsent in the poller's world.
func (p *Poller) Unsent(fd int) (n int, known bool) {
	if p.world != nil {
		return p.world.Unsent(fd)
	}
	return Unsent(fd)
}

// CloseFD is the function Close in the poller's world.
func (p *Poller) CloseFD(fd int) error {
	if p.world != nil {
		return p.world.Close(fd)
	}
	return Close(fd)
}

// LocalAddr is the function LocalAddr in the poller's world.
func (p *Poller) LocalAddr(fd int) string {
	if p.world != nil {
		return p.world.LocalAddr(fd)
	}
	return LocalAddr(fd)
}

// RemoteAddr is the function RemoteAddr in the poller's world.
func (p *Poller) RemoteAddr(fd int) string {
	if p.world != nil {
		return p.world.RemoteAddr(fd)
	}
	return RemoteAddr(fd)
}
