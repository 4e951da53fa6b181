package core

import (
	"reflect"
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Port is something that can be asked: an actor's handler, a router, a timer.
// Ports are values, kept in fields. The zero Port panics when it is asked.
type Port[Req, Rep any] struct {
	to    *stack.House
	route *route
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
func ask[Req, Rep any](r Running, f *future.Promise, to *stack.House, route *route, req Req, limit int64) {
	s := stack.Of(r)
	if to == nil {
		if route.isTimer() {
			s.Alarm(f, int64(any(req).(time.Duration)), limit)
			return
		}
		var err error
		if req, to, route, err = through(route, req); err != nil {
			route.refuse(s, f, limit, err)
			return
		}
		if to == nil {
			c, all := route.bind(s, f, limit)
			*stack.Request[Req, Rep](c) = req
			route.send(s, c, all)
			return
		}
	}
	c := s.Bind(f, route.by, limit)
	*stack.Request[Req, Rep](c) = req
	s.Engine().Push(to, c)
}

// Forward ends a step of s, an ask, by having another actor answer in its place, as in
//
//	return a.archive.Forward(s, s.Req)
//
// The asker gets that reply, or that error, and its deadline holds; this actor hears no more of
// it, and may stop. Sender of the forwarded ask is who asked first. What s has asked itself is
// cancelled, as at every end; bytes of s live until the reply is home, those in the answers that
// it got don't: Copy them. A request that is released is the other's from then on: clear s.Req, or
// what it releases may end with the step. A port that asks many, as Broadcast does, one by its
// name, as ByName, or no actor, as Timer, panics. A connection's request, a ChannelStack, can't be
// forwarded, as its result is written in its place among others: it asks, and returns the reply.
//
//alloc:none
func (p Port[Req, Rep]) Forward(s Answering[Rep], req Req) Yield {
	st := stack.Of(s)
	to, route := p.to, p.route
	if to == nil {
		route.checkForward()
		var err error
		if req, to, route, err = through(route, req); err != nil {
			return st.Throw(err)
		}
	}
	c, y := st.Forward(route.by)
	*stack.Request[Req, Rep](c) = req
	if to == nil {
		return route.forwarded(st, c, y)
	}
	c.Aim(to)
	return y
}

// begin is the ask of a guest up to the sending. It reports false if that has failed.
func (p Port[Req, Rep]) begin(b *begun, req Req) bool {
	b.to, b.route = p.to, p.route
	if b.looksOnWay() {
		if req, b.to, b.route, b.err = through(b.route, req); b.err != nil {
			return false
		}
	}
	if b.take() {
		*stack.Request[Req, Rep](b.call.Stack()) = req
		b.aim()
	}
	return b.err == nil
}

// NoticePort is something that can be told.
type NoticePort[Msg any] struct {
	to    *stack.House
	by    *stack.Handler
	route *route // non-nil: no one actor is behind the port
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
func notice[Msg any](r Running, to *stack.House, by *stack.Handler, route *route, msg Msg) error {
	s := stack.Of(r)
	w := s.Engine()
	if to == nil {
		if !route.leads() {
			panic("core: notice to a zero NoticePort")
		}
		var err error
		if msg, to, route, err = through(route, msg); err != nil {
			return err
		}
		by = route.by
		if to == nil {
			c := w.Begin(by)
			*stack.Message[Msg](c) = msg
			return route.tell(w, c)
		}
	}
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

// post tells, of a guest, what is no one actor.
func (p NoticePort[Msg]) post(msg Msg) error {
	if !p.route.leads() {
		panic("core: notice to a zero NoticePort")
	}
	msg, to, route, err := through(p.route, msg)
	switch {
	case err != nil:
		return err
	case to != nil:
		return stack.Tell(to.Owner().Guests, to, route.by, &msg)
	}
	g, c, err := route.beginPost()
	if c == nil {
		return err
	}
	*stack.Message[Msg](c) = msg
	return route.post(g, c)
}

// Handler is what others may ask of an actor of type A.
type Handler[A, Req, Rep any] struct{ route *route }

// Handle makes a handler of the method expression of its first step, as in
// core.Handle((*Cache).get), where get takes a pointer to a struct that embeds AskStack. Call it
// once, in a package variable. The middleware, if any, is told of each call, the first given
// first.
func Handle[A, S, Req, Rep any, PS AskOf[S, Req, Rep]](first func(*A, PS) Yield, around ...Middleware) Handler[A, Req, Rep] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return Handler[A, Req, Rep]{&route{by: stack.NewAsk[Req, Rep](stack.EntryOf(first), around...)}}
}

// HandleBatch is Handle for a first step whose stack embeds BatchAskStack: it takes as many asks
// of this handler as wait one behind the other, at most limit (0: 64). All that can wait are as
// many as the mailbox takes; house.Config.Budget is no bound of a batch.
func HandleBatch[A, S, Req, Rep any, PS BatchAskOf[S, Req, Rep]](first func(*A, PS) Yield, limit int) Handler[A, Req, Rep] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return Handler[A, Req, Rep]{&route{by: stack.NewBatchAsk[Req, Rep](stack.EntryOf(first), limit)}}
}

// At returns the port of the handler at an actor.
func (h Handler[A, Req, Rep]) At(a Address[A]) Port[Req, Rep] {
	return Port[Req, Rep]{a.house, h.route}
}

// NoticeHandler is what others may tell an actor of type A.
type NoticeHandler[A, Msg any] struct{ by *stack.Handler }

// HandleNotice is Handle for a first step whose stack embeds NoticeStack.
func HandleNotice[A, S, Msg any, PS NoticeOf[S, Msg]](first func(*A, PS) Yield, around ...Middleware) NoticeHandler[A, Msg] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return NoticeHandler[A, Msg]{stack.NewNotice[Msg](stack.EntryOf(first), around...)}
}

// HandleNoticeBatch is HandleNotice for a first step whose stack embeds BatchNoticeStack: it takes
// as many notices as HandleBatch takes asks.
func HandleNoticeBatch[A, S, Msg any, PS BatchNoticeOf[S, Msg]](first func(*A, PS) Yield, limit int) NoticeHandler[A, Msg] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return NoticeHandler[A, Msg]{stack.NewBatchNotice[Msg](stack.EntryOf(first), limit)}
}

// At returns the port of the handler at an actor.
func (h NoticeHandler[A, Msg]) At(a Address[A]) NoticePort[Msg] {
	return NoticePort[Msg]{to: a.house, by: h.by}
}
