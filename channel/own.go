package channel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/netio"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// This file is how an actor opens connections of its own, and what these have in common with those
// that it accepts, see bind.go. Such a connection is a conn like those of a server, but it ends
// with the instance of its actor.

// ConnectConfig is how an actor of type A opens connections of its own. It belongs to that actor,
// which keeps it in a field: the first Connect completes it, and what it bounds for all connections
// it bounds for those that were opened by it. It must not be copied then.
type ConnectConfig[A, Req, Rep any] struct {
	// Config is the address, the codec and the limits, as of a server: Req is what comes from the
	// other end, Rep what is sent. The host in Address must be written in numbers, see Lookup.
	// SocketMode means nothing here. An idle connection is closed by IdleTimeout, as a server's is:
	// set it to a negative number if the other end may be silent for long.
	Config[Req, Rep]
	// Handler serves what comes from the other end, in its order. Where that asks for no answer,
	// have the codec write nothing for a result.
	Handler Handler[A, Req, Rep]
	// ServerName is the name that the other end's certificate must have. Empty: the host in Address.
	ServerName string
	// ConnectTimeout is how long the other end may take to accept. 0: 5 s.
	ConnectTimeout time.Duration

	outlet *outlet[Req, Rep]
}

// outlet is what connections of an actor's own share: those of one ConnectConfig, or of one
// listener.
type outlet[Req, Rep any] struct {
	service service[Req, Rep]
	door    door
	site    site
	pushed  core.Asked[Rep]
}

// newOutlet makes an outlet of the actor that runs s.
func newOutlet[A, Req, Rep any](s *stack.Stack, c Config[Req, Rep], by *Handler[A, Req, Rep]) (*outlet[Req, Rep], error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	if c.RequestsMax == 0 {
		c.RequestsMax = requestsMax(s.Engine())
	}
	h := s.House()
	h.Stay() // connections belong to a worker
	o := &outlet[Req, Rep]{door: door{max: int64(c.ConnsMax)}}
	o.service = service[Req, Rep]{handlers: by.handlers, config: c}
	o.service.opened = nil // who connects knows
	o.service.handle()     // as of one that listens
	o.site = site{fd: -1, door: &o.door, own: &peer{}, actor: h.Actor(),
		tools:  tools{poller: netOf(h), buffer: make([]byte, c.ReadSize)},
		quota:  quota{max: c.RequestsMax},
		intake: intake{max: c.InputMax}, strangers: intake{max: max(1, c.InputMax/8)}}
	return o, nil
}

// checkHost returns an error if the host in the address must be looked up, which blocks.
func (c *Config[Req, Rep]) checkHost() error {
	if host, _, err := net.SplitHostPort(c.Address); c.Network != "unix" && err == nil && host != "" {
		if _, err = netip.ParseAddr(host); err != nil {
			return fmt.Errorf("the host isn't written in numbers: %w", err)
		}
	}
	return nil
}

// Connect opens a connection from a step of s, and answers f when it stands. The Peer is sent
// messages by Peer.Notice; what comes from the other end is served by c.Handler, in this actor. The
// connection ends when the other end closes it, by Peer.Close, by the limits of c, and with the
// actor, also when that is restarted. Errors: ErrTimeout after ConnectTimeout, ErrOverloaded
// if there are Config.ConnsMax connections, and those of the configuration and of the socket.
// Nothing of a connection goes on while its actor begins no calls: so a step with a Barrier must
// not wait for Connect, and Connect panics in a hook.
func Connect[A, Req, Rep any](s core.Running, f *core.Future[Peer[Rep]], c *ConnectConfig[A, Req, Rep]) {
	if c.Handler.connecting == nil {
		panic("channel: Connect without ConnectConfig.Handler")
	}
	if _, hook := s.(*core.HookStack); hook {
		panic("channel: Connect in a hook, which would wait in vain: connections begin when it has ended")
	}
	st := stack.Of(s)
	w := st.Engine()
	timeout := c.ConnectTimeout
	if timeout <= 0 {
		timeout = 5 * time.Second
	}
	err := c.begin(st, timeout)
	call := st.Bind(f.Promise(), c.Handler.connecting, int64(timeout))
	call.Aim(st.House()) // so that the call hears if its asker gives up
	if err == nil {
		err = c.outlet.connect(w, st.House(), call)
	}
	if err != nil {
		w.Answer(call, pool.Bytes{}, fmt.Errorf("channel: connect %s %s: %w", c.Network, c.Address, err))
	}
}

// begin makes c.outlet, once.
func (c *ConnectConfig[A, Req, Rep]) begin(s *stack.Stack, timeout time.Duration) error {
	h := s.House()
	if _, its := h.Actor().(*A); !its || c.outlet != nil && c.outlet.site.actor != h.Actor() {
		panic("channel: Connect with the ConnectConfig of another actor")
	}
	if c.outlet != nil {
		return nil
	}
	o, err := newOutlet(s, c.Config, &c.Handler)
	if err == nil {
		c.outlet, o.service.timeout = o, timeout
		o.service.secured = clientOf(c.TLS, c.Address, c.ServerName)
	}
	return err
}

// connect begins a connection, whose end is told to call.
func (o *outlet[Req, Rep]) connect(w *stack.Engine, at *stack.House, call *stack.Stack) error {
	config, st := &o.service.config, &o.site
	if err := config.checkHost(); err != nil {
		return err
	}
	if !st.door.enter() {
		return core.ErrOverloaded
	}
	fd, err := st.poller.Connect(config.Network, config.Address)
	if err != nil {
		st.door.conns.Add(-1)
		return err
	}
	c := o.service.conn(st, at, fd, &o.pushed)
	c.phase, c.writable = connecting, false
	if c.token, err = st.poller.Add(fd, &c.wire); err != nil {
		st.poller.CloseFD(fd)
		st.door.conns.Add(-1)
		return err
	}
	c.rarely().call = call
	st.own.conns.Add(1)
	st.add(c)
	c.schedule()
	return nil
}

// attempt is the step of a connection that isn't accepted yet. connecting -> open.
func (c *conn[Req, Rep]) attempt() core.Yield {
	w, call := c.Engine(), c.rare.call
	err := c.net().ConnectError(c.fd)
	left := c.serve.timeout - time.Duration(w.Now-c.activeAt)
	if err == nil {
		err = call.Due(w.Now)
	}
	switch {
	case err == netio.ErrAgain && left > 0:
		if !c.idle.Waiting() {
			// the timer outlasts the attempt
			core.Timer.Ask(&c.Stack, &c.idle, min(left, c.serve.config.IdleTimeout, timerMax))
		}
		return stack.Again(&c.Stack)
	case err == netio.ErrAgain:
		err = core.ErrTimeout
	case err == nil:
		c.phase, c.writable, c.readable = open, true, true
		c.activeAt = w.Now
		c.tune(c.serve.config.KeepAlive, c.serve.config.WriteTimeout)
		return c.run()
	}
	c.answerConnect(err)
	return c.End()
}

// answerConnect answers the ask of Connect, unless that was done.
func (c *conn[Req, Rep]) answerConnect(err error) {
	if c.rare == nil || c.rare.call == nil {
		return
	}
	call := c.rare.call
	c.rare.call = nil
	if err == nil {
		c.Introduce()
		*stack.Reply[Peer[Rep]](call) = core.PeerOf[Rep](c)
	}
	c.Engine().Answer(call, pool.Bytes{}, err)
}

// isGivenUp reports whether the connection is one of Connect whose asker waits no more.
func (c *conn[Req, Rep]) isGivenUp() bool {
	return c.rare != nil && c.rare.call != nil && c.rare.call.Due(c.Engine().Now) != nil
}

// isOrphan reports whether the connection belongs to an instance of the actor that has ended: it
// was ended then, see stack.Handler.Mortal, unless it hadn't begun.
func (c *conn[Req, Rep]) isOrphan() bool {
	return c.site.actor != nil && (c.House().Actor() != c.site.actor || c.house.TurnsAway() || c.Err() == core.ErrRestarted)
}

// tellOpened tells that the connection was accepted.
func (c *conn[Req, Rep]) tellOpened() {
	if c.sender {
		c.codec.(Sender[Rep]).Opened(c)
	}
	c.answerConnect(nil)
	if by := c.serve.opened; by != nil {
		c.Introduce()
		core.NoticePortOf[Opened[Rep]](c.house, by).Insist(&c.Stack, Opened[Rep]{core.PeerOf[Rep](c)})
	}
}

// tellClosed tells of the end of the connection. opened says whether it ever stood.
func (c *conn[Req, Rep]) tellClosed(opened bool) {
	if c.sender && opened && !c.isUnopened() {
		c.codec.(Sender[Rep]).Closed()
	}
	switch by := c.serve.closed; {
	case !opened || c.isUnopened():
		err := core.ErrStopped
		if s := c.staged; s != nil && s.Err() != nil {
			err = s.Err()
		}
		c.answerConnect(err)
	case by != nil && !c.house.Gone() && !c.isOrphan():
		core.NoticePortOf[Closed[Rep]](c.house, by).Insist(&c.Stack, Closed[Rep]{core.PeerOf[Rep](c)})
	}
	c.tellWatchers()
}

// Lookup answers f with the addresses of host:port in a network, "tcp", "tcp4" or "tcp6", in the
// order in which they are to be tried. It looks the host up on a goroutine of core.Offload.
func Lookup(s core.Running, f *core.Future[[]string], network, address string) {
	core.Offload(s, f, [2]string{network, address}, func(ctx context.Context, in [2]string) ([]string, error) {
		host, port, err := net.SplitHostPort(in[1])
		if err != nil {
			return nil, err
		}
		return find(ctx, lookup{network: in[0], host: host, port: port})
	})
}

// noStep is never run: an ask of Connect goes to a connection, and one of Bind nowhere.
func noStep[A, Rep any](_ *A, s *core.AskStack[struct{}, Rep]) core.Yield {
	return s.Throw(errors.ErrUnsupported)
}
