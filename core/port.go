package core

import (
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Port is something that can be asked: an actor's handler, a router, a timer.
// Ports are values, kept in fields. The zero Port panics when it is asked.
type Port[Req, Rep any] struct {
	to    *stack.House
	route *route[Req]
}

// route is how a port is asked; all ports of one handler share it.
type route[Req any] struct {
	by *stack.Handler
	// non-nil: no one actor is behind the port
	via func(s *stack.Stack, p *future.Promise, req Req, limit int64)

	// begin is via for guests, up to the sending. nil: guests can't ask.
	begin func(req Req) (*stack.Guests, *stack.Call, error)

	// pass is via for calls that are forwarded. nil: they can't be.
	pass func(s *stack.Stack, req Req) Yield
}

// Ask asks from a step of s: it sends req and binds f, a field of s, to the
// answer. End the step with Suspend or one of its kin. The ask inherits what is
// left of the deadline of s, or gets the system's default. It may leave later, as
// a notice may. If the callee's mailbox is full, that is the answer: ErrMailboxFull.
//
//alloc:none
func (p Port[Req, Rep]) Ask(s Running, f *Future[Rep], req Req) {
	ask[Req, Rep](s, f.Promise(), p.to, p.route, req, 0)
}

// AskWithin is Ask with a deadline of limit from now instead of the default; what
// is left of the deadline of s still ends it.
//
//alloc:none
func (p Port[Req, Rep]) AskWithin(s Running, f *Future[Rep], req Req, limit time.Duration) {
	ask[Req, Rep](s, f.Promise(), p.to, p.route, req, max(1, int64(limit)))
}

// ask is AskWithin in so many ns; 0: what is the default.
//
//alloc:none
func ask[Req, Rep any](r Running, f *future.Promise, to *stack.House, route *route[Req], req Req, limit int64) {
	s := stack.Of(r)
	if to == nil {
		route.ask(s, f, req, limit)
		return
	}
	c := s.Bind(f, route.by, limit)
	*stack.Request[Req, Rep](c) = req
	s.Engine().Push(to, c)
}

// ask asks what is no one actor.
func (r *route[Req]) ask(s *stack.Stack, f *future.Promise, req Req, limit int64) {
	if r == nil || r.via == nil {
		panic("core: ask of a zero Port")
	}
	r.via(s, f, req, limit)
}

// Forward ends a step of s, an ask, by having another actor answer in its place, as in
//
//	return a.archive.Forward(s, s.Req)
//
// The asker gets that reply, or that error, and its deadline holds; this actor hears no more of
// it, and may stop. Sender of the forwarded ask is who asked first. What s has asked itself is
// cancelled, as at every end; bytes of s live until the reply is home, those in the answers that
// it got don't: Copy them. A request that is released is the other's from then on: clear s.Req,
// or what it releases may end with the step. A port that asks many, as Broadcast does, or no
// actor, as Timer, panics.
//
//alloc:none
func (p Port[Req, Rep]) Forward(s Answering[Rep], req Req) Yield {
	st := stack.Of(s)
	if p.to == nil {
		return p.passElsewhere(st, req)
	}
	c, y := st.Forward(p.route.by)
	*stack.Request[Req, Rep](c) = req
	c.Aim(p.to)
	return y
}

// passElsewhere forwards to what is no one actor.
func (p Port[Req, Rep]) passElsewhere(s *stack.Stack, req Req) Yield {
	if p.route == nil || p.route.pass == nil {
		panic("core: Forward to a Port that has no one actor to answer: a zero one, or one as of Broadcast, First or Timer")
	}
	return p.route.pass(s, req)
}

// begin is the ask of a guest up to the sending.
func (p Port[Req, Rep]) begin(req Req) (*stack.Guests, *stack.Call, error) {
	switch {
	case p.route == nil || p.to == nil && p.route.begin == nil:
		panic("core: a guest asks a Port without an actor: a zero one, or one for steps, as Timer is")
	case p.to == nil:
		return p.route.begin(req)
	}
	g := p.to.Owner().Guests
	c := g.Call(p.to, p.route.by)
	*stack.Request[Req, Rep](c.Stack()) = req
	return g, c, nil
}

// NoticePort is something that can be told.
type NoticePort[Msg any] struct {
	to    *stack.House
	by    *stack.Handler
	route *noticeRoute[Msg] // non-nil: no one actor is behind the port
}

// noticeRoute is how a port is told that has no one actor.
type noticeRoute[Msg any] struct {
	via  func(s *stack.Stack, msg Msg) error
	post func(msg Msg) error // of a guest
}

// Notice tells from a step of s. To an actor of another worker it may leave only when the visit
// of this actor ends, some steps later: a step must not wait for what it tells. The error is
// ErrMailboxFull, and then the message is a dead letter; ErrStopped of an actor that has stopped,
// as soon as that is known here; ErrOtherSystem of an actor of another system, also a dead
// letter; or ErrNoMember of a router that chooses one and has none. If the message is one that is
// released, it was.
//
//alloc:none
func (p NoticePort[Msg]) Notice(s Running, msg Msg) error {
	return notice(s, p.to, p.by, p.route, msg)
}

// notice is Notice, as stack.notify has it.
//
//alloc:none
func notice[Msg any](r Running, to *stack.House, by *stack.Handler, route *noticeRoute[Msg], msg Msg) error {
	s := stack.Of(r)
	if to == nil {
		return route.notice(s, msg)
	}
	w := s.Engine()
	if to.Owner() == w {
		if w.Joins(to, by) {
			at, i := to.Join()
			*stack.Place[Msg](at, i) = msg
			return nil
		}
		if at := w.Tell(to, by); at != nil {
			*stack.Place[Msg](at, 0) = msg
			return nil
		}
	}
	return stack.TellOtherwise(w, to, by, &msg)
}

// notice tells what is no one actor.
func (r *noticeRoute[Msg]) notice(s *stack.Stack, msg Msg) error {
	if r == nil {
		panic("core: notice to a zero NoticePort")
	}
	return r.via(s, msg)
}

// post tells, of a guest, what is no one actor.
func (p NoticePort[Msg]) post(msg Msg) error {
	if p.route == nil {
		panic("core: notice to a zero NoticePort")
	}
	return p.route.post(msg)
}

// Handler is what others may ask of an actor of type A.
type Handler[A, Req, Rep any] struct{ route *route[Req] }

// Handle makes a handler of the method expression of its first step, as in
// core.Handle((*Cache).get), where get takes a pointer to a struct that embeds AskStack. Call it
// once, in a package variable. The middleware, if any, is told of each call, the first given
// first.
func Handle[A, S, Req, Rep any, PS AskOf[S, Req, Rep]](first func(*A, PS) Yield, around ...Middleware) Handler[A, Req, Rep] {
	return Handler[A, Req, Rep]{&route[Req]{by: stack.NewAsk[Req, Rep](stack.EntryOf(first), around...)}}
}

// HandleBatch is Handle for a first step whose stack embeds BatchAskStack: it
// takes up to limit consecutive asks at once (0: 64).
func HandleBatch[A, S, Req, Rep any, PS BatchAskOf[S, Req, Rep]](first func(*A, PS) Yield, limit int) Handler[A, Req, Rep] {
	return Handler[A, Req, Rep]{&route[Req]{by: stack.NewBatchAsk[Req, Rep](stack.EntryOf(first), limit)}}
}

// At returns the port of the handler at an actor.
func (h Handler[A, Req, Rep]) At(a Address[A]) Port[Req, Rep] {
	return Port[Req, Rep]{a.house, h.route}
}

// NoticeHandler is what others may tell an actor of type A.
type NoticeHandler[A, Msg any] struct{ by *stack.Handler }

// HandleNotice is Handle for a first step whose stack embeds NoticeStack.
func HandleNotice[A, S, Msg any, PS NoticeOf[S, Msg]](first func(*A, PS) Yield, around ...Middleware) NoticeHandler[A, Msg] {
	return NoticeHandler[A, Msg]{stack.NewNotice[Msg](stack.EntryOf(first), around...)}
}

// HandleNoticeBatch is HandleNotice for a first step whose stack embeds
// BatchNoticeStack: it takes up to limit consecutive notices at once (0: 64).
func HandleNoticeBatch[A, S, Msg any, PS BatchNoticeOf[S, Msg]](first func(*A, PS) Yield, limit int) NoticeHandler[A, Msg] {
	return NoticeHandler[A, Msg]{stack.NewBatchNotice[Msg](stack.EntryOf(first), limit)}
}

// At returns the port of the handler at an actor.
func (h NoticeHandler[A, Msg]) At(a Address[A]) NoticePort[Msg] {
	return NoticePort[Msg]{to: a.house, by: h.by}
}
