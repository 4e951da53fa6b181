package channel

import (
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

const (
	// acceptsMax is how many connections a site accepts in one go.
	acceptsMax = 64
	// acceptPause is how long a site doesn't accept when descriptors are used up.
	acceptPause = 100 * time.Millisecond
	// drainPoll is how often a draining site looks whether its connections are gone.
	drainPoll = time.Millisecond
)

// connection is a conn of any types.
type connection interface {
	drain()
	kill()
	links() (prev, next *connection)
}

// site is a server's actor on one worker: it accepts, and knows the worker's
// connections. It stands beside the actor that serves them.
type site struct {
	poller *netio.Poller
	fd     int // the listening socket, -1: none here
	token  netio.Token
	open   bool // fd is registered
	accept acceptor
	admit  func(st *site, fd int) error
	peers  []core.NoticePort[int] // sites that get accepted descriptors in turn; nil: all stay here
	turn   int
	first  connection
	count  int
	conns  *atomic.Int64 // of the whole server
	max    int64
	closed bool // accepts no more
	iov    netio.IOVecs
}

// acceptor is the listening socket as an owned stack.
type acceptor struct {
	stack.Stack
	site   *site
	queued bool
	pause  core.Future[core.Tick]
}

var (
	siteOpen  = core.Handle((*site).begin)
	siteStop  = core.Handle((*site).stopAccepting)
	siteDrain = core.Handle((*site).drainAll)
	siteKill  = core.Handle((*site).killAll)
	siteAdopt = core.HandleNotice((*site).adopt)

	acceptHandler = stack.NewOwned("channel accept", (*acceptor).run, (*acceptor).tick, (*acceptor).finish)
)

type (
	openStack  struct{ core.AskStack[opening, int] }
	killStack  struct{ core.AskStack[struct{}, int] }
	drainStack struct {
		core.AskStack[struct{}, int]
		tick core.Future[core.Tick]
	}
	adoptStack struct{ core.NoticeStack[int] }
)

// opening tells a site the others, if it shares what it accepts.
type opening struct{ peers []core.NoticePort[int] }

// begin registers the listening socket with the worker's poller.
func (st *site) begin(s *openStack) core.Yield {
	st.poller = s.Worker().Net.(*netio.Poller)
	st.peers = s.Req.peers
	if st.fd < 0 {
		return s.Return(0)
	}
	st.accept.site = st
	stack.Own(&st.accept, s.House(), acceptHandler)
	if err := st.listen(); err != nil {
		return s.Throw(err)
	}
	return s.Return(0)
}

func (st *site) listen() (err error) {
	if st.token, err = st.poller.AddLevel(st.fd, &st.accept); err == nil {
		st.open = true
	}
	return err
}

func (st *site) unlisten() {
	if st.open {
		st.poller.Remove(st.token, st.fd)
		st.open = false
	}
}

// Ready is called by the poller, in the worker's turn.
func (a *acceptor) Ready(netio.Ready) {
	if !a.queued {
		a.queued = true
		a.Worker().Push(&a.Stack)
	}
}

// run accepts. The socket is polled level-triggered: what is left over calls again.
func (a *acceptor) run() core.Yield {
	a.queued = false
	st := a.site
	for range acceptsMax {
		if !st.open {
			break
		}
		fd, err := netio.Accept(st.fd)
		if err != nil {
			if err != netio.ErrAgain { // out of descriptors, most likely: they may come back
				st.unlisten()
				core.Timer.Ask(&a.Stack, &a.pause, acceptPause)
			}
			break
		}
		st.place(fd)
	}
	return stack.Again(&a.Stack)
}

// tick listens again after a pause.
func (a *acceptor) tick() core.Yield {
	if st := a.site; !st.closed && !st.open && st.listen() != nil {
		core.Timer.Ask(&a.Stack, &a.pause, acceptPause)
	}
	return stack.Again(&a.Stack)
}

func (a *acceptor) finish() { a.site.stop() }

// place gives an accepted descriptor to the site whose turn it is.
func (st *site) place(fd int) {
	if st.conns.Add(1) > st.max {
		st.conns.Add(-1)
		netio.Close(fd)
		return
	}
	if st.peers == nil {
		st.take(fd)
		return
	}
	st.turn++
	st.peers[st.turn%len(st.peers)].Notice(&st.accept.Stack, fd)
}

// adopt takes a descriptor that another site accepted.
func (st *site) adopt(s *adoptStack) core.Yield {
	if st.closed {
		st.conns.Add(-1)
		netio.Close(s.Msg)
	} else {
		st.take(s.Msg)
	}
	return s.Return()
}

func (st *site) take(fd int) {
	if st.admit(st, fd) != nil {
		st.conns.Add(-1)
		netio.Close(fd)
	}
}

// add and remove keep the list of connections.
func (st *site) add(c connection) {
	if _, next := c.links(); st.first != nil {
		*next = st.first
		prev, _ := st.first.links()
		*prev = c
	}
	st.first = c
	st.count++
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
	st.count--
	st.conns.Add(-1)
}

// stop ends accepting.
func (st *site) stop() {
	if st.closed {
		return
	}
	st.closed = true
	st.unlisten()
	if st.fd >= 0 {
		netio.Close(st.fd)
	}
}

// PostStop implements core.Stopper.
func (st *site) PostStop() error {
	st.stop()
	return nil
}

// each calls f for every connection; f may remove the one it is called with.
func (st *site) each(f func(connection)) {
	for c := st.first; c != nil; {
		_, next := c.links()
		after := *next
		f(c)
		c = after
	}
}

func (st *site) stopAccepting(s *killStack) core.Yield {
	st.stop()
	return s.Return(0)
}

// drainAll stops accepting and answers when the last connection has closed.
func (st *site) drainAll(s *drainStack) core.Yield {
	st.stop()
	return st.drained(s)
}

func (st *site) drained(s *drainStack) core.Yield {
	if st.count == 0 {
		return s.Return(0)
	}
	st.each(connection.drain)
	core.Timer.Ask(s, &s.tick, drainPoll)
	return core.Suspend(s, (*site).drained)
}

// killAll closes every connection at once and answers how many there were.
func (st *site) killAll(s *killStack) core.Yield {
	st.stop()
	n := st.count
	st.each(connection.kill)
	return s.Return(n)
}
