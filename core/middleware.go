package core

import (
	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

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
	if p.route == nil || p.route.by == nil || f == nil {
		panic("core: Through of a Port without a handler, a zero one or Timer, or by nothing")
	}
	refuseReleased[Req]()
	g := &gate[Req, Rep]{to: p, f: f}
	return Port[Req, Rep]{route: &route[Req]{by: p.route.by, via: g.ask, begin: g.begin, pass: g.pass}}
}

// gate is the way through a function to a port.
type gate[Req, Rep any] struct {
	to Port[Req, Rep]
	f  func(Req) (Req, error)
}

//alloc:none
func (g *gate[Req, Rep]) ask(s *stack.Stack, p *future.Promise, req Req, limit int64) {
	req, err := g.f(req)
	switch {
	case err != nil:
		s.Engine().FailAsk(s.Bind(p, g.to.route.by, limit), err)
	case g.to.to == nil:
		g.to.route.ask(s, p, req, limit)
	default:
		c := s.Bind(p, g.to.route.by, limit)
		*stack.Request[Req, Rep](c) = req
		s.Engine().Push(g.to.to, c)
	}
}

// pass is the way of a call that is forwarded.
//
//alloc:none
func (g *gate[Req, Rep]) pass(s *stack.Stack, req Req) Yield {
	req, err := g.f(req)
	if err != nil {
		return s.Throw(err)
	}
	if g.to.to == nil {
		return g.to.passElsewhere(s, req)
	}
	c, y := s.Forward(g.to.route.by)
	*stack.Request[Req, Rep](c) = req
	c.Aim(g.to.to)
	return y
}

func (g *gate[Req, Rep]) begin(req Req) (*stack.Guests, *stack.Call, error) {
	req, err := g.f(req)
	if err != nil {
		return nil, nil, err
	}
	return g.to.begin(req)
}

// Through returns a port that has f look at each message before it is sent, on the sender's
// worker or goroutine: it returns the message to send in its place, or an error, which the sender
// gets. It is called by several at once, and must not block.
func (p NoticePort[Msg]) Through(f func(msg Msg) (Msg, error)) NoticePort[Msg] {
	if p.to == nil && p.route == nil || f == nil {
		panic("core: Through of a zero NoticePort, or by nothing")
	}
	refuseReleased[Msg]()
	g := &noticeGate[Msg]{to: p, f: f}
	return NoticePort[Msg]{by: p.by, route: &noticeRoute[Msg]{via: g.notice, post: g.post}}
}

type noticeGate[Msg any] struct {
	to NoticePort[Msg]
	f  func(Msg) (Msg, error)
}

//alloc:none
func (g *noticeGate[Msg]) notice(s *stack.Stack, msg Msg) error {
	msg, err := g.f(msg)
	if err != nil {
		return err
	}
	return g.to.Notice(s, msg)
}

func (g *noticeGate[Msg]) post(msg Msg) error {
	msg, err := g.f(msg)
	if err != nil {
		return err
	}
	return Notice(g.to, msg)
}
