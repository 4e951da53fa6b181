package core

import (
	"reflect"
	"sync"

	"github.com/stackhouse-go/stackhouse/stack"
)

// Function is an actor that is one function, which answers asks. Its state is what the function
// captures, which a restart keeps. Its stacks have no fields for futures: to ask others, use an
// actor with a stack type of its own.
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

// handlerOf returns the handler of functions of type A; the first call for a type makes it.
func handlerOf[A any](make func() *stack.Handler) *stack.Handler {
	key := reflect.TypeFor[A]()
	h, ok := functions.Load(key)
	if !ok {
		h, _ = functions.LoadOrStore(key, make())
	}
	return h.(*stack.Handler)
}

// SpawnFunc spawns an actor that answers asks by f, and returns its address and its port. Any
// goroutine may call it; see Spawn.
func SpawnFunc[Req, Rep any](at Place, f func(s *AskStack[Req, Rep]) Yield) (Address[Function[Req, Rep]], Port[Req, Rep]) {
	if f == nil {
		panic("core: SpawnFunc of no function")
	}
	by := handlerOf[Function[Req, Rep]](func() *stack.Handler { return stack.NewAsk[Req, Rep](stack.EntryOf((*Function[Req, Rep]).run)) })
	a := Spawn(at, func() *Function[Req, Rep] { return &Function[Req, Rep]{f} })
	return a, Port[Req, Rep]{a.house, &route{by: by}}
}

// SpawnNoticeFunc is SpawnFunc for notices.
func SpawnNoticeFunc[Msg any](at Place, f func(s *NoticeStack[Msg]) Yield) (Address[NoticeFunction[Msg]], NoticePort[Msg]) {
	if f == nil {
		panic("core: SpawnNoticeFunc of no function")
	}
	by := handlerOf[NoticeFunction[Msg]](func() *stack.Handler { return stack.NewNotice[Msg](stack.EntryOf((*NoticeFunction[Msg]).run)) })
	a := Spawn(at, func() *NoticeFunction[Msg] { return &NoticeFunction[Msg]{f} })
	return a, NoticePort[Msg]{to: a.house, by: by}
}

// Extension returns the value that house.Config.Extensions has by that name, in the system of the
// actor that runs s; false if there is none, or it is no T. It is for what all actors share, such
// as a tracer; several workers use it at once. What a single actor needs its factory captures.
func Extension[T any](s Running, name string) (T, bool) {
	x, ok := stack.Of(s).Engine().Guests.Extensions[name].(T)
	return x, ok
}
