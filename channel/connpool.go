package channel

import (
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// connPool is a client's actor on one worker: it has the worker's connections, and the asks that
// wait for one. An ask is
//
//	waiting    in pending
//	in flight  in the outConn that encoded it, until its reply has come or the connection ended
//	answered   once, by Engine.Answer: with its reply, or why there is none
//
// In between nobody else holds its stack: the step that took it ended by Again. If its asker gives
// up, its word says so; it stays where it is until its turn comes.
type connPool[Req, Rep any] struct {
	tools
	client  *Client[Req, Rep]
	lookUp  core.NoticePort[lookup] // its own
	house   *stack.House
	dialer  connector[Req, Rep]
	conns   []*outConn[Req, Rep] // those that are connected
	waiting pending
	alone   bool // the oldest that waits must go alone, see Alone
	closing bool // the client takes no more asks
}

type (
	waitStack struct {
		core.AskStack[struct{}, struct{}]
	}
	shutStack struct{ core.NoticeStack[struct{}] }
	findStack struct {
		core.NoticeStack[lookup]
		found core.Future[[]string]
	}
)

// PreStart implements core.Starter.
func (p *connPool[Req, Rep]) PreStart(s *core.HookStack) core.Yield {
	st := stack.Of(s)
	p.house = st.House()
	p.lookUp = poolHandlersOf[Req, Rep]().lookUp.At(core.Self[connPool[Req, Rep]](s))
	p.house.Stay()
	p.poller = st.Engine().Net.(*netio.Poller)
	p.dialer.pool = p
	p.dialer.backoff = p.client.config.BackoffMin
	stack.Own(&p.dialer, p.house, p.client.connector)
	p.dialer.schedule()
	return s.Return()
}

// ask takes an ask of the client's port. It doesn't end here: see connPool.
func (p *connPool[Req, Rep]) ask(s *core.AskStack[Req, Rep]) core.Yield {
	switch {
	case p.closing:
		return s.Throw(core.ErrStopped)
	case p.waiting.len() >= p.client.config.PendingMax:
		p.client.stats.refuse.Add(1)
		return s.Throw(core.ErrOverloaded)
	case len(p.conns) == 0 && p.dialer.state == pausing && p.dialer.Engine().Now < p.dialer.until:
		p.client.stats.notSent.Add(1)
		return s.Throw(p.dialer.failure)
	}
	st := stack.Of(s)
	p.waiting.push(st)
	p.send(st.Engine())
	return stack.Again(st)
}

// send has the connection with the fewest requests encode, at the end of the turn, what waits; or,
// if all are full, another one opened.
func (p *connPool[Req, Rep]) send(w *stack.Engine) {
	if c := p.roomiest(); c != nil {
		w.Defer(&c.flush)
	} else if p.wants() {
		p.dialer.schedule()
	}
}

// roomiest returns the connection with the fewest requests in flight that may take the ask that has
// waited longest; nil: none may.
func (p *connPool[Req, Rep]) roomiest() (best *outConn[Req, Rep]) {
	for _, c := range p.conns {
		if c.mayEncode() && (best == nil || c.requests.Len() < best.requests.Len()) {
			best = c
		}
	}
	return best
}

// wants reports whether another connection is needed.
func (p *connPool[Req, Rep]) wants() bool {
	return p.waiting.len() > 0 && len(p.conns) < p.client.config.Conns && p.roomiest() == nil
}

// next takes out the ask that has waited longest.
func (p *connPool[Req, Rep]) next() *stack.Stack {
	p.alone = false
	return p.waiting.pop()
}

// fail answers what waits with err, which is core.ErrNotSent.
func (p *connPool[Req, Rep]) fail(w *stack.Engine, err error) {
	p.client.stats.notSent.Add(uint64(p.waiting.len()))
	for p.waiting.len() > 0 {
		w.Answer(p.next(), pool.Bytes{}, err)
	}
}

// open is answered once the pool has a connection.
func (p *connPool[Req, Rep]) open(s *waitStack) core.Yield {
	switch {
	case len(p.conns) > 0:
		return s.Return(struct{}{})
	case p.dialer.state == pausing:
		return s.Throw(p.dialer.failure)
	}
	p.dialer.begin()
	return core.Stash(s)
}

// shut has the pool take no more asks.
func (p *connPool[Req, Rep]) shut(s *shutStack) core.Yield {
	p.closing = true
	return s.Return()
}

// rest is answered once no ask waits or is in flight.
func (p *connPool[Req, Rep]) rest(s *waitStack) core.Yield {
	if !p.rests() {
		return core.Stash(s)
	}
	return s.Return(struct{}{})
}

func (p *connPool[Req, Rep]) rests() bool {
	for _, c := range p.conns {
		if c.requests.Len() > 0 {
			return false
		}
	}
	return p.waiting.len() == 0
}

// lookRest lets rest look again, if somebody waits for that.
func (p *connPool[Req, Rep]) lookRest() {
	if p.closing && p.rests() {
		p.dialer.tell()
	}
}

// find looks a host up for the connector.
func (p *connPool[Req, Rep]) find(s *findStack) core.Yield {
	core.Offload(s, &s.found, s.Msg, find)
	return core.Suspend(s, (*connPool[Req, Rep]).found)
}

func (p *connPool[Req, Rep]) found(s *findStack) core.Yield {
	p.dialer.found(s.found.Get())
	return s.Return()
}

// connect begins a connection to address.
func (p *connPool[Req, Rep]) connect(address string) (*outConn[Req, Rep], error) {
	config := &p.client.config
	fd, err := p.poller.Connect(config.Network, address)
	if err != nil {
		return nil, err
	}
	c := newOutConn(p, fd)
	if c.token, err = p.poller.Add(fd, &c.wire); err != nil {
		p.poller.CloseFD(fd)
		return nil, err
	}
	c.schedule()
	return c, nil
}
