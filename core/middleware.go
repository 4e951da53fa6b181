package core

import "github.com/stackhouse-go/stackhouse/stack"

// Middleware is told of the calls of the handlers that it is given to, by Handle and
// HandleNotice, when they begin and when they have ended, and may refuse them. Handlers of
// batches and of connections have none.
type Middleware = stack.Middleware

// HandlerName returns the name of the handler whose call s is, as in "main.(*Cache).get". It
// takes memory: for logs, and for what middleware does once.
func HandlerName(s Running) string { return stack.Of(s).Handler().Name() }

// Through returns a port that has f look at each request before it is sent, on the asker's worker
// or goroutine: it returns the request to send in its place, or an error, which is the answer
// then. It is called by several at once, and must not block. The requests must not be ones that
// are released.
func (p Port[Req, Rep]) Through(f func(req Req) (Req, error)) Port[Req, Rep] {
	if p.route == nil || p.to == nil && p.route.among == nil || f == nil {
		panic("core: Through of a Port without a handler, a zero one or Timer, or by nothing")
	}
	refuseReleased[Req]()
	return Port[Req, Rep]{route: p.route.through(p.to, func(c *stack.Stack) error { return replace(stack.Request[Req, Rep](c), f) })}
}

// replace has f look at a message, and replace it.
func replace[M any](m *M, f func(M) (M, error)) error {
	by, err := f(*m)
	if err == nil {
		*m = by
	}
	return err
}

func (r *route) through(to *stack.House, look func(c *stack.Stack) error) *route {
	return &route{by: r.by, among: &gate{to, r, look}}
}

// gate is the way through a function to a port, which is of one actor or has a router.
type gate struct {
	to   *stack.House
	by   *route
	look func(c *stack.Stack) error
}

func (g *gate) choose() (*stack.Handler, []*stack.House) { return g.by.chosen() }
func (g *gate) single() bool                             { return g.to != nil || g.by.among.single() }

func (g *gate) guests() *stack.Guests {
	if g.to != nil {
		return g.to.Owner().Guests
	}
	return g.by.among.guests()
}

//alloc:none
func (g *gate) aim(w *stack.Engine, c *stack.Stack, all []*stack.House) (*stack.House, error) {
	if err := g.look(c); err != nil {
		return nil, err
	}
	if g.to != nil {
		return g.to, nil
	}
	return g.by.among.aim(w, c, all)
}

// Through returns a port that has f look at each message before it is sent, on the sender's
// worker or goroutine: it returns the message to send in its place, or an error, which the sender
// gets. It is called by several at once, and must not block.
func (p NoticePort[Msg]) Through(f func(msg Msg) (Msg, error)) NoticePort[Msg] {
	if p.to == nil && p.route == nil || f == nil {
		panic("core: Through of a zero NoticePort, or by nothing")
	}
	refuseReleased[Msg]()
	by := p.by
	if p.to == nil {
		by = p.route.by
	}
	g := &noticeGate{p.to, p.route, func(c *stack.Stack) error { return replace(stack.Message[Msg](c), f) }}
	return NoticePort[Msg]{route: &noticeRoute{by, g}}
}

// noticeGate is the way through a function to a port.
type noticeGate struct {
	to   *stack.House
	by   *noticeRoute
	look func(c *stack.Stack) error
}

func (g *noticeGate) guests() (*stack.Guests, error) {
	if g.to != nil {
		return g.to.Owner().Guests, nil
	}
	return g.by.among.guests()
}

//alloc:none
func (g *noticeGate) tell(w *stack.Engine, c *stack.Stack) (sent bool, err error) {
	if err := g.look(c); err != nil {
		return false, err
	}
	if g.to != nil {
		return true, deliver(w, g.to, c)
	}
	return g.by.among.tell(w, c)
}
