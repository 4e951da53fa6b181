package core

import "github.com/stackhouse-go/stackhouse/stack"

// Middleware is called when a call of a handler begins, and when it has ended, and may refuse the
// call. Its methods are Begins and Ended: see [stack.Middleware]. Handle and HandleNotice take it;
// handlers of batches and of connections have none.
type Middleware = stack.Middleware

// HandlerName returns the name of the handler that handles s, as in "main.(*Cache).get". It
// allocates: use it for logs, and for what middleware does once.
func HandlerName(s Running) string { return stack.Of(s).Handler().Name() }

// Through returns a port that calls f with each request before it is sent, on the asker's worker or
// goroutine. f returns the request to send in its place, or an error, which is then the answer.
// Several goroutines call f at once; it must not block. Requests must not have a Release method.
func (p Port[Req, Rep]) Through(f func(req Req) (Req, error)) Port[Req, Rep] {
	if p.route == nil || p.to == nil && !p.route.leads() || f == nil {
		panic("core: Through of a Port without a handler, a zero one or Timer, or by nothing")
	}
	refuseReleased[Req]()
	return Port[Req, Rep]{route: &route{by: p.route.by, look: f, to: p.to, next: p.route}}
}

// Through returns a port that calls f with each message before it is sent, on the sender's worker
// or goroutine. f returns the message to send in its place, or an error, which Notice then returns.
// Several goroutines call f at once; it must not block. Messages must not have a Release method.
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
