package channel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

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

type counts struct{ accepted, refused, idleTimeouts, writeTimeouts atomic.Uint64 }

// Stats is what a server counted since it began.
type Stats struct {
	Conns         int64  // open now
	Accepted      uint64 // connections
	Refused       uint64 // requests that couldn't be decoded
	IdleTimeouts  uint64 // connections closed
	WriteTimeouts uint64 // connections closed
}

// Listen opens a server. Each front serves, on its own worker, the connections
// accepted there; the system must have been started. TCP sockets are one for each
// front, with SO_REUSEPORT; connections of a Unix socket are dealt to the fronts in turn.
// It blocks: only guests may call it.
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
	fds, err := s.bind(len(fronts))
	if err != nil {
		return nil, fmt.Errorf("channel: listen on %s %s: %w", c.Network, c.Address, err)
	}
	if err := s.open(ctx, fds, housesOf(fronts)); err != nil {
		return nil, errors.Join(fmt.Errorf("channel: listen on %s %s: %w", c.Network, c.Address, err), s.Close(ctx))
	}
	return s, nil
}

func housesOf[A any](fronts []core.Address[A]) (all []*stack.House) {
	for _, a := range fronts {
		all = append(all, a.House())
	}
	return all
}

// bind opens the listening sockets: one for each of n fronts, or one and -1 for
// the others.
func (s *Server[Req, Rep]) bind(n int) (fds []int, err error) {
	c := &s.service.config
	address := c.Address
	for i := range n {
		if i > 0 && c.Network == "unix" {
			fds = append(fds, -1)
			continue
		}
		fd, bound, err := netio.Listen(c.Network, address, netio.ListenOptions{ReusePort: n > 1})
		if err != nil {
			for _, fd := range fds {
				netio.Close(fd)
			}
			return nil, err
		}
		fds = append(fds, fd)
		s.bound, address = bound, bound // port 0: the others take the same
	}
	return fds, nil
}

// open spawns a site beside each front and has it accept.
func (s *Server[Req, Rep]) open(ctx context.Context, fds []int, fronts []*stack.House) error {
	var peers []core.NoticePort[int]
	for i, front := range fronts {
		at := core.Spawn(near{front}, func() *site {
			return &site{fd: fds[i], conns: &s.conns, max: int64(s.service.config.ConnsMax),
				admit: func(st *site, fd int) error { return s.service.admit(st, front, fd) }}
		})
		s.sites = append(s.sites, at)
		peers = append(peers, siteAdopt.At(at))
	}
	if s.service.config.Network != "unix" {
		peers = nil
	}
	for _, at := range s.sites {
		if _, err := core.Ask(ctx, siteOpen.At(at), opening{peers}); err != nil {
			return err
		}
	}
	return nil
}

// near is the worker of a house.
type near struct{ house *stack.House }

func (n near) Settle(h *stack.House) {
	w := n.house.Owner()
	w.Driver.Settle(h, w)
}

// admit makes the connection of an accepted descriptor.
func (v *service[Req, Rep]) admit(st *site, front *stack.House, fd int) (err error) {
	c := &conn[Req, Rep]{site: st, serve: v, codec: v.config.Codec(), fd: fd, writable: true}
	stack.Own(c, front, v.owned)
	w := front.Owner()
	c.activeAt = w.Now
	c.flush.Run = func(*stack.Deferred) { c.write() }
	netio.SetNoDelay(fd) // fails on a Unix socket, which has no delay
	if c.token, err = st.poller.Add(fd, c); err != nil {
		return err
	}
	st.add(c)
	v.counts.accepted.Add(1)
	c.schedule()
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
		IdleTimeouts:  c.idleTimeouts.Load(),
		WriteTimeouts: c.writeTimeouts.Load(),
	}
}

// Drain stops accepting, lets every connection finish what is in flight, sends
// it and closes. It returns when all are closed; if ctx ends first they are
// closed at once, and the error says how many were. It blocks: only guests may call it, or
// house.System.OnShutdown.
func (s *Server[Req, Rep]) Drain(ctx context.Context) error {
	for _, at := range s.sites {
		if _, err := core.Ask(ctx, siteStop.At(at), struct{}{}); err != nil && !errors.Is(err, core.ErrStopped) {
			return err
		}
	}
	for _, at := range s.sites {
		_, err := core.Ask(ctx, siteDrain.At(at), struct{}{})
		if err != nil && !errors.Is(err, core.ErrStopped) {
			return fmt.Errorf("channel: %d connections were cut off: %w", s.conns.Load(), errors.Join(err, s.Close(context.WithoutCancel(ctx))))
		}
	}
	return nil
}

// Close stops accepting and closes every connection at once. It blocks: only
// guests may call it.
func (s *Server[Req, Rep]) Close(ctx context.Context) error {
	for _, at := range s.sites {
		if _, err := core.Ask(ctx, siteKill.At(at), struct{}{}); err != nil && !errors.Is(err, core.ErrStopped) {
			return err
		}
	}
	return nil
}
