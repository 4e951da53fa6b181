package core

import (
	"reflect"
	"sync"
	"unsafe"

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
type Method[Req, Rep any] struct{ contract *Contract }

// NoticeMethod is a Method of notices.
type NoticeMethod[Msg any] struct{ contract *Contract }

// Contract is a method without its types, as links know it. Only the runtime uses it.
type Contract struct {
	Name    string
	Request reflect.Type // or that of the notice
	Reply   reflect.Type // nil: it is of notices

	// Where in a call its request, or notice, and its reply are.
	RequestOf, ReplyOf func(*stack.Stack) unsafe.Pointer

	far  *route   // of actors of other processes: its handler knows the types, and has no steps
	near sync.Map // the *route of each type of actor of this process
}

// contracts are all of this process, by name.
var contracts sync.Map

// Contracts calls f with each contract of this process, in any order. Only the runtime calls it.
func Contracts(f func(*Contract)) {
	contracts.Range(func(_, c any) bool {
		f(c.(*Contract))
		return true
	})
}

func (c *Contract) register() *Contract {
	if c.Name == "" {
		panic("core: a method without a name")
	}
	if _, taken := contracts.LoadOrStore(c.Name, c); taken {
		panic("core: two methods have the name " + c.Name)
	}
	return c
}

// handle notes that actors of type t handle the contract by r.
func (c *Contract) handle(t reflect.Type, r *route) {
	if c == nil || r.by == nil {
		panic("core: As of a zero handler, or a zero method")
	}
	if r.by.Contract != "" {
		panic("core: " + r.by.Name() + " is handled as two methods, " + r.by.Contract + " and " + c.Name)
	}
	if _, taken := c.near.LoadOrStore(t, r); taken {
		panic("core: " + t.String() + " handles " + c.Name + " twice")
	}
	r.by.Contract = c.Name
}

// Handler returns what handles the contract at actors of type t; nil: nothing does.
func (c *Contract) Handler(t reflect.Type) *stack.Handler {
	if r, ok := c.near.Load(t); ok {
		return r.(*route).by
	}
	return nil
}

// Far returns the handler that calls of the contract to other processes have.
func (c *Contract) Far() *stack.Handler { return c.far.by }

// Types calls f with each type of actors of this process that handles the contract.
func (c *Contract) Types(f func(reflect.Type)) {
	c.near.Range(func(t, _ any) bool {
		f(t.(reflect.Type))
		return true
	})
}

// at returns the house at a, and what handles the contract there; false: nothing does.
func (c *Contract) at(a AnyAddress) (*stack.House, *route, bool) {
	to, kind := a.Any()
	if to == nil || to.Remote() != nil {
		return to, c.far, true
	}
	r, ok := c.near.Load(kind)
	if !ok {
		return nil, c.far, false
	}
	return to, r.(*route), true
}

// NewMethod makes a contract of asks. Call it once for each name, in a package variable: a second
// contract of one name panics. The name is for good, as other processes may know it.
func NewMethod[Req, Rep any](name string) Method[Req, Rep] {
	c := &Contract{Name: name, Request: reflect.TypeFor[Req](), Reply: reflect.TypeFor[Rep]()}
	c.RequestOf = func(call *stack.Stack) unsafe.Pointer { return unsafe.Pointer(stack.Request[Req, Rep](call)) }
	c.ReplyOf = func(call *stack.Stack) unsafe.Pointer { return unsafe.Pointer(stack.Reply[Rep](call)) }
	c.far = &route{by: stack.NewAsk[Req, Rep](stack.EntryOf((*elsewhere[Req, Rep]).asked))}
	c.far.by.Contract, c.far.by.Title = name, name
	return Method[Req, Rep]{c.register()}
}

// NewNoticeMethod makes a contract of notices; see NewMethod.
func NewNoticeMethod[Msg any](name string) NoticeMethod[Msg] {
	c := &Contract{Name: name, Request: reflect.TypeFor[Msg]()}
	c.RequestOf = func(call *stack.Stack) unsafe.Pointer { return unsafe.Pointer(stack.Message[Msg](call)) }
	c.far = &route{by: stack.NewNotice[Msg](stack.EntryOf((*elsewhere[Msg, Msg]).told))}
	c.far.by.Contract, c.far.by.Title = name, name
	return NoticeMethod[Msg]{c.register()}
}

// elsewhere has the first steps of handlers for actors of other processes. They run only where an
// actor of this process doesn't handle the method: see HandlerOf.
type elsewhere[Req, Rep any] struct{}

func (*elsewhere[Req, Rep]) asked(s *AskStack[Req, Rep]) Yield { return s.Throw(ErrNoHandler) }

func (*elsewhere[Msg, _]) told(s *NoticeStack[Msg]) Yield { return s.Throw(ErrNoHandler) }

// HandlerOf returns what handles the method at actors of type A, here or elsewhere, for routers
// over several of them:
//
//	var shops core.Group[cluster.Actor] // of nodes whose code this process doesn't have
//	price := core.HandlerOf[cluster.Actor](api.Price).RoundRobin(&shops)
//
// Actors of this process whose type doesn't handle the method answer ErrNoHandler; told by it they
// fail. Call it when all handlers are made: not in a package variable.
func HandlerOf[A, Req, Rep any](m Method[Req, Rep]) Handler[A, Req, Rep] {
	return Handler[A, Req, Rep]{m.contract.of(reflect.TypeFor[A]())}
}

// NoticeHandlerOf is HandlerOf for notices.
func NoticeHandlerOf[A, Msg any](m NoticeMethod[Msg]) NoticeHandler[A, Msg] {
	return NoticeHandler[A, Msg]{m.contract.of(reflect.TypeFor[A]()).by}
}

// of returns the route of actors of a type.
func (c *Contract) of(t reflect.Type) *route {
	if r, ok := c.near.Load(t); ok {
		return r.(*route)
	}
	return c.far
}

// As returns h, by which actors of type A handle m from now on. It panics if they do so by another
// handler, or if h handles another method. Call it where h is made.
func (h Handler[A, Req, Rep]) As(m Method[Req, Rep]) Handler[A, Req, Rep] {
	if h.route == nil {
		panic("core: As of a zero Handler")
	}
	m.contract.handle(reflect.TypeFor[A](), h.route)
	return h
}

// As returns h, by which actors of type A handle m from now on; see Handler.As.
func (h NoticeHandler[A, Msg]) As(m NoticeMethod[Msg]) NoticeHandler[A, Msg] {
	m.contract.handle(reflect.TypeFor[A](), &route{by: h.by})
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
		return NoticePort[Msg]{route: &route{by: by.by, look: unhandled[Msg], next: by}}
	}
	return NoticePort[Msg]{to: to, by: by.by}
}

// unhandled refuses a message that an actor doesn't handle.
func unhandled[M any](m M) (M, error) {
	if r, ok := any(&m).(stack.Releaser); ok {
		r.Release()
	}
	return m, ErrNoHandler
}
