package channel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Handler is how an actor of type A serves the requests of connections.
type Handler[A, Req, Rep any] struct{ by *stack.Handler }

// Handle makes a handler of the method expression of its first step, which takes
// a pointer to a struct that embeds core.ChannelStack. Call it once, in a package variable.
func Handle[A, S, Req, Rep any, PS stack.ChannelOf[S, Req, Rep]](first func(*A, PS) core.Yield) Handler[A, Req, Rep] {
	return Handler[A, Req, Rep]{stack.NewChannel(first, ended[Req, Rep])}
}

// ended is called when a request in flight has ended.
func ended[Req, Rep any](s *stack.ChannelStack[Req, Rep]) { s.Conn().(*conn[Req, Rep]).result() }

// Server accepts connections and has them served by actors, one for each worker
// that should take part.
type Server[Req, Rep any] struct {
	service service[Req, Rep]
	bound   string
	sites   []core.Address[site]
	conns   atomic.Int64 // counted by all sites
}

// service is what the connections of one server share.
type service[Req, Rep any] struct {
	config  Config[Req, Rep]
	handler *stack.Handler
	owned   *stack.Handler
	counts  counts
}

type counts struct{ accepted, refused, overloaded, idleTimeouts, writeTimeouts atomic.Uint64 }

// Stats is what a server counted since it began.
type Stats struct {
	Conns         int64  // open now
	Accepted      uint64 // connections
	Refused       uint64 // requests that couldn't be decoded
	Overloaded    uint64 // requests beyond Config.WorkMax
	IdleTimeouts  uint64 // connections closed
	WriteTimeouts uint64 // connections closed
}

// Listen opens a server. Each front serves, on its own worker, the connections
// accepted there; the system must have been started. TCP sockets are one for each
// front, with SO_REUSEPORT; connections of a Unix socket, and of every socket where the
// system has no SO_REUSEPORT, are dealt to the fronts in turn. ctx limits the opening only. It blocks: only guests may call it.
func Listen[A, Req, Rep any](ctx context.Context, c Config[Req, Rep], h Handler[A, Req, Rep], fronts ...core.Address[A]) (*Server[Req, Rep], error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	if len(fronts) == 0 {
		return nil, errors.New("channel: a server needs a front")
	}
	s := &Server[Req, Rep]{}
	s.service = service[Req, Rep]{config: c, handler: h.by}
	s.service.owned = stack.NewOwned("channel connection", (*conn[Req, Rep]).run, (*conn[Req, Rep]).tick, (*conn[Req, Rep]).close)
	listeners, err := s.bind(len(fronts))
	if err == nil {
		err = s.open(ctx, listeners, housesOf(fronts))
	}
	if err != nil {
		_, silent := s.cutOff(ctx)
		return nil, errors.Join(fmt.Errorf("channel: listen on %s %s: %w", c.Network, c.Address, err), silent)
	}
	return s, nil
}

func housesOf[A any](fronts []core.Address[A]) (all []*stack.House) {
	for _, a := range fronts {
		all = append(all, a.House())
	}
	return all
}

// bind opens the listening sockets: one for each of n fronts, or one for all.
func (s *Server[Req, Rep]) bind(n int) ([]parcel, error) {
	c := &s.service.config
	listeners := make([]parcel, n)
	reuse := n > 1 && !c.deals()
	if c.deals() {
		n = 1
	}
	s.bound = c.Address
	for i := range n {
		fd, bound, err := netio.Listen(c.Network, s.bound, netio.ListenOptions{ReusePort: reuse, First: i == 0})
		if err != nil {
			release(listeners)
			return nil, err
		}
		listeners[i] = parcel{fd: fd, full: true}
		s.bound = bound // port 0: the others take the same
	}
	return listeners, nil
}

// deals reports whether one listening socket's connections are dealt to the fronts.
func (c *Config[Req, Rep]) deals() bool { return c.Network == "unix" || !netio.CanReusePort }

func release(all []parcel) {
	for i := range all {
		all[i].Release()
	}
}

// open spawns a site beside each front and has it accept. The first, which may
// share with the others, comes last.
func (s *Server[Req, Rep]) open(ctx context.Context, listeners []parcel, fronts []*stack.House) error {
	defer release(listeners) // that no site was asked to take
	var peers []peer
	for _, front := range fronts {
		// There are at most ConnsMax descriptors on their way to a site.
		coming := new(atomic.Int64)
		at, err := core.SpawnWith(near{front}, func() *site {
			return &site{fd: -1, coming: coming, conns: &s.conns, max: int64(s.service.config.ConnsMax),
				admit: func(st *site, fd int) error { return s.service.admit(st, front, fd) }}
		}, core.Props{Mailbox: core.Unbounded()})
		if err != nil {
			return err
		}
		s.sites = append(s.sites, at)
		peers = append(peers, peer{siteAdopt.At(at), coming})
	}
	if !s.service.config.deals() || len(peers) == 1 {
		peers = nil
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

// near is the worker of a house. From then on that one stays there, as its connections are
// its worker's, and so does what is spawned.
type near struct{ house *stack.House }

func (n near) Settle(h *stack.House, make stack.Factory) *stack.House {
	n.house.Stay()
	h.Stay()
	h.Guard()
	w := n.house.Owner()
	return w.Driver.Settle(h, make, w)
}

// admit makes the connection of an accepted descriptor.
func (v *service[Req, Rep]) admit(st *site, front *stack.House, fd int) (err error) {
	if front.Actor() == nil {
		if st.peers == nil {
			st.stop() // so that new connections go where they are served
		}
		return core.ErrStopped
	}
	c := &conn[Req, Rep]{site: st, serve: v, fd: fd, writable: true}
	stack.Own(c, front, v.owned)
	c.activeAt = front.Owner().Now
	c.flush.Run = func(*stack.Deferred) { c.write() }
	netio.SetNoDelay(fd) // fails on a Unix socket, which has no delay
	if c.token, err = st.poller.Add(fd, c); err != nil {
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

// Addr returns the address that the server listens on: with the port that was
// picked, if that was left open.
func (s *Server[Req, Rep]) Addr() string { return s.bound }

// Stats returns what the server counted. Any goroutine may call it.
func (s *Server[Req, Rep]) Stats() Stats {
	c := &s.service.counts
	return Stats{
		Conns:         s.conns.Load(),
		Accepted:      c.accepted.Load(),
		Refused:       c.refused.Load(),
		Overloaded:    c.overloaded.Load(),
		IdleTimeouts:  c.idleTimeouts.Load(),
		WriteTimeouts: c.writeTimeouts.Load(),
	}
}

// Drain stops accepting, has every connection answer what it was sent so far, and
// closes it; see linger.go for how. It returns when all are closed. If ctx ends first they are closed at once,
// by each worker as soon as its step has ended, and the error says how many were; Drain waits for that for a second
// at most. It blocks: only guests may call it, or house.System.OnShutdown.
func (s *Server[Req, Rep]) Drain(ctx context.Context) error {
	s.tell(siteDrain)
	err := s.stop(ctx)
	if err == nil {
		return nil
	}
	cut, silent := s.cutOff(ctx)
	return errors.Join(fmt.Errorf("channel: %d connections were cut off: %w", cut, err), silent)
}

// Close stops accepting and closes every connection at once; it returns when all
// are closed, or ctx has ended: then a worker that was busy closes its own when its step has ended. It blocks: only guests
// may call it.
func (s *Server[Req, Rep]) Close(ctx context.Context) error {
	s.tell(siteKill)
	return s.stop(ctx)
}

// tell tells all sites at once. Those that have stopped have nothing left to do.
func (s *Server[Req, Rep]) tell(what core.NoticeHandler[site, struct{}]) {
	for _, at := range s.sites {
		core.Notice(what.At(at), struct{}{})
	}
}

// stop waits until all sites, which were told, have closed their connections, and stops them: first the one that
// may deal what it accepts to the others.
func (s *Server[Req, Rep]) stop(ctx context.Context) error {
	for _, at := range s.sites {
		if _, err := stopSite(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// stopSite is stop of one site. It returns how many connections that has cut off. It doesn't mind that the site has
// stopped, nor that an ask without a deadline has the system's default.
func stopSite(ctx context.Context, at core.Address[site]) (cut int, err error) {
	for {
		all, err := core.Ask(ctx, siteCensus.At(at), struct{}{})
		switch {
		case err == nil && all.left == 0:
			return all.cut, at.StopWait(ctx)
		case err == nil:
			pause(ctx)
		case errors.Is(err, core.ErrStopped):
			return 0, nil
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case !errors.Is(err, core.ErrTimeout):
			return 0, err
		}
	}
}

// pause waits for emptyPoll, by no system's clock: that may stand still.
func pause(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, emptyPoll)
	defer cancel()
	<-ctx.Done()
}

// cutOffTimeout is how long closing at once may take when there is no time left: a handler may block its worker.
const cutOffTimeout = time.Second

// cutOff is Close when ctx may have ended. It returns how many connections were cut off, as far as their workers
// answer; the error says how many don't.
func (s *Server[Req, Rep]) cutOff(ctx context.Context) (cut int, err error) {
	s.tell(siteKill)
	silent := 0
	for _, at := range s.sites {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cutOffTimeout/time.Duration(len(s.sites)))
		n, err := stopSite(ctx, at)
		cancel()
		if cut += n; err != nil {
			silent++
			at.Drain() // behind what it was told
		}
	}
	if silent > 0 {
		err = fmt.Errorf("channel: %d of %d workers don't answer, and close their connections when they do", silent, len(s.sites))
	}
	return cut, err
}
