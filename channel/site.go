package channel

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

const (
	// burstMax is how many connections a site accepts in one step, at most.
	burstMax = 64
	// lastAcceptsMax is how many connections a site still takes from the queue of a listener that
	// it is about to close: the system's usual limit of that queue.
	lastAcceptsMax = 4096
	// acceptPause is how long a site doesn't accept after an accept has failed.
	acceptPause = 100 * time.Millisecond
)

// connection is a conn of any types.
type connection interface {
	drain()
	kill() (cut bool)
	links() (prev, next *connection)
}

// site is a server's actor on one worker: it accepts, and has the list of the worker's connections.
// It stands beside the front that serves them. The site of a Listener is a child of the actor that
// serves them; what Connect has opened has a site that is no actor.
type site struct {
	tools
	fd        int // its descriptor of the listening socket, -1: none here
	token     netio.Token
	listening bool // fd is registered
	accept    acceptor
	door      *door
	admit     func(st *site, fd int) error
	peers     []*peer // all sites of the server; nil: it has no others, and ends with its connections
	own       *peer   // this one
	actor     any     // the instance whose own the connections are: they end with it; nil: a server's
	quota     quota
	intake    intake // of known clients
	strangers intake // of strangers, see Gated

	last     bool // accepts for the last time: all these connections stay here
	stopped  bool // accepts no more
	draining bool // connections close once they have answered
	killed   bool // connections are cut off, and none comes any more

	first connection
	cut   int // connections that killAll cut off
}

// peer is what the sites of a server know of one of them.
type peer struct {
	port   core.NoticePort[parcel]
	worker *stack.Engine
	conns  atomic.Int64 // its connections, and descriptors on their way to it
	gone   atomic.Bool  // the site hasn't begun, or its front has stopped
}

// parcel is a descriptor in a message to a site. If the site doesn't unpack it, as it may have
// stopped, the descriptor is closed when the message is released.
type parcel struct {
	fd   int
	full bool
	net  *netio.Poller // of its world; not always that of the site that gets it
	door *door         // counts the connection; nil: it isn't one
	to   *peer         // counts it too; nil: none yet
}

func (p *parcel) unpack() int {
	p.full = false
	return p.fd
}

// Release implements stack.Releaser.
func (p *parcel) Release() {
	if !p.full {
		return
	}
	p.net.CloseFD(p.unpack())
	if p.door != nil {
		p.door.conns.Add(-1)
		p.to.conns.Add(-1)
	}
}

// opening gives a site its listening socket, if it has one, and all sites of the server.
type opening struct {
	listener parcel
	peers    []*peer
}

// Release implements stack.Releaser.
func (o *opening) Release() { o.listener.Release() }

// acceptor is the owned stack that accepts at the listening socket.
type acceptor struct {
	stack.Stack
	site   *site
	queued bool
	burst  int // how many connections it accepts next
	pause  core.Future[core.Tick]
}

type (
	openStack  struct{ core.AskStack[opening, int] }
	tellStack  struct{ core.NoticeStack[struct{}] }
	emptyStack struct{ core.AskStack[struct{}, int] }
	adoptStack struct{ core.NoticeStack[parcel] }
)

var (
	siteOpen  = core.Handle((*site).begin)
	siteDrain = core.HandleNotice((*site).drainAll)
	siteKill  = core.HandleNotice((*site).killAll)
	siteClose = core.HandleNotice((*site).shut)
	siteEmpty = core.Handle((*site).empty)
	siteAdopt = core.HandleNotice((*site).adopt)

	acceptHandler = stack.NewOwned("channel accept", (*acceptor).run, (*acceptor).tick, (*acceptor).finish)
)

// begin registers the listening socket with the worker's poller.
func (st *site) begin(s *openStack) core.Yield {
	st.poller = stack.Of(s).Engine().Net.(*netio.Poller)
	st.peers = s.Req.peers
	st.own.gone.Store(false)
	st.standAt(stack.Of(s).House())
	if !s.Req.listener.full {
		return s.Return(0)
	}
	st.fd = s.Req.listener.unpack()
	if err := st.listen(); err != nil {
		return s.Throw(err)
	}
	return s.Return(0)
}

// standAt makes the acceptor, whose house h is.
func (st *site) standAt(h *stack.House) {
	st.accept.site, st.accept.burst = st, 1
	stack.Own(&st.accept, h, acceptHandler)
}

// listen registers the listening socket, in a turn of the poller's worker.
func (st *site) listen() (err error) {
	if st.token, err = st.poller.AddLevel(st.fd, &st.accept); err == nil {
		st.listening = true
	}
	return err
}

func (st *site) unlisten() {
	if st.listening {
		st.poller.Remove(st.token, st.fd)
		st.listening = false
	}
}

// Ready is called by the poller, in the worker's turn.
func (a *acceptor) Ready(netio.Ready) {
	if !a.queued {
		a.queued = true
		a.Engine().Push(a.House(), &a.Stack)
	}
}

// run accepts one connection, as a second accept mostly finds none; or up to twice as many as the
// last time, if that time all came that were asked for. The socket is level-triggered: if
// connections are left the poller calls Ready again.
func (a *acceptor) run() core.Yield {
	a.queued = false
	st := a.site
	if st.stopped {
		if st.own.conns.Load() == 0 {
			a.Unstash()
			if st.peers == nil {
				a.House().Stop(a.Engine().Guests)
			}
		}
		return stack.Again(&a.Stack)
	}
	came, ok := st.acceptSome(a.burst)
	if came == a.burst {
		a.burst = min(2*came, burstMax)
	} else {
		a.burst = 1
	}
	if !ok && !a.pause.Waiting() {
		st.unlisten()
		core.Timer.Ask(&a.Stack, &a.pause, acceptPause)
	}
	return stack.Again(&a.Stack)
}

// tick begins to listen again after a pause.
func (a *acceptor) tick() core.Yield {
	if st := a.site; !st.stopped && !st.listening && !st.door.closed.Load() && st.listen() != nil {
		core.Timer.Ask(&a.Stack, &a.pause, acceptPause)
	}
	return stack.Again(&a.Stack)
}

func (a *acceptor) finish() { a.site.stop() }

// acceptSome accepts at most n connections, and returns how many came. ok is false after a failed
// accept, most likely for want of descriptors; a later one may succeed.
func (st *site) acceptSome(n int) (came int, ok bool) {
	for ; came < n && st.listening; came++ {
		fd, err := st.poller.Accept(st.fd)
		switch {
		case err != nil && st.door.closed.Load():
			st.stop()
			return came, true
		case err == netio.ErrAgain:
			return came, true
		case err != nil:
			st.door.failed.Add(1)
			st.report(fmt.Errorf("channel: accept on %s: %w", st.door.address, err))
			return came, false
		case st.door.enter():
			st.place(parcel{fd: fd, full: true, net: st.poller, door: st.door})
		default:
			st.report(fmt.Errorf("channel: a connection on %s was refused: %w", st.door.address, ErrConnsMax))
			st.door.reject(st.poller, fd, st.buffer)
		}
	}
	return came, true
}

// report tells the system's log, which shows only some lines a second of such errors.
func (st *site) report(err error) {
	if d := st.accept.Engine().Driver; errors.Is(err, ErrConnsMax) || errors.Is(err, netio.ErrDescriptors) {
		d.UsedUp(err)
	} else {
		d.Failed(st.accept.House(), &st.accept.Stack, err)
	}
}

// place gives an accepted descriptor to a site: its own, as a rule.
func (st *site) place(p parcel) {
	to := st.choose()
	if to == nil {
		p.to = st.own
		p.to.conns.Add(1)
		p.Release()
		return
	}
	p.to = to
	to.conns.Add(1)
	if to == st.own {
		st.take(&p)
		return
	}
	to.port.Notice(&st.accept.Stack, p)
}

const (
	// imbalanceMax is how many more connections than another site a site may have and still keep
	// the ones that it accepts.
	imbalanceMax = 8
	// livelyTime is how old, in ns, the turn of another worker may be that is given a connection.
	livelyTime = 1_000_000
)

// choose returns the site for a new connection: st, unless another one has far fewer and its worker
// isn't busy with something long. nil: no site has a front.
func (st *site) choose() (to *peer) {
	most := int64(math.MaxInt64)
	if !st.own.gone.Load() {
		if st.last {
			return st.own
		}
		to, most = st.own, st.own.conns.Load()-imbalanceMax
	}
	now := st.accept.Engine().Now
	for _, p := range st.peers {
		if n := p.conns.Load(); n < most && p != st.own && !p.gone.Load() && (to == nil || p.worker.Lively(now, livelyTime)) {
			to, most = p, n
		}
	}
	return to
}

// adopt takes a descriptor that another site accepted. After killAll it closes it.
func (st *site) adopt(s *adoptStack) core.Yield {
	if st.killed {
		s.Msg.Release()
	} else {
		st.take(&s.Msg)
	}
	st.lookEmpty()
	return s.Return()
}

// take has the front serve a connection; if the front has stopped another site gets the connection.
func (st *site) take(p *parcel) {
	err := st.admit(st, p.unpack())
	if err == nil {
		return
	}
	p.full = true
	if err != core.ErrStopped {
		p.Release()
		return
	}
	st.own.gone.Store(true)
	st.own.conns.Add(-1)
	again := *p
	p.full = false
	st.place(again)
}

// add and remove keep the list of connections.
func (st *site) add(c connection) {
	if _, next := c.links(); st.first != nil {
		*next = st.first
		prev, _ := st.first.links()
		*prev = c
	}
	st.first = c
}

func (st *site) remove(c connection) {
	prev, next := c.links()
	if *next != nil {
		p, _ := (*next).links()
		*p = *prev
	}
	if *prev != nil {
		_, n := (*prev).links()
		*n = *next
	} else {
		st.first = *next
	}
	*prev, *next = nil, nil
	st.door.conns.Add(-1)
	st.own.conns.Add(-1)
	st.lookEmpty()
}

// lookEmpty has those answered who wait for the end of the last connection, if that was it.
func (st *site) lookEmpty() {
	if st.stopped && st.own.conns.Load() == 0 {
		st.accept.Ready(0)
	}
}

// each calls f for every connection; f may remove that one.
func (st *site) each(f func(connection)) {
	for c := st.first; c != nil; {
		_, next := c.links()
		after := *next
		f(c)
		c = after
	}
}

// stop ends accepting.
func (st *site) stop() {
	if st.stopped {
		return
	}
	st.stopped = true
	st.unlisten()
	if st.fd >= 0 {
		st.door.shut(st.poller, st.fd)
		st.poller.CloseFD(st.fd)
	}
}

// PostStop implements core.Stopper.
func (st *site) PostStop(s *core.HookStack) core.Yield {
	st.stop()
	return s.Return()
}

// drainAll accepts the connections that have arrived, then drains each one.
func (st *site) drainAll(s *tellStack) core.Yield {
	st.poller.Settle()
	st.last = true
	st.acceptSome(lastAcceptsMax)
	st.stop()
	st.draining = true
	st.poller.Settle() // for bytes on the connections just accepted
	st.each(connection.drain)
	return s.Return()
}

// killAll cuts off every connection.
func (st *site) killAll(s *tellStack) core.Yield {
	st.stop()
	st.killed = true
	st.each(func(c connection) {
		if c.kill() {
			st.cut++
		}
	})
	return s.Return()
}

// empty answers, with how many connections the site has cut off, once it has no connections and
// none is on its way to it. It must have stopped accepting.
func (st *site) empty(s *emptyStack) core.Yield {
	if st.own.conns.Load() > 0 {
		return core.Stash(s) // until the last one has gone
	}
	return s.Return(st.cut)
}
