package core

import (
	"reflect"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Method is a contract: the name and the types of an ask, apart from any actor. A package of
// contracts is all that an asker and its callee share:
//
//	var Get = core.NewMethod[GetReq, Item]("shop.item.get") // package api
//
//	var itemGet = core.Handle((*Item).get).As(api.Get) // the callee's package
//
//	p := api.Get.At(address) // the asker's: a core.Port[GetReq, Item]
type Method[Req, Rep any] struct{ contract *contract[*route] }

// NoticeMethod is a Method of notices.
type NoticeMethod[Msg any] struct{ contract *contract[*stack.Handler] }

// contract is a name, and which handlers it has.
type contract[H any] struct {
	name string
	far  H        // of actors of other processes: it knows the message, and has no steps
	near sync.Map // the H of each type of actor of this process
}

// methods are the names of all contracts of this process.
var methods sync.Map

func newContract[H any](name string, far H) *contract[H] {
	if name == "" {
		panic("core: a method without a name")
	}
	if _, taken := methods.LoadOrStore(name, true); taken {
		panic("core: two methods have the name " + name)
	}
	return &contract[H]{name: name, far: far}
}

// handle notes that actors of type t handle the contract by h.
func (c *contract[H]) handle(t reflect.Type, h H, by *stack.Handler) {
	if c == nil || by == nil {
		panic("core: As of a zero handler, or a zero method")
	}
	if by.Contract != "" {
		panic("core: " + by.Name() + " is handled as two methods, " + by.Contract + " and " + c.name)
	}
	if _, taken := c.near.LoadOrStore(t, h); taken {
		panic("core: " + t.String() + " handles " + c.name + " twice")
	}
	by.Contract = c.name
}

// at returns the house at a, and what handles the contract there; false: nothing does.
func (c *contract[H]) at(a AnyAddress) (*stack.House, H, bool) {
	to, kind := a.Any()
	if to == nil || to.Remote() != nil {
		return to, c.far, true
	}
	h, ok := c.near.Load(kind)
	if !ok {
		return nil, c.far, false
	}
	return to, h.(H), true
}

// NewMethod makes a contract of asks. Call it once for each name, in a package variable: a second
// contract of one name panics. The name is for good, as other processes may know it.
func NewMethod[Req, Rep any](name string) Method[Req, Rep] {
	far := stack.NewAsk[Req, Rep](stack.EntryOf((*elsewhere[Req, Rep]).asked))
	far.Contract, far.Title = name, name
	return Method[Req, Rep]{newContract(name, &route{by: far})}
}

// NewNoticeMethod makes a contract of notices; see NewMethod.
func NewNoticeMethod[Msg any](name string) NoticeMethod[Msg] {
	far := stack.NewNotice[Msg](stack.EntryOf((*elsewhere[Msg, Msg]).told))
	far.Contract, far.Title = name, name
	return NoticeMethod[Msg]{newContract(name, far)}
}

// elsewhere has the first steps of handlers for actors of other processes: they never run.
type elsewhere[Req, Rep any] struct{}

func (*elsewhere[Req, Rep]) asked(s *AskStack[Req, Rep]) Yield {
	panic("core: a contract's handler runs here")
}

func (*elsewhere[Msg, _]) told(s *NoticeStack[Msg]) Yield {
	panic("core: a contract's handler runs here")
}

// As returns h, by which actors of type A handle m from now on. It panics if they do so by another
// handler, or if h handles another method. Call it where h is made.
func (h Handler[A, Req, Rep]) As(m Method[Req, Rep]) Handler[A, Req, Rep] {
	if h.route == nil {
		panic("core: As of a zero Handler")
	}
	m.contract.handle(reflect.TypeFor[A](), h.route, h.route.by)
	return h
}

// As returns h, by which actors of type A handle m from now on; see Handler.As.
func (h NoticeHandler[A, Msg]) As(m NoticeMethod[Msg]) NoticeHandler[A, Msg] {
	m.contract.handle(reflect.TypeFor[A](), h.by, h.by)
	return h
}

// At returns the port of the method at an actor, of this process or of another one: a port doesn't
// tell which. If no handler of the actor's type is As the method, the answer is ErrNoHandler.
func (m Method[Req, Rep]) At(a AnyAddress) Port[Req, Rep] {
	to, by, ok := m.contract.at(a)
	if !ok {
		return Port[Req, Rep]{route: &route{by: by.by, look: unhandled[Req], next: by}}
	}
	return Port[Req, Rep]{to, by}
}

// At returns the port of the method at an actor; see Method.At. If there is no handler, Notice
// returns ErrNoHandler.
func (m NoticeMethod[Msg]) At(a AnyAddress) NoticePort[Msg] {
	to, by, ok := m.contract.at(a)
	if !ok {
		return NoticePort[Msg]{route: &route{by: by, look: unhandled[Msg], next: &route{by: by}}}
	}
	return NoticePort[Msg]{to: to, by: by}
}

// unhandled refuses a message that an actor doesn't handle.
func unhandled[M any](m M) (M, error) {
	if r, ok := any(&m).(stack.Releaser); ok {
		r.Release()
	}
	return m, ErrNoHandler
}
