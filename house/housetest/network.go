package housetest

import (
	"container/heap"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/stackhouse-go/stackhouse/netio"
)

// Network is the network of a simulation: a [netio.World] in which servers of package channel
// listen, and scripted peers dial them. Everything takes virtual time, and what goes wrong is drawn
// by the seed: see Faults. It belongs to the goroutine of its Sim.
//
// Bytes of a connection stay in order. What one end has written is on its way, then it has arrived,
// then the other end reads it; together that is at most Faults.Window bytes. A reset overtakes
// what is on its way.
type Network struct {
	Faults Faults
	Silent map[string]bool // addresses that neither accept nor refuse connections
	// addresses to which there is no way: Connect fails at once
	Unreachable map[string]bool

	sim     *Sim
	rng     *rand.Rand
	sockets []socket // by descriptor, less firstFD; nil: free
	ports   map[string]*listener
	port    int // the last that the network chose
	coming  arrivals
	serial  uint64
	events  []*watch // have an event that isn't delivered

	homes map[string]*host // who listened last at an address
	cut   map[way]bool
	lag   map[way]int64 // ns
	held  []held
}

// Faults is what goes wrong in a Network. The zero Faults is a network in which nothing does, and
// nothing takes time. It may be changed at any time. Of Again, Repeats and Descriptors 1 means 2:
// every one would be for ever.
type Faults struct {
	Delay       time.Duration // bytes, connections, ends and events take up to so long
	Pieces      int           // bytes arrive in pieces of at most so many; 0: as they were written
	Window      int           // bytes that the other end hasn't read, at most; 0: 64 KiB
	Again       int           // one read or write in so many would block, for a while; 0: none
	Repeats     int           // one event in so many comes again, though nothing has changed; 0: none
	Resets      int           // one write in so many breaks the connection; 0: none
	Descriptors int           // one accept in so many finds no descriptor; 0: none
}

const (
	firstFD   = 3
	windowMax = 64 << 10
)

// Draw returns faults by rng: many runs have few of them, or none.
func Draw(rng *rand.Rand) Faults {
	some := func(most int) int { return max(0, rng.IntN(2*most)-most) }
	return Faults{
		Delay:       time.Duration(some(1 << rng.IntN(24))),
		Pieces:      some(1 << rng.IntN(12)),
		Window:      some(1 << rng.IntN(17)),
		Again:       some(20),
		Repeats:     some(20),
		Resets:      20 * some(20),
		Descriptors: some(20),
	}
}

// socket is what a descriptor stands for: an *end or a *share.
type socket interface {
	state() netio.Ready
	watched() *watch
	home() *host
}

// watch is a socket's registration with a poller.
type watch struct {
	of     socket
	by     *netio.Poller // nil: none
	token  netio.Token
	level  bool
	queued bool // in Network.events, or about to be
}

func (w *watch) watched() *watch { return w }

// listener is a listening socket, share a descriptor of it.
type listener struct {
	address string
	host    *host  // nil: a Door's
	waiting []*end // to be accepted
	shares  []*share
	closed  bool
}

type share struct {
	watch
	of *listener
}

// end is one end of a connection.
type end struct {
	watch
	net           *Network
	host          *host // nil: a Peer's
	other         *end
	fd            int // -1: none yet, or a Peer's, or closed
	local, remote string

	in       []byte // has arrived
	onWay    int    // bytes that other has written and that haven't arrived
	last     int64  // when the last thing on its way arrives
	joined   bool   // the connection stands
	silent   bool   // it has ended its side
	eof      bool   // the end of other's side has arrived
	broken   error  // why the connection is over
	closed   bool
	wantRoom bool // a write found no room
}

// arrival is something that happens later.
type arrival struct {
	at     int64
	serial uint64
	do     func()
}

type arrivals []arrival

func (a arrivals) Len() int { return len(a) }
func (a arrivals) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].serial < a[j].serial
}
func (a arrivals) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *arrivals) Push(x any)   { *a = append(*a, x.(arrival)) }
func (a *arrivals) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = arrival{}
	*a = (*a)[:last]
	return x
}

func newNetwork(s *Sim, seed uint64) *Network {
	return &Network{sim: s, rng: rand.New(rand.NewPCG(seed, 0x0e7)), ports: map[string]*listener{}, port: 40_000,
		homes: map[string]*host{}, cut: map[way]bool{}, lag: map[way]int64{}}
}

// happens reports whether something happens that does so once in n times; never if n is 0.
func (n *Network) happens(once int) bool { return once > 0 && n.rng.IntN(once) == 0 }

// recurs is happens for what may not happen every time.
func (n *Network) recurs(once int) bool { return once > 0 && n.happens(max(once, 2)) }

// delay is how long something takes, ns.
func (n *Network) delay() int64 {
	if n.Faults.Delay <= 0 {
		return 0
	}
	return n.rng.Int64N(int64(n.Faults.Delay))
}

// later calls do at the time at.
func (n *Network) later(at int64, do func()) {
	n.serial++
	heap.Push(&n.coming, arrival{at, n.serial, do})
}

// arrive calls do when what is sent to e now arrives: behind all that was sent before.
func (e *end) arrive(do func()) {
	n := e.net
	n.pass(e, func() {
		e.last = max(e.last, n.sim.Now+n.delay()+n.lag[e.way()])
		n.later(e.last, do)
	})
}

// next returns when something arrives next; false: nothing does.
func (n *Network) next() (at int64, any bool) {
	if len(n.coming) == 0 {
		return 0, false
	}
	return n.coming[0].at, true
}

// due reports whether something has come that no worker has seen: one that had its turn when it
// came.
func (n *Network) due() bool {
	at, any := n.next()
	return any && at <= n.sim.Now || slices.ContainsFunc(n.events, func(w *watch) bool { return w.by != nil && !w.of.home().rests() })
}

// advance does what has come until now.
func (n *Network) advance() {
	for len(n.coming) > 0 && n.coming[0].at <= n.sim.Now {
		heap.Pop(&n.coming).(arrival).do()
	}
}

// notify has an event of s come: about all that s is ready for when it is delivered.
func (n *Network) notify(s socket) {
	w := s.watched()
	if w.by == nil || w.queued {
		return
	}
	w.queued = true
	n.later(n.sim.Now+n.delay(), func() { n.events = append(n.events, w) })
}

// Poll implements netio.World.
func (n *Network) Poll(p *netio.Poller) (called int) {
	n.advance()
	n.rng.Shuffle(len(n.events), func(i, j int) { n.events[i], n.events[j] = n.events[j], n.events[i] })
	mine := slices.Clone(n.events)
	mine = slices.DeleteFunc(mine, func(w *watch) bool { return w.by != p })
	n.events = slices.DeleteFunc(n.events, func(w *watch) bool { return w.by == p || w.by == nil })
	for _, w := range mine {
		if w.by != p {
			continue // a handler before it has removed it
		}
		w.queued = false
		s := w.of
		if r := s.state(); r != 0 && p.Call(w.token, r) {
			called++
		}
		if w.by == p && (n.recurs(n.Faults.Repeats) || w.level && s.state() != 0) {
			n.notify(s)
		}
	}
	return called
}

// Watch implements netio.World.
func (n *Network) Watch(p *netio.Poller, fd int, t netio.Token, level bool) error {
	s := n.find(fd)
	if s == nil {
		return syscall.EBADF
	}
	w := s.watched()
	*w = watch{of: s, by: p, token: t, level: level}
	if s.state() != 0 {
		n.notify(s)
	}
	return nil
}

// Unwatch implements netio.World.
func (n *Network) Unwatch(_ *netio.Poller, fd int, _ netio.Token) error {
	s := n.find(fd)
	if s == nil {
		return syscall.EBADF
	}
	w := s.watched()
	if i := slices.Index(n.events, w); i >= 0 {
		n.events = slices.Delete(n.events, i, i+1)
	}
	*w = watch{}
	return nil
}

func (n *Network) find(fd int) socket {
	if i := fd - firstFD; i >= 0 && i < len(n.sockets) {
		return n.sockets[i]
	}
	return nil
}

func (n *Network) end(fd int) (*end, error) {
	if e, ok := n.find(fd).(*end); ok {
		return e, nil
	}
	return nil, syscall.EBADF
}

// open gives s the lowest free descriptor.
func (n *Network) open(s socket) (fd int) {
	i := slices.Index(n.sockets, nil)
	if i < 0 {
		i = len(n.sockets)
		n.sockets = append(n.sockets, nil)
	}
	n.sockets[i] = s
	return i + firstFD
}

// Listen implements netio.World.
func (n *Network) Listen(network, address string, _ netio.ListenOptions) (fd int, bound string, err error) {
	if network != "unix" {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return -1, "", fmt.Errorf("housetest: listen %s %s: %w", network, address, err)
		}
		if port == "0" {
			n.port++
			address = net.JoinHostPort(host, strconv.Itoa(n.port))
		}
	}
	if n.ports[address] != nil {
		return -1, "", fmt.Errorf("housetest: listen %s %s: %w", network, address, syscall.EADDRINUSE)
	}
	l := &listener{address: address}
	n.ports[address] = l
	return n.share(l), address, nil
}

func (n *Network) share(l *listener) (fd int) {
	s := &share{of: l}
	l.shares = append(l.shares, s)
	return n.open(s)
}

func (s *share) home() *host { return s.of.host }

func (s *share) state() netio.Ready {
	if len(s.of.waiting) > 0 || s.of.closed {
		return netio.Readable
	}
	return 0
}

// Share implements netio.World.
func (n *Network) Share(fd int) (nfd int, err error) {
	s, ok := n.find(fd).(*share)
	if !ok {
		return -1, syscall.EBADF
	}
	return n.share(s.of), nil
}

// Accept implements netio.World.
func (n *Network) Accept(fd int) (nfd int, err error) {
	s, ok := n.find(fd).(*share)
	switch {
	case !ok:
		return -1, syscall.EBADF
	case s.of.closed:
		return -1, syscall.EINVAL
	case len(s.of.waiting) == 0:
		return -1, netio.ErrAgain
	case n.recurs(n.Faults.Descriptors):
		return -1, netio.ErrDescriptors
	}
	e := s.of.waiting[0]
	s.of.waiting = slices.Delete(s.of.waiting, 0, 1)
	e.fd = n.open(e)
	return e.fd, nil
}

// connect begins a connection to address: near is the end of who connects; nil: a Peer.
func (n *Network) connect(by *host, address string) (near *end) {
	n.port++
	from := "127.0.0.1:" + strconv.Itoa(n.port)
	near = &end{net: n, host: by, fd: -1, local: from, remote: address}
	far := &end{net: n, host: n.homes[address], fd: -1, local: address, remote: from, other: near, joined: true}
	near.other = far
	if n.Silent[address] {
		return near
	}
	far.arrive(func() {
		l := n.ports[address]
		if l == nil {
			near.arrive(func() { near.breaks(syscall.ECONNREFUSED) })
			return
		}
		far.host = l.host
		l.waiting = append(l.waiting, far)
		for _, s := range l.shares {
			n.notify(s)
		}
		near.arrive(func() {
			near.joined = true
			n.notify(near)
		})
	})
	return near
}

// Connect implements netio.World.
func (n *Network) Connect(_, address string) (fd int, err error) { return n.connectBy(nil, address) }

func (n *Network) connectBy(h *host, address string) (fd int, err error) {
	if n.Unreachable[address] {
		return -1, syscall.ENETUNREACH
	}
	e := n.connect(h, address)
	e.fd = n.open(e)
	return e.fd, nil
}

// ConnectError implements netio.World.
func (n *Network) ConnectError(fd int) error {
	e, err := n.end(fd)
	switch {
	case err != nil:
		return err
	case e.broken != nil:
		return e.broken
	case !e.joined:
		return netio.ErrAgain
	case e.silent && e.eof:
		return syscall.ENOTCONN
	}
	return nil
}

func (e *end) home() *host { return e.host }

// state is what e is ready for.
func (e *end) state() (r netio.Ready) {
	if len(e.in) > 0 || e.eof || e.broken != nil {
		r |= netio.Readable
	}
	if e.broken != nil || e.joined && e.room() > 0 {
		r |= netio.Writable
	}
	if e.eof || e.broken != nil {
		r |= netio.Closed
	}
	return r
}

// room is how many bytes the other end has room for.
func (e *end) room() int {
	window := e.net.Faults.Window
	if window <= 0 {
		window = windowMax
	}
	return max(0, window-e.other.onWay-len(e.other.in))
}

// Read implements netio.World.
func (n *Network) Read(fd int, b []byte) (int, error) {
	e, err := n.end(fd)
	if err != nil {
		return 0, err
	}
	return e.read(b)
}

func (e *end) read(b []byte) (k int, err error) {
	n := e.net
	n.advance()
	switch {
	case len(b) == 0:
		return 0, nil
	case len(e.in) > 0 && n.recurs(n.Faults.Again):
		n.notify(e)
		return 0, netio.ErrAgain
	case len(e.in) > 0:
		k = copy(b, e.in)
		e.in = e.in[k:]
		if other := e.other; other.wantRoom {
			other.wantRoom = false
			n.notify(other)
		}
		return k, nil
	case e.broken != nil:
		return 0, e.broken
	case e.eof:
		return 0, io.EOF
	}
	return 0, netio.ErrAgain
}

// Write implements netio.World.
func (n *Network) Write(fd int, b []byte) (int, error) {
	e, err := n.end(fd)
	if err != nil {
		return 0, err
	}
	return e.write(b)
}

func (e *end) write(b []byte) (k int, err error) {
	n := e.net
	n.advance()
	switch {
	case e.broken != nil:
		return 0, syscall.EPIPE
	case e.silent:
		return 0, syscall.EPIPE
	case !e.joined:
		return 0, netio.ErrAgain
	case n.happens(n.Faults.Resets):
		e.reset()
		return 0, syscall.ECONNRESET
	case n.recurs(n.Faults.Again):
		e.wantRoom = true // there may be none when the event comes
		n.notify(e)
		return 0, netio.ErrAgain
	}
	if k = min(len(b), e.room()); k == 0 && len(b) > 0 {
		e.wantRoom = true
		return 0, netio.ErrAgain
	}
	for rest := b[:k]; len(rest) > 0; {
		piece := len(rest)
		if most := n.Faults.Pieces; most > 0 {
			piece = min(piece, 1+n.rng.IntN(most))
		}
		e.send(slices.Clone(rest[:piece]))
		rest = rest[piece:]
	}
	return k, nil
}

// send has piece arrive at the other end.
func (e *end) send(piece []byte) {
	to := e.other
	to.onWay += len(piece)
	to.arrive(func() {
		to.onWay -= len(piece)
		switch {
		case to.closed:
			e.breaks(syscall.ECONNRESET) // nobody reads them
		case to.broken != nil:
		default:
			to.in = append(to.in, piece...)
			to.net.notify(to)
		}
	})
}

// Shutdown implements netio.World.
func (n *Network) Shutdown(fd int, write bool) error {
	switch s := n.find(fd).(type) {
	case *end:
		if s.broken != nil {
			return syscall.ENOTCONN
		}
		if write {
			s.finish()
		}
	case *share:
		n.unlisten(s.of)
	default:
		return syscall.EBADF
	}
	return nil
}

// finish ends the side of e.
func (e *end) finish() {
	if e.silent {
		return
	}
	e.silent = true
	to := e.other
	to.arrive(func() {
		to.eof = true
		to.net.notify(to)
	})
}

// reset breaks the connection of e: here at once, at the other end soon.
func (e *end) reset() {
	to := e.other
	e.breaks(syscall.ECONNRESET)
	n := e.net
	n.pass(to, func() {
		n.later(n.sim.Now+n.delay()+n.lag[to.way()], func() { to.breaks(syscall.ECONNRESET) })
	})
}

// Break resets all connections to an address. With Unreachable it is a way that is gone.
func (n *Network) Break(address string) {
	for _, s := range n.sockets {
		if e, ok := s.(*end); ok && e.remote == address {
			e.reset()
		}
	}
}

// breaks notes why the connection is over at e. What has arrived is lost with it, as a rule.
func (e *end) breaks(why error) {
	if e.broken != nil {
		return
	}
	e.broken = why
	if e.net.rng.IntN(4) > 0 {
		e.in = nil
	}
	e.net.notify(e)
}

// unlisten ends a listener: who waits in it is refused.
func (n *Network) unlisten(l *listener) {
	if l.closed {
		return
	}
	l.closed = true
	delete(n.ports, l.address)
	for _, e := range l.waiting {
		e.closed = true
		e.reset()
	}
	l.waiting = nil
	for _, s := range l.shares {
		n.notify(s)
	}
}

// Unsent implements netio.World.
func (n *Network) Unsent(fd int) (int, bool) {
	e, err := n.end(fd)
	if err != nil {
		return 0, false
	}
	left := e.other.onWay
	if e.silent && !e.other.eof {
		left++
	}
	return left, true
}

// Close implements netio.World.
func (n *Network) Close(fd int) error {
	switch s := n.find(fd).(type) {
	case *end:
		s.close()
	case *share:
		l := s.of
		l.shares = slices.DeleteFunc(l.shares, func(o *share) bool { return o == s })
		if len(l.shares) == 0 {
			n.unlisten(l)
		}
	default:
		return syscall.EBADF
	}
	n.sockets[fd-firstFD] = nil
	return nil
}

// close closes e: if it has unread bytes the other end gets a reset instead of the end.
func (e *end) close() {
	if e.closed {
		return
	}
	e.closed, e.fd, e.watch = true, -1, watch{}
	if len(e.in) > 0 {
		e.reset()
	} else if e.broken == nil {
		e.finish()
	}
}

// errDead is what a system that was killed gets from its machine.
const errDead = syscall.ENETDOWN

// dies closes e as its machine does when its system is killed. The descriptor stays the system's.
func (e *end) dies() {
	e.close()
	e.broken, e.in = errDead, nil
}

// LocalAddr implements netio.World.
func (n *Network) LocalAddr(fd int) string {
	switch s := n.find(fd).(type) {
	case *end:
		return s.local
	case *share:
		return s.of.address
	}
	return ""
}

// RemoteAddr implements netio.World.
func (n *Network) RemoteAddr(fd int) string {
	if e, err := n.end(fd); err == nil {
		return e.remote
	}
	return ""
}

// Open returns how many descriptors are open: 0 once all servers have ended and all actors have
// closed their connections.
func (n *Network) Open() (open int) {
	for _, s := range n.sockets {
		if s != nil {
			open++
		}
	}
	return open
}
