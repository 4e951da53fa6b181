package channel

import (
	"slices"

	"github.com/stackhouse-go/stackhouse/core"
	"github.com/stackhouse-go/stackhouse/stack"
)

// watcher is an actor that is told when a connection has ended.
type watcher struct {
	to *stack.House
	by *stack.Handler
}

// watching is a call of Watch or Unwatch.
type watching struct {
	who  watcher
	ends bool // it is of Unwatch
}

// watched is a conn of any types, as Watch knows it.
type watched interface {
	House() *stack.House
	watching() *stack.Handler
	watch(m watching)
}

// Watch has Closed sent to a handler of the actor that runs s once the connection of p has ended:
// exactly once, even if the same handler watches it twice. If it has ended already, Closed is sent
// at once, for each call of Watch. It comes behind all that the actor which has the connection has
// sent to this one until then, and even if the mailbox is full; but a mailbox with DropOldest may
// drop it later. The connection may belong to any worker, and to another actor. Watch panics if it
// belongs to another system. Only a step of s may call it.
func Watch[B, Rep any](s core.Running, p Peer[Rep], to core.NoticeHandler[B, Closed[Rep]]) {
	tellWatched(stack.Of(s), core.EndpointOf(p), to.Machine(), false)
}

// Unwatch ends Watch. A Closed that is on its way still comes. Only a step of s may call it.
func Unwatch[B, Rep any](s core.Running, p Peer[Rep], to core.NoticeHandler[B, Closed[Rep]]) {
	tellWatched(stack.Of(s), core.EndpointOf(p), to.Machine(), true)
}

func tellWatched(s *stack.Stack, endpoint any, by *stack.Handler, ends bool) {
	of, ok := endpoint.(watched)
	if !ok || by == nil {
		panic("channel: Watch of the zero Peer, or by the zero NoticeHandler")
	}
	w, h, m := s.Engine(), of.House(), watching{watcher{s.House(), by}, ends}
	if h.Owner() == w {
		of.watch(m)
		return
	}
	if h.Owner().Guests != w.Guests {
		panic("channel: an actor watches a connection of another system")
	}
	in := w.Receive(h, of.watching(), of, 0) // as a request, for which a mailbox has room
	*stack.Request[watching, struct{}](&in.Stack) = m
	w.Push(h, &in.Stack)
}

// watchStack is a watching that comes from another worker.
type watchStack struct {
	core.ChannelStack[watching, struct{}]
}

// watch is the only step of what comes so.
func watch[A any](_ *A, s *watchStack) core.Yield { return s.Return(struct{}{}) }

// watchCame is called at its end, also if the actor has stopped before its step.
func watchCame(in *stack.Inbound) {
	of, m := in.Conn.(watched), *stack.Request[watching, struct{}](&in.Stack)
	in.Engine().Free(in)
	of.watch(m)
}

func (c *conn[Req, Rep]) watching() *stack.Handler { return c.serve.watching }

// watch implements watched.
func (c *conn[Req, Rep]) watch(m watching) {
	if c.phase < closed {
		r := c.rarely()
		r.watchers = slices.DeleteFunc(r.watchers, func(w watcher) bool { return w == m.who || w.to.Gone() })
		if !m.ends {
			r.watchers = append(r.watchers, m.who)
		}
	} else if !m.ends {
		c.tellWatcher(m.who)
	}
}

// tellWatchers tells all watchers of the end of the connection.
func (c *conn[Req, Rep]) tellWatchers() {
	if c.rare == nil {
		return
	}
	for _, who := range c.rare.watchers {
		c.tellWatcher(who)
	}
	c.rare.watchers = nil
}

func (c *conn[Req, Rep]) tellWatcher(who watcher) {
	if !who.to.Gone() {
		core.NoticePortOf[Closed[Rep]](who.to, who.by).Insist(&c.Stack, Closed[Rep]{core.PeerOf[Rep](c)})
	}
}
