package core

import (
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
	"github.com/stackhouse-go/stackhouse/stack/lost"
)

// Name is how a message holds the name of its actor. If it is bytes, they are read after the
// function that returns them: they must not be in a buffer of that function, which several workers
// would share.
type Name interface{ ~string | ~[]byte }

// ByName returns a port that asks the actor whose name the function name returns for a request, and
// spawns the actor if there is none. If the actor stops before the ask has begun, as one that
// passivates may, the ask goes to its successor, once. An ask that had begun, and wasn't stashed
// since, ends with ErrStopped instead. The error may also be one of Named.Get.
//
// The function is called by the asker, sometimes twice, and must not keep the request; the name may
// be bytes of a connection's request. Requests must not have a Release method. A guest's asks go by
// way of an actor of the router's.
func ByName[A, Req, Rep any, N Name](h Handler[A, Req, Rep], n Named[A], name func(*Req) N) Port[Req, Rep] {
	if h.route == nil || name == nil {
		panic("core: a router by name of a zero Handler, or without a function that says the name")
	}
	refuseReleased[Req]()
	r := &byName{named: n.here(), by: h.route.by, asks: namedHandler[Req, Rep]()}
	r.name = func(c *stack.Stack) string { return stack.Text(name(stack.Request[Req, Rep](c))) }
	return Port[Req, Rep]{route: &route{among: r}}
}

// NoticeByName returns a port that tells the actor whose name the function name returns for a
// message, and spawns the actor if there is none. While the actor is stopping the error is
// ErrStopped, and notices that it has accepted and doesn't handle are dead letters: to lose no
// message, ask. The error may also be one of Named.Get.
func NoticeByName[A, Msg any, N Name](h NoticeHandler[A, Msg], n Named[A], name func(*Msg) N) NoticePort[Msg] {
	if h.by == nil || name == nil {
		panic("core: a router by name of a zero NoticeHandler, or without a function that says the name")
	}
	r := &noticeByName{n.here(), func(c *stack.Stack) string { return stack.Text(name(stack.Message[Msg](c))) }}
	return NoticePort[Msg]{route: &route{by: h.by, tells: r}}
}

// byName is the router of asks. Each ask is a stack of its own, nested like a fan-out's: if the
// actor was stopping, it waits until the actor has gone, and asks its successor.
type byName struct {
	*named
	by   *stack.Handler // of the actors
	asks *stack.Handler // of the nested stacks
	name func(c *stack.Stack) string
	host host
}

func (r *byName) choose() (*stack.Handler, []*stack.House) { return r.asks, nil }

func (r *byName) guests() *stack.Guests { return r.in.Guests() }

func (r *byName) aim(w *stack.Engine, c *stack.Stack, _ []*stack.House) (*stack.House, error) {
	h, err := r.get(w, r.name(c))
	if err != nil {
		return nil, err
	}
	to := stack.FanOf(c)
	to.By, to.Router = r.by, r
	to.Only(h)
	if w != nil {
		return nil, nil
	}
	return r.host.at(r.in), nil
}

// namedStack is one ask by name in progress.
type namedStack[Req, Rep any] struct {
	state stack.FanState
	AskStack[Req, Rep]
	answer Future[Rep]
	gone   Future[struct{}] // answered when the first actor, which was stopping, has gone
	again  bool             // the successor was asked
}

func (s *namedStack[Req, Rep]) ask() Yield {
	st := stack.Of(s)
	c := st.Bind(s.answer.Promise(), s.state.By, 0)
	*stack.Request[Req, Rep](c) = s.Req
	st.Engine().Push(s.state.To[0], c)
	return st.Await()
}

func askNamed[Req, Rep any](_ *fanHost, s *namedStack[Req, Rep]) Yield { return s.ask() }

func namedAnswered[Req, Rep any](_ *fanHost, s *namedStack[Req, Rep]) Yield {
	st := stack.Of(s)
	switch {
	case s.again:
	case s.gone.Ready():
		if _, err := s.gone.Get(); err != nil && err != ErrStopped {
			return s.Throw(err)
		}
		s.again = true
		r := s.state.Router.(*byName)
		h, err := r.get(st.Engine(), r.name(st))
		if err != nil {
			return s.Throw(err)
		}
		s.state.Only(h)
		return s.ask()
	case stack.Unbegun(s.answer.Promise()) && !isWithin(st.House(), s.state.To[0]):
		st.AskGone(s.gone.Promise(), s.state.To[0])
		return st.Await()
	}
	rep, err := s.answer.Get()
	if err != nil {
		return s.Throw(err)
	}
	st.KeepAnswers()
	return s.Return(rep)
}

// isWithin reports whether h is other, or a descendant of other: then other can't go while h waits.
func isWithin(h, other *stack.House) bool {
	for h != nil && h != other {
		h = h.Parent()
	}
	return h != nil
}

// namedHandlers holds the handler of the nested stacks for each pair of types that was asked by
// name.
var namedHandlers sync.Map

func namedHandler[Req, Rep any]() *stack.Handler {
	h, ok := namedHandlers.Load(fanKey[Req, Rep]{})
	if !ok {
		h, _ = namedHandlers.LoadOrStore(fanKey[Req, Rep]{}, stack.NewFan(askNamed[Req, Rep], namedAnswered[Req, Rep], nil))
	}
	return h.(*stack.Handler)
}

// noticeByName is the router of notices.
type noticeByName struct {
	*named
	name func(c *stack.Stack) string
}

func (r *noticeByName) guests() (*stack.Guests, error) { return r.in.Guests(), nil }

func (r *noticeByName) tell(w *stack.Engine, c *stack.Stack) (sent bool, err error) {
	h, err := r.get(w, r.name(c))
	if err == ErrOtherSystem {
		w.Lost(nil, c, lost.Foreign)
	}
	if err != nil {
		return false, err
	}
	return true, deliver(w, h, c)
}
