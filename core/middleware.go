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
	if p.route == nil || p.to == nil && !p.route.leads() || f == nil {
		panic("core: Through of a Port without a handler, a zero one or Timer, or by nothing")
	}
	refuseReleased[Req]()
	return Port[Req, Rep]{route: &route{by: p.route.by, look: f, to: p.to, next: p.route}}
}

// Through returns a port that has f look at each message before it is sent, on the sender's
// worker or goroutine: it returns the message to send in its place, or an error, which the sender
// gets. It is called by several at once, and must not block.
func (p NoticePort[Msg]) Through(f func(msg Msg) (Msg, error)) NoticePort[Msg] {
	if p.to == nil && p.route == nil || f == nil {
		panic("core: Through of a zero NoticePort, or by nothing")
	}
	refuseReleased[Msg]()
	next := p.route
	if next == nil {
		next = &route{by: p.by}
	}
	return NoticePort[Msg]{route: &route{by: next.by, look: f, to: p.to, next: next}}
}
