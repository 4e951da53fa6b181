package channel

import (
	"fmt"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/pool"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Listener is where an actor accepts connections of its own; Bind makes it. It may be compared,
// kept, and sent to other actors. It is valid when it was closed, too.
type Listener struct {
	at     core.Address[site]
	site   *site
	counts *counts
}

var bindHandler = stack.NewAsk[struct{}, Listener](stack.EntryOf(noStep[struct{}, Listener]))

// Bind opens a listener from a step of s, also of a hook, and answers f with it. The connections
// that it accepts are served by h, in this actor, on its worker; the actor hears of them by
// Handler.WithOpened and WithClosed. What Config says of a server it says of this listener. The
// host in c.Address must be written in numbers, see Lookup. Errors: those of the Config and of the
// socket, such as an address in use, and ErrStopped.
//
// Listener and connections end with the actor, whichever way it ends, and when it is restarted:
// before the next instance starts, which may bind the same address. An actor that always listens
// does so in PreStart. The listener is a child of the actor; it accepts also while the actor begins
// no calls. Several actors can't share an address: see Listen.
func Bind[A, Req, Rep any](s core.Running, f *core.Future[Listener], c Config[Req, Rep], h Handler[A, Req, Rep]) {
	st := stack.Of(s)
	if _, its := st.House().Actor().(*A); !its || h.by == nil {
		panic("channel: Bind with no Handler, or with that of another actor")
	}
	call := st.Bind(f.Promise(), bindHandler, 0)
	call.Aim(st.House())
	l, err := bind(s, c, &h)
	if err != nil {
		err = fmt.Errorf("channel: bind %s %s: %w", c.Network, c.Address, err)
	}
	*stack.Reply[Listener](call) = l
	st.Engine().Answer(call, pool.Bytes{}, err)
}

// bind opens a listener.
func bind[A, Req, Rep any](s core.Running, c Config[Req, Rep], by *Handler[A, Req, Rep]) (l Listener, err error) {
	if err = c.checkHost(); err != nil {
		return l, err
	}
	o, err := newOutlet(stack.Of(s), c, by)
	if err != nil {
		return l, err
	}
	o.service.opened = by.opened
	front, st := stack.Of(s).House(), &o.site
	st.admit = func(st *site, fd int) error { return o.service.admit(st, front, fd, &o.pushed) }
	listener, err := o.service.bind(&o.door, st.poller, 1)
	if err != nil {
		return l, err
	}
	st.fd = listener[0].unpack()
	// As a child it ends before the next instance starts, and accepts while the actor begins no
	// calls: otherwise the poller, which tells of what isn't accepted, would never rest.
	at := core.Spawn(core.Under(s), func() *site { return st })
	at.House().Stay()
	st.standAt(at.House())
	if err = st.listen(); err == nil && at.House().Gone() {
		err = core.ErrStopped
	}
	if err != nil {
		st.stop()
		at.Stop()
	}
	return Listener{at, st, &o.service.counts}, err
}

// Addr returns the address that the listener was bound to; the system has picked the port if
// Config.Address has port 0. It is "" for the zero Listener. Any goroutine may call it.
func (l Listener) Addr() string {
	if l.site == nil {
		return ""
	}
	return l.site.door.address
}

// Stats returns what the listener has counted. Any goroutine may call it.
func (l Listener) Stats() Stats { return l.counts.with(l.site.door) }

// Close stops accepting, from a step of s: at once if s runs on the listener's worker, so that the
// actor may bind the address again, otherwise soon. Who waits to be accepted is refused.
// Connections that were accepted go on until their Peers are closed or the actor ends.
func (l Listener) Close(s core.Running) {
	if l.at.House().Owner() == stack.Of(s).Engine() {
		l.site.close()
		return
	}
	siteClose.At(l.at).Notice(s, struct{}{}) // if it is refused, the listener is closed
}

// close stops accepting. The site ends with the last connection.
func (st *site) close() {
	if !st.stopped {
		st.stop()
		st.lookEmpty()
	}
}

func (st *site) shut(s *tellStack) core.Yield {
	st.close()
	return s.Return()
}
