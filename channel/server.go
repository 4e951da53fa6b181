package channel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/channel/stage"
	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Handler is how an actor of type A serves the requests of connections. Handle makes it.
type Handler[A, Req, Rep any] struct {
	handlers
	connecting *stack.Handler
}

// handlers is by what actors serve connections.
type handlers struct {
	by                                 *stack.Handler // of requests
	pushing, asking, hearing, watching *stack.Handler // of what comes from other workers
	opened, ended, closed              *stack.Handler // nil: nobody hears
}

// Opened tells an actor of a connection that it is to serve, before the first request. It comes
// though the actor's mailbox is full: see Handler.WithOpened.
type Opened[Rep any] struct{ Peer Peer[Rep] }

// Ended tells an actor that the other end of a connection has ended its side, behind the requests
// that came before, which may still be in flight. It comes though the actor's mailbox is full: see
// Handler.WithEnded.
type Ended[Rep any] struct{ Peer Peer[Rep] }

// Closed tells an actor that a connection which it served has ended. It comes though the actor's
// mailbox is full: see Handler.WithClosed.
type Closed[Rep any] struct{ Peer Peer[Rep] }

// WithOpened returns h for actors that hear, by o, of connections that a server has accepted for
// them, or a Listener of theirs: to speak first, or to know who is there.
func (h Handler[A, Req, Rep]) WithOpened(o core.NoticeHandler[A, Opened[Rep]]) Handler[A, Req, Rep] {
	h.opened = o.Machine()
	return h
}

// WithEnded returns h for actors that hear, by e, that the other end of a connection has ended its
// side, and go on sending to it: by results of requests in flight, and by the Peer. They close the
// connection, by Peer.End or Peer.Close; what nobody closes is closed once nothing was sent for
// Config.IdleTimeout. Without WithEnded the connection is closed when all results are sent.
func (h Handler[A, Req, Rep]) WithEnded(e core.NoticeHandler[A, Ended[Rep]]) Handler[A, Req, Rep] {
	h.ended = e.Machine()
	return h
}

// WithClosed returns h for actors that hear, by c, of the end of their connections, whoever has
// ended them; but not of those that end with the actor. It hears of connections that Connect has
// opened, and of accepted ones.
func (h Handler[A, Req, Rep]) WithClosed(c core.NoticeHandler[A, Closed[Rep]]) Handler[A, Req, Rep] {
	h.closed = c.Machine()
	return h
}

// Handle makes a handler of the method expression of its first step, which takes a pointer to a
// struct that embeds core.ChannelStack. Call it once, in a package variable.
func Handle[A, S, Req, Rep any, PS core.ChannelOf[S, Req, Rep]](first func(*A, PS) core.Yield) Handler[A, Req, Rep] {
	return Handler[A, Req, Rep]{
		handlers: handlers{
			by:       stack.NewInbound[Req, Rep](stack.EntryOf(first), offered[Req, Rep], ended[Req, Rep]),
			pushing:  stack.NewNotice[core.Pushed[Rep]](stack.EntryOf(push[A, Rep])),
			asking:   stack.NewAsk[core.Asked[Rep], core.Written](stack.EntryOf(ask[A, Rep])),
			hearing:  stack.NewNotice[hearing](stack.EntryOf(hear[A])),
			watching: stack.NewInbound[watching, struct{}](stack.EntryOf(watch[A]), nil, watchCame),
		},
		connecting: stack.NewAsk[struct{}, Peer[Rep]](stack.EntryOf(noStep[A, Peer[Rep]])),
	}
}

// offered is called when a request in flight has offered a part of its result; ended when the
// request has ended.
func offered[Req, Rep any](s *stack.Inbound) { s.Conn.(*conn[Req, Rep]).offered(s) }

func ended[Req, Rep any](s *stack.Inbound) { s.Conn.(*conn[Req, Rep]).ended(s) }

// Server accepts connections and has actors serve them, one on each worker that takes part. Drain
// or Close ends it.
type Server[Req, Rep any] struct {
	service service[Req, Rep]
	door    door
	sites   []core.Address[site]
}

// service is what the connections of one server share.
type service[Req, Rep any] struct {
	handlers
	config  Config[Req, Rep]
	secured func() stage.Stage // TLS; nil: connections are plain
	owned   *stack.Handler
	mortal  *stack.Handler // as owned, of connections of an actor's own
	timeout time.Duration  // of Connect
	counts  counts
}

type counts struct {
	accepted, refused, overloaded, idleTimeouts, requestTimeouts, writeTimeouts, dropped, stages atomic.Uint64
}

// Stats is what a server, or a Listener, has counted since it began.
type Stats struct {
	Conns    int64  // open now, or let in and on their way to their worker
	Accepted uint64 // connections
	Rejected uint64 // connections beyond Config.ConnsMax
	// failed accepts; most likely descriptors were used up
	AcceptFailures  uint64
	Refused         uint64 // requests that Decode refused, by an error other than ErrSkip
	Overloaded      uint64 // requests beyond Config.WorkMax
	IdleTimeouts    uint64 // connections closed by Config.IdleTimeout
	RequestTimeouts uint64 // connections closed by ErrSlowRequest
	WriteTimeouts   uint64 // connections closed by Config.WriteTimeout
	Dropped         uint64 // messages to a Peer whose connection was full, or gone
	StageFailures   uint64 // connections that ended by an error of a stage
}

// Listen opens a server. Each front serves connections on its own worker; their system must have
// been started. The worker that accepts a connection first serves it, unless it has many more
// connections than another worker that isn't busy. Where workers can't share a listening socket the
// worker of the first front accepts for all. Errors are those of the Config, the socket and ctx,
// which limits the opening only. It blocks: only guests may call it.
func Listen[A, Req, Rep any](ctx context.Context, c Config[Req, Rep], h Handler[A, Req, Rep], fronts ...core.Address[A]) (*Server[Req, Rep], error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	if len(fronts) == 0 {
		return nil, errors.New("channel: a server needs a front")
	}
	if !fronts[0].House().Owner().Guests.Started.Load() {
		return nil, fmt.Errorf("channel: %w", core.ErrNotStarted)
	}
	if c.RequestsMax == 0 {
		c.RequestsMax = requestsMax(fronts[0].House().Owner())
	}
	s := &Server[Req, Rep]{}
	s.service = service[Req, Rep]{handlers: h.handlers, config: c}
	s.service.handle()
	listeners, err := s.service.bind(&s.door, netOf(fronts[0].House()), len(fronts))
	if err == nil {
		err = s.open(ctx, listeners, housesOf(fronts))
	}
	if err != nil {
		_, silent := s.cutOff(ctx)
		return nil, errors.Join(fmt.Errorf("channel: %w", err), silent)
	}
	return s, nil
}

// requestsMax is the default of Config.RequestsMax: three fourths of the usual mailbox in the
// system of w.
func requestsMax(w *stack.Engine) int {
	if w.MailboxMax == 0 {
		return math.MaxInt32
	}
	return max(1, w.MailboxMax/4*3)
}

func housesOf[A any](fronts []core.Address[A]) (all []*stack.House) {
	for _, a := range fronts {
		all = append(all, a.House())
	}
	return all
}

// netOf returns the poller of the worker of h.
func netOf(h *stack.House) *netio.Poller { return h.Owner().Net.(*netio.Poller) }

// bind opens the listening socket of d, by p. It returns a descriptor of it for each of n fronts,
// or for the first one alone where they can't share it.
func (v *service[Req, Rep]) bind(d *door, p *netio.Poller, n int) ([]parcel, error) {
	if t := v.config.TLS; t != nil {
		if err := t.CanServe(); err != nil {
			return nil, err
		}
	}
	c := &v.config
	opt := netio.ListenOptions{Mode: c.SocketMode}
	opt.KeepAlive, opt.AckTimeout = probing(c.KeepAlive, c.WriteTimeout)
	fd, bound, err := p.Listen(c.Network, c.Address, opt)
	if err != nil {
		return nil, err
	}
	d.address, d.max, d.refusal = bound, int64(c.ConnsMax), c.refusal()
	if c.Network == "unix" {
		if file, err := os.Lstat(bound); err == nil && file.Mode()&fs.ModeSocket != 0 && !strings.HasPrefix(bound, "@") {
			d.file = file
		}
	}
	listeners := make([]parcel, n)
	listeners[0] = parcel{fd: fd, full: true, net: p}
	for i := 1; i < n && p.CanShare(); i++ {
		if fd, err = p.Share(listeners[0].fd); err != nil {
			release(listeners)
			return nil, err
		}
		listeners[i] = parcel{fd: fd, full: true, net: p}
	}
	return listeners, nil
}

// refusal is what a codec's Refuse says of ErrConnsMax; nothing if the codec panics, or if its
// words would have to go through TLS or other stages.
func (c *Config[Req, Rep]) refusal() (text []byte) {
	defer func() { recover() }()
	if c.TLS != nil || c.Stages != nil && slices.ContainsFunc(c.Stages(), isSender) {
		return nil
	}
	return c.Codec().Refuse(make([]byte, 0, refusalMax), ErrConnsMax)
}

func isSender(s stage.Stage) bool { _, is := s.(stage.Sender); return is }

func release(all []parcel) {
	for i := range all {
		all[i].Release()
	}
}

// open spawns a site beside each front and has it accept. The first site, which may accept for all,
// begins last.
func (s *Server[Req, Rep]) open(ctx context.Context, listeners []parcel, fronts []*stack.House) error {
	defer release(listeners) // those that no site was asked to take
	c := &s.service.config
	var peers []*peer
	for _, front := range fronts {
		own, pushed := &peer{}, new(core.Asked[Rep])
		own.gone.Store(true) // until it has begun
		at, err := core.SpawnWith(near{front}, func() *site {
			return &site{fd: -1, door: &s.door, own: own, tools: tools{buffer: make([]byte, c.ReadSize)},
				quota: quota{max: max(1, c.RequestsMax/len(fronts))}, intake: intake{max: max(1, c.InputMax/len(fronts))},
				strangers: intake{max: max(1, c.InputMax/len(fronts)/8)},
				admit:     func(st *site, fd int) error { return s.service.admit(st, front, fd, pushed) }}
		}, core.Props{
			// There are at most ConnsMax descriptors on their way to a site.
			Mailbox: core.Unbounded(),
		})
		if err != nil {
			return err
		}
		own.port, own.worker = siteAdopt.At(at), at.House().Owner()
		s.sites = append(s.sites, at)
		peers = append(peers, own)
	}
	for i := range s.sites {
		i = len(s.sites) - 1 - i
		listener := listeners[i]
		listeners[i].full = false
		if _, err := core.Ask(ctx, siteOpen.At(s.sites[i]), opening{listener, peers}); err != nil {
			return err
		}
	}
	return nil
}

// near spawns on the worker of a house. From then on neither the house nor the new one moves to
// another worker, as their connections belong to this one.
type near struct{ house *stack.House }

func (n near) Register(h *stack.House, make stack.Factory) *stack.House {
	n.house.Stay()
	h.Stay()
	h.Guard()
	w := n.house.Owner()
	return w.Driver.Register(h, make, w)
}

// handle makes the handlers of the connections.
func (v *service[Req, Rep]) handle() {
	if t := v.config.TLS; t != nil {
		v.secured = t.Server
	}
	v.owned = stack.NewOwned("channel connection", (*conn[Req, Rep]).run, (*conn[Req, Rep]).tick, (*conn[Req, Rep]).close)
	v.mortal = v.owned.Mortal()
}

// conn makes the connection of a descriptor, which is open. at has it.
func (v *service[Req, Rep]) conn(st *site, at *stack.House, fd int, pushed *core.Asked[Rep]) *conn[Req, Rep] {
	c := &conn[Req, Rep]{site: st, serve: v, intake: &st.intake, pushed: pushed}
	c.tools, c.fd, c.phase, c.writable, c.urgent = &st.tools, fd, open, true, v.config.Network == "unix"
	by := v.owned
	if st.actor != nil {
		by = v.mortal
	}
	stack.Own(c, at, by)
	c.house = at
	c.activeAt = at.Owner().Now
	c.flush.Run = func(*stack.Deferred) { c.write() }
	return c
}

// admit makes the connection of an accepted descriptor.
func (v *service[Req, Rep]) admit(st *site, front *stack.House, fd int, pushed *core.Asked[Rep]) (err error) {
	if front.Actor() == nil {
		return core.ErrStopped
	}
	c := v.conn(st, front, fd, pushed)
	st.poller.SetNoDelay(fd) // fails on a Unix socket, which has no delay
	if c.token, err = st.poller.Add(fd, &c.wire); err != nil {
		return err
	}
	st.add(c)
	v.counts.accepted.Add(1)
	c.schedule()
	if st.draining {
		st.poller.Settle()
		c.drain()
	}
	return nil
}

func (c *conn[Req, Rep]) links() (prev, next *connection) { return &c.prev, &c.next }

// Addr returns the address that the server listens on; the system has picked the port if
// Config.Address has port 0. Any goroutine may call it.
func (s *Server[Req, Rep]) Addr() string { return s.door.address }

// Stats returns what the server has counted. Any goroutine may call it.
func (s *Server[Req, Rep]) Stats() Stats { return s.service.counts.with(&s.door) }

// with returns the counts, and those of d.
func (c *counts) with(d *door) Stats {
	all := c.stats()
	all.Conns, all.Rejected, all.AcceptFailures = d.conns.Load(), d.rejected.Load(), d.failed.Load()
	return all
}

// stats returns the counts; those of a listener are left out.
func (c *counts) stats() Stats {
	return Stats{
		Accepted:        c.accepted.Load(),
		Refused:         c.refused.Load(),
		Overloaded:      c.overloaded.Load(),
		IdleTimeouts:    c.idleTimeouts.Load(),
		RequestTimeouts: c.requestTimeouts.Load(),
		WriteTimeouts:   c.writeTimeouts.Load(),
		Dropped:         c.dropped.Load(),
		StageFailures:   c.stages.Load(),
	}
}

// Drain stops accepting, has every connection answer the requests that it was sent so far, and
// closes it once the client has ended its side, or after two seconds. It returns when all are
// closed. If ctx ends first, each worker cuts its connections off as soon as its step has ended;
// Drain waits a second at most for that, and its error says how many were cut off. It blocks: only
// guests may call it, or house.System.OnShutdown.
func (s *Server[Req, Rep]) Drain(ctx context.Context) error {
	s.tell(siteDrain)
	err := s.stop(ctx)
	if err == nil {
		return nil
	}
	cut, silent := s.cutOff(ctx)
	return errors.Join(fmt.Errorf("channel: %d connections were cut off: %w", cut, err), silent)
}

// Close stops accepting and closes every connection at once. It returns when all are closed; or
// when ctx has ended: then a busy worker closes its connections once its step has ended. It blocks:
// only guests may call it.
func (s *Server[Req, Rep]) Close(ctx context.Context) error {
	s.tell(siteKill)
	return s.stop(ctx)
}

// tell sends what to all sites. A site that has stopped has nothing left to do.
func (s *Server[Req, Rep]) tell(what core.NoticeHandler[site, struct{}]) {
	for _, at := range s.sites {
		core.Notice(what.At(at), struct{}{})
	}
}

// stop waits until all sites, after a tell, have closed their connections, and stops them: first
// the site that may accept for all.
func (s *Server[Req, Rep]) stop(ctx context.Context) error {
	for _, at := range s.sites {
		if _, err := stopSite(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// stopSite does for one site what stop does. It returns how many connections the site has cut off.
// It is no error if the site has stopped; an ask that ends by the system's default deadline is
// repeated.
func stopSite(ctx context.Context, at core.Address[site]) (cut int, err error) {
	for {
		cut, err := core.Ask(ctx, siteEmpty.At(at), struct{}{})
		switch {
		case err == nil:
			return cut, at.StopWait(ctx)
		case errors.Is(err, core.ErrStopped):
			return 0, nil
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case !errors.Is(err, core.ErrTimeout):
			return 0, err
		}
	}
}

// cutOffTimeout is how long cutOff takes at most: a handler may block its worker.
const cutOffTimeout = time.Second

// cutOff is Close when ctx may have ended. It returns how many connections were cut off by the
// workers that answer; the error says how many workers don't answer.
func (s *Server[Req, Rep]) cutOff(ctx context.Context) (cut int, err error) {
	s.tell(siteKill)
	silent := 0
	for _, at := range s.sites {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cutOffTimeout/time.Duration(len(s.sites)))
		n, err := stopSite(ctx, at)
		cancel()
		if cut += n; err != nil {
			silent++
			at.Drain() // after the tell
		}
	}
	if silent > 0 {
		err = fmt.Errorf("channel: %d of %d workers don't answer, and close their connections when they do", silent, len(s.sites))
	}
	return cut, err
}
