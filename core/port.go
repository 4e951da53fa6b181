package core

import (
	"reflect"
	"time"

	"github.com/stackhouse-go/stackhouse/future"
	"github.com/stackhouse-go/stackhouse/stack"
)

// Port is something that can be asked: an actor's handler, a router, a timer. A Port is a value,
// kept in a field. Asking the zero Port, or one at a zero address, panics.
type Port[Req, Rep any] struct {
	to    *stack.House
	route *route
}

// Ask asks from a step of s: it sends req and binds f, a field of s, to the answer. End the step
// with Suspend or one of its kin. The ask inherits the deadline of s; if s has none, it gets the
// system's default, house.Config.AskTimeout. To another worker it may leave only when the visit
// ends, as with Notice. If the callee's mailbox is full, the answer is ErrMailboxFull.
//
//alloc:none
func (p Port[Req, Rep]) Ask(s Running, f *Future[Rep], req Req) {
	ask[Req, Rep](s, f.Promise(), p.to, p.route, req, 0)
}

// AskWithin is Ask with a deadline limit from now instead of the default. If the deadline of s is
// earlier, it holds.
//
//alloc:none
func (p Port[Req, Rep]) AskWithin(s Running, f *Future[Rep], req Req, limit time.Duration) {
	ask[Req, Rep](s, f.Promise(), p.to, p.route, req, max(1, int64(limit)))
}

// ask is AskWithin with limit in ns; 0: the default deadline, as in Ask.
//
//alloc:none
func ask[Req, Rep any](r Running, f *future.Promise, to *stack.House, route *route, req Req, limit int64) {
	s := stack.Of(r)
	if to == nil {
		if route.isTimer() {
			s.Alarm(f, int64(any(req).(time.Duration)), limit)
			return
		}
		if !route.leads() {
			route.zero(nil, "ask of", "core: ask of a zero Port")
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

// Forward ends a step of s, an ask, by having another actor answer in its place:
//
//	return a.archive.Forward(s, s.Req)
//
// The asker gets the other actor's reply or error, within its own deadline. This actor hears no
// more of the ask, and may stop. Sender returns the first asker for the forwarded ask, too. Asks of
// s that are in progress are cancelled, as whenever a stack ends.
//
// Bytes of s stay valid until the reply is home; bytes in answers that s received don't, so Copy
// them. If the request has a Release method, it belongs to the other actor from then on: clear
// s.Req, or it may be released when the step ends.
//
// Forward panics if no one actor is behind the port: Broadcast, First, ByName, Timer. A
// connection's request, a ChannelStack, can't be forwarded, as its result is written in its turn:
// ask, and return the reply.
//
//alloc:none
func (p Port[Req, Rep]) Forward(s Answering[Rep], req Req) Yield {
	st := stack.Of(s)
	to, route := p.to, p.route
	if to == nil {
		if !route.leads() || route.by == nil {
			route.zero(nil, "Forward to",
				"core: Forward to a Port that has no one actor to answer: a zero one, or one as of Broadcast, First, ByName or Timer")
		}
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

// begin prepares the ask of a guest: all but the sending. It reports false if that has failed;
// b.err then says why. It panics if guests can't ask the port.
func (p Port[Req, Rep]) begin(b *begun, req Req) bool {
	b.to, b.route = p.to, p.route
	if b.route == nil || b.to == nil && !b.route.leads() {
		b.route.zero(nil, "a guest asks", "core: a guest asks a Port without an actor: a zero one, or one for steps, as Timer is")
	}
	if b.to == nil && b.route.look != nil {
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

// NoticePort is something that can be told: an actor's handler or a router. A NoticePort is a
// value, kept in a field. Telling the zero NoticePort, or one at a zero address, panics.
type NoticePort[Msg any] struct {
	to    *stack.House
	by    *stack.Handler
	route *route // non-nil: no one actor is behind the port
}

// Notice sends msg from a step of s. To an actor of another worker it may leave only when the visit
// of this actor ends, some steps later: so a step must not wait for the effect of a notice.
//
// The error is ErrMailboxFull, and then the message is a dead letter; ErrStopped if the actor has
// stopped and this worker knows it already; ErrOtherSystem if the actor belongs to another system,
// also a dead letter; or ErrNoMember if a router that chooses one member has none. With any error,
// a message that has a Release method was released.
//
//alloc:none
func (p NoticePort[Msg]) Notice(s Running, msg Msg) error {
	return notice(s, p.to, p.by, p.route, msg)
}

// NoticePortOf returns the port of a handler at an actor. Only the runtime calls it.
func NoticePortOf[Msg any](to *stack.House, by *stack.Handler) NoticePort[Msg] {
	return NoticePort[Msg]{to: to, by: by}
}

// Insist is Notice to an actor whose mailbox takes the message though it is full: each message must
// be about something of which there is a bounded number. Only the runtime calls it.
func (p NoticePort[Msg]) Insist(s Running, msg Msg) {
	w := stack.Of(s).Engine()
	c := w.Begin(p.by)
	*stack.Message[Msg](c) = msg
	w.Squeeze(p.to, c)
}

// notice is Notice as a function.
//
//alloc:none
func notice[Msg any](r Running, to *stack.House, by *stack.Handler, route *route, msg Msg) error {
	s := stack.Of(r)
	w := s.Engine()
	if to == nil {
		if !route.leads() {
			route.zero(by, "notice to", "core: notice to a zero NoticePort")
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

// post sends a guest's notice to a port behind which there is no one actor.
func (p NoticePort[Msg]) post(msg Msg) error {
	if !p.route.leads() {
		p.route.zero(p.by, "notice to", "core: notice to a zero NoticePort")
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

// Handler is what others may ask of an actor of type A; At makes a port of it.
type Handler[A, Req, Rep any] struct{ route *route }

// Handle makes a handler of the method expression of its first step, as in
// core.Handle((*Cache).get), where get takes a pointer to a struct that embeds AskStack. Call it
// once, in a package variable. Middleware, if any, is told of each call, in the order given.
func Handle[A, S, Req, Rep any, PS AskOf[S, Req, Rep]](first func(*A, PS) Yield, around ...Middleware) Handler[A, Req, Rep] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return Handler[A, Req, Rep]{&route{by: stack.NewAsk[Req, Rep](stack.EntryOf(first), around...)}}
}

// HandleBatch is Handle for a first step whose stack embeds BatchAskStack. A batch is a run of
// consecutive asks of this handler that wait, at most limit (0: 64). Only limit and the mailbox
// bound it; house.Config.Budget doesn't.
func HandleBatch[A, S, Req, Rep any, PS BatchAskOf[S, Req, Rep]](first func(*A, PS) Yield, limit int) Handler[A, Req, Rep] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return Handler[A, Req, Rep]{&route{by: stack.NewBatchAsk[Req, Rep](stack.EntryOf(first), limit)}}
}

// At returns the port of the handler at an actor.
func (h Handler[A, Req, Rep]) At(a Address[A]) Port[Req, Rep] {
	return Port[Req, Rep]{a.house, h.route}
}

// NoticeHandler is what others may tell an actor of type A; At makes a port of it.
type NoticeHandler[A, Msg any] struct{ by *stack.Handler }

// HandleNotice is Handle for a first step whose stack embeds NoticeStack.
func HandleNotice[A, S, Msg any, PS NoticeOf[S, Msg]](first func(*A, PS) Yield, around ...Middleware) NoticeHandler[A, Msg] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return NoticeHandler[A, Msg]{stack.NewNotice[Msg](stack.EntryOf(first), around...)}
}

// HandleNoticeBatch is HandleNotice for a first step whose stack embeds BatchNoticeStack. A batch
// is bounded as in HandleBatch.
func HandleNoticeBatch[A, S, Msg any, PS BatchNoticeOf[S, Msg]](first func(*A, PS) Yield, limit int) NoticeHandler[A, Msg] {
	refuseFalseHooks(reflect.TypeFor[A]())
	return NoticeHandler[A, Msg]{stack.NewBatchNotice[Msg](stack.EntryOf(first), limit)}
}

// Machine returns what NoticePortOf takes. Only the runtime calls it.
func (h NoticeHandler[A, Msg]) Machine() *stack.Handler { return h.by }

// At returns the port of the handler at an actor.
func (h NoticeHandler[A, Msg]) At(a Address[A]) NoticePort[Msg] {
	return NoticePort[Msg]{to: a.house, by: h.by}
}
