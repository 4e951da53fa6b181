package core

import (
	"reflect"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Function is an actor that is one function, which answers asks: what the function captures is
// its state. A restart doesn't make that anew. A stack of it has no fields for futures: who asks
// others needs a type of his own.
type Function[Req, Rep any] struct {
	f func(s *AskStack[Req, Rep]) Yield
}

// NoticeFunction is a Function that handles notices.
type NoticeFunction[Msg any] struct {
	f func(s *NoticeStack[Msg]) Yield
}

func (a *Function[Req, Rep]) run(s *AskStack[Req, Rep]) Yield { return a.f(s) }
func (a *NoticeFunction[Msg]) run(s *NoticeStack[Msg]) Yield  { return a.f(s) }

// functions holds the handler of each type of function.
var functions sync.Map

// handlerOf returns the handler of functions of a type, and makes it if it is the first.
func handlerOf[A any](make func() *stack.Handler) *stack.Handler {
	key := reflect.TypeFor[A]()
	h, ok := functions.Load(key)
	if !ok {
		h, _ = functions.LoadOrStore(key, make())
	}
	return h.(*stack.Handler)
}

// SpawnFunc spawns an actor that answers asks by f, and returns its address and the port at which
// it is asked. Any goroutine may call it; see Spawn.
func SpawnFunc[Req, Rep any](at Place, f func(s *AskStack[Req, Rep]) Yield) (Address[Function[Req, Rep]], Port[Req, Rep]) {
	if f == nil {
		panic("core: SpawnFunc of no function")
	}
	by := handlerOf[Function[Req, Rep]](func() *stack.Handler { return stack.NewAsk[Req, Rep](stack.EntryOf((*Function[Req, Rep]).run)) })
	a := Spawn(at, func() *Function[Req, Rep] { return &Function[Req, Rep]{f} })
	return a, Port[Req, Rep]{a.house, &route{by: by}}
}

// SpawnNoticeFunc is SpawnFunc of an actor that handles notices.
func SpawnNoticeFunc[Msg any](at Place, f func(s *NoticeStack[Msg]) Yield) (Address[NoticeFunction[Msg]], NoticePort[Msg]) {
	if f == nil {
		panic("core: SpawnNoticeFunc of no function")
	}
	by := handlerOf[NoticeFunction[Msg]](func() *stack.Handler { return stack.NewNotice[Msg](stack.EntryOf((*NoticeFunction[Msg]).run)) })
	a := Spawn(at, func() *NoticeFunction[Msg] { return &NoticeFunction[Msg]{f} })
	return a, NoticePort[Msg]{to: a.house, by: by}
}

// Extension returns what the system of the actor that runs s was given by that name,
// house.Config.Extensions, if it is a T: what all its actors share, as a tracer. It is used by
// several workers at once. What one actor needs its factory captures.
func Extension[T any](s Running, name string) (T, bool) {
	x, ok := stack.Of(s).Engine().Guests.Extensions[name].(T)
	return x, ok
}
